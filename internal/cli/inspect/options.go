package inspect

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/validate/content"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/fault"
)

// listOptions are the flags of every command that lists something.
type listOptions struct {
	output
	query  inspection.Query
	sortBy string

	watch, watchEvents bool
	goal               string
	timeout            time.Duration
	exitStatus         bool
}

func (o *listOptions) add(cmd *cobra.Command) {
	o.output.add(cmd)
	flags := cmd.Flags()
	flags.StringVarP(&o.query.LabelSelector, "selector", "l", "", "Label selector: name=value, name!=value, name, several with commas.")
	flags.StringVar(&o.query.FieldSelector, "field-selector", "", "Field selector: field=value, field!=value, several with commas.")
	flags.StringVar(&o.query.ServerID, "server-id", "", "Only what this API server has seen, where several share an etcd.")
	flags.StringVar(&o.sortBy, "sort-by", "", "Sort by a column (requests), or a field (.status.requests).")
	flags.BoolVarP(&o.watch, "watch", "w", false, "Go on with what changes; JSON is then one object a line.")
	flags.BoolVar(&o.watchEvents, "output-watch-events", false, "With --watch, say of each object whether it was added, modified or deleted.")
	flags.StringVar(&o.goal, "for", "", "Wait for condition=TYPE[=STATUS] of the objects that are named, or of all.")
	flags.DurationVar(&o.timeout, "timeout", 30*time.Second, "How long --for waits; 0 looks once, below 0 is a week.")
	flags.BoolVar(&o.exitStatus, "exit-status", false, "Exit with 3 if anything that is listed is not well: a condition that should be true is false, a group version is not current.")
}

// check refuses what doesn't fit together, before anything is asked.
func (o *listOptions) check(args []string) error {
	switch {
	case o.watch && o.goal != "":
		return fault.WithHint(fault.Usagef("--watch and --for exclude each other"), "--for ends by itself when the condition is met")
	case o.watchEvents && !o.watch:
		return fault.WithHint(fault.Usagef("--output-watch-events is for --watch"), "add --watch")
	case o.watch && o.sortBy != "":
		return fault.WithHint(fault.Usagef("--sort-by does not go with --watch: changes come in their own order"), "leave one of them out")
	case o.watch && len(args) > 1:
		return fault.WithHint(fault.Usagef("--watch takes one name, not %d", len(args)), "watch all of them, or one")
	case slices.Contains(args, ""):
		return fault.WithHint(fault.Usagef("a name is empty"), "leave it out to list all of them")
	case slices.ContainsFunc(args, func(name string) bool { return len(content.IsPathSegmentName(name)) > 0 }):
		return fault.WithHint(fault.Usagef("no object has a name like %q", args), "\"kapi inspect KIND -o name\" lists the names")
	case len(args) > 0 && (o.query.LabelSelector != "" || o.query.FieldSelector != ""):
		return fault.WithHint(fault.Usagef("a name and a selector exclude each other"), "leave one of them out")
	}
	return o.output.check()
}

// parseGoal reads --for, which only kinds with conditions can reach.
func (o *listOptions) parseGoal(kind kinds.Kind) (goal, error) {
	if o.goal == "" {
		return goal{}, nil
	}
	if !kind.HasConditions() {
		return goal{}, fault.WithHint(fault.Usagef("--for=%s: %s have no conditions", o.goal, kind.Resource),
			"wait for one of crds, apiservices, layers, hooks, health, etcd, probes or controllers")
	}
	return parseGoal(o.goal)
}

// open opens what the flags name, within the time of --for.
func (o *listOptions) open(cmd *cobra.Command, s *session) (inspection.Server, error) {
	ctx := cmd.Context()
	if o.goal != "" {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, patience(o.timeout))
		defer cancel()
	}
	return s.open(ctx, cmd.InOrStdin())
}
