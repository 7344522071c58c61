package inspect

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/fault"
)

// ownRequests selects a client's own requests for the inspect API too, which are
// left out otherwise.
const ownRequests = "kapi.dev/inspect"

func newRequestsCmd(s *session) *cobra.Command {
	kind := mustKind(v1alpha1.ResourceRequestTraces)
	opts, wanted := &listOptions{}, &requestFilter{}
	var tail int
	var own bool
	cmd := &cobra.Command{
		Use:     "requests [NAME...]",
		Aliases: aliases(kind, "requests", nil),
		GroupID: "request",
		Short:   "Show the requests that the server remembers, and who ended each",
		Long: `Show the requests that the server remembers, in the order in which they ended: who
asked for what, the status, which filter, plugin or layer ended it, and how long it
took. Requests for the inspect API itself are left out unless they failed.

Filters are combined: a request must satisfy all of them.` + columnsHelp(kind),
		Example: examples([]example{
			{"What is refused or fails, as it happens (here until the first Ctrl-C)", "timeout -s INT 2 kapi inspect requests --watch --status '>=400'"},
			{"Slow requests for custom resources", "kapi inspect requests --path '/apis/*' --layer apiextensions --slower-than 100ms"},
			{"Whose requests the authorization filter ends", "kapi inspect requests --filter authorization -o custom-columns=USER:.spec.user.name,PATH:.spec.path"},
		}),
		ValidArgsFunction: s.completeNames(kind),
		RunE: func(cmd *cobra.Command, args []string) error {
			keep, err := wanted.compile()
			if err != nil {
				return err
			}
			if tail < 0 {
				return fault.WithHint(fault.Usagef("--tail=%d is below zero", tail), "0 is all that are there")
			}
			if own && len(args) == 0 {
				opts.query.LabelSelector = strings.TrimPrefix(opts.query.LabelSelector+","+ownRequests+" notin (none)", ",")
			}
			return listRequests(cmd, s, kind, opts, args, keep, tail)
		},
	}
	opts.add(cmd)
	wanted.add(cmd)
	completeColumns(cmd, kind)
	cmd.Flags().IntVarP(&tail, "tail", "n", 0, "Only the last N of those that are there; 0 is all.")
	cmd.Flags().BoolVar(&own, "include-inspect", false, "Requests for the inspect API too, this one among them.")
	return cmd
}

func listRequests(cmd *cobra.Command, s *session, kind kinds.Kind, opts *listOptions, args []string, keep func(*v1alpha1.RequestTrace) bool, tail int) error {
	return listKind(cmd, s, kind, opts, args, func(l *kindList) {
		l.tail = tail
		l.keep = func(object kinds.Object) bool {
			trace, ok := object.(*v1alpha1.RequestTrace)
			return ok && keep(trace)
		}
	})
}

// byAuditID is the query for one request by its audit ID, whoever asked.
func byAuditID(id string) inspection.Query {
	return inspection.Query{FieldSelector: "spec.auditID=" + id, LabelSelector: ownRequests + " notin (none)"}
}
