package inspect

import (
	"cmp"
	"context"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined"
	"github.com/kapi-dev/kapi/internal/client/inspection/objects"
	"github.com/kapi-dev/kapi/internal/text"
	"github.com/kapi-dev/kapi/internal/view"
)

type apiService = *apiregistrationv1.APIService

// onlyAPIServices is a server with other APIServices.
type onlyAPIServices struct {
	inspection.Server
	some iter.Seq2[apiService, error]
}

// APIServices implements inspection.Server.
func (s onlyAPIServices) APIServices(context.Context) iter.Seq2[apiService, error] { return s.some }

// apiServices is `kapi inspect apiservices`.
func apiServices() joinedKind[apiService, joined.APIServiceLine] {
	type line = joined.APIServiceLine
	return joinedKind[apiService, line]{
		plural: "apiservices", path: objects.APIServicesPath,
		all: func(ctx context.Context, r *objects.Reader, version *string) iter.Seq2[apiService, error] {
			return r.APIServices(ctx, version)
		},
		source: func(ctx context.Context, server inspection.Server) iter.Seq2[apiService, error] {
			return server.APIServices(ctx)
		},
		only: func(server inspection.Server, some iter.Seq2[apiService, error]) inspection.Server {
			return onlyAPIServices{server, some}
		},
		slim: func(object apiService) apiService { return object },
		lines: func(ctx context.Context, server inspection.Server, _ time.Time) (iter.Seq2[line, error], []joined.Missing) {
			return joined.APIServices(ctx, server)
		},
		table: view.APIServices, follow: view.FollowAPIServices,
		page: func(ctx context.Context, server inspection.Server, name string, w io.Writer, s text.Screen) error {
			service, err := joined.LoadAPIService(ctx, server, name)
			if err != nil {
				return err
			}
			return view.APIService(w, s, service, readAt(server))
		},
		from: map[string]string{
			"apiserviceprobes": "Fails-At, Probes, 503s", "apiserviceprobes.503s": "503s", "apiserviceprobes.Last-Probe": "Probes",
		},
		severity: func(l line) joined.Severity { return l.State.Severity },
		sorts: map[string]func(a, b line) int{
			"name":     func(a, b line) int { return strings.Compare(a.Name, b.Name) },
			"state":    func(a, b line) int { return cmp.Compare(a.State.Severity, b.State.Severity) },
			"since":    func(a, b line) int { return b.State.Since.Compare(a.State.Since) },
			"priority": func(a, b line) int { return cmp.Compare(b.GroupPriority, a.GroupPriority) },
			"service":  func(a, b line) int { return strings.Compare(a.Service, b.Service) },
		},
	}
}

func newAPIServicesCmd(s *session) *cobra.Command {
	opts, kind := &listOptions{}, apiServices()
	cmd := &cobra.Command{
		Use:     "apiservices [NAME...]",
		Aliases: []string{"apiservice"},
		GroupID: "api",
		Short:   "Show APIServices, and why one is unavailable",
		Long: `Show APIServices, a line each: whether it is available, since when, which server
answers, and at which step the way to it breaks. With a name, everything about one:
the way from the APIService to the remote server step by step, the step that fails
with its error and what to do about it, and the history.

-o json and the like print the objects themselves.`,
		Example: examples([]example{
			{"All of them", "kapi inspect apiservices"},
			{"Why one is unavailable", "kapi inspect apiservices v1.apps"},
			{"Wait until all are available, in a script", "kapi inspect apiservices --for=condition=Available --timeout=30s"},
		}),
		ValidArgsFunction: completeReal(s, kind),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runJoined(cmd, s, kind, opts, args)
		},
	}
	opts.add(cmd)
	completeSorts(cmd, kind)
	return cmd
}
