package inspect

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/internal/view"
)

func newRequestCmd(s *session) *cobra.Command {
	opts := &output{}
	cmd := &cobra.Command{
		Use:     "request AUDIT-ID",
		GroupID: "request",
		Short:   "Show the way of one request as a waterfall",
		Long: `Show the way of one request through the filters and layers, with the time that it
spent in each. A request is named by its audit ID, which is in the Audit-ID header
of the answer, in audit logs, and in "kapi inspect requests -o wide"; the beginning
of one is enough where it is clear, and so is the name that "kapi inspect requests"
shows. "last" is the newest request that is remembered.`,
		Example: examples([]example{
			{"The newest request", "kapi inspect request last"},
			{"As JSON", "kapi inspect request last -o json"},
			{"The slowest filter of the newest request", "kapi inspect request last -o jsonpath='{.status.filters[0].name}'"},
		}),
		Args:              exactly(1, "an audit ID; \"kapi inspect requests -o wide\" shows them"),
		ValidArgsFunction: s.completeAuditIDs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] == "" {
				return fault.WithHint(fault.Usagef("the audit ID is empty"), "\"last\" is the newest request")
			}
			if err := opts.check(); err != nil {
				return err
			}
			server, err := s.open(cmd.Context(), cmd.InOrStdin())
			if err != nil {
				return err
			}
			trace, err := findRequest(cmd.Context(), server, args[0])
			if err != nil {
				return err
			}
			if !opts.table() {
				return opts.one(cmd.OutOrStdout(), trace)
			}
			return view.Request(cmd.OutOrStdout(), opts.screen(cmd.OutOrStdout()), trace, readAt(server))
		},
	}
	opts.add(cmd)
	return cmd
}

// findRequest returns the request of an audit ID, of the beginning of one, or the last.
func findRequest(ctx context.Context, server inspection.Server, id string) (*v1alpha1.RequestTrace, error) {
	kind := mustKind(v1alpha1.ResourceRequestTraces)
	if id != "last" {
		listing, err := server.List(ctx, kind, byAuditID(id))
		if err != nil {
			return nil, err
		}
		if traces := tracesOf(listing); len(traces) > 0 {
			return traces[len(traces)-1], nil
		}
	}
	query := byAuditID("")
	query.FieldSelector = ""
	if id == "last" {
		query.LabelSelector = ""
	}
	listing, err := server.List(ctx, kind, query)
	if err != nil {
		return nil, err
	}
	for _, gap := range listing.Gaps {
		if gap.Column == "" && len(listing.Objects) == 0 {
			return nil, fmt.Errorf("this server does not show requests: %s", gap.Reason)
		}
	}
	return choose(tracesOf(listing), id)
}

func choose(traces []*v1alpha1.RequestTrace, id string) (*v1alpha1.RequestTrace, error) {
	if id == "last" && len(traces) > 0 {
		return traces[len(traces)-1], nil
	}
	var found []*v1alpha1.RequestTrace
	for _, trace := range traces {
		if trace.Name == id {
			return trace, nil
		}
		if id != "last" && strings.HasPrefix(trace.Spec.AuditID, id) {
			found = append(found, trace)
		}
	}
	const hint = "\"kapi inspect requests -o wide\" shows those that are remembered; --inspect-traces of kapi serve sets how many"
	switch len(found) {
	case 0:
		return nil, fault.WithHint(fmt.Errorf("no request with the audit ID or name %q is remembered", id), hint)
	case 1:
		return found[0], nil
	}
	return nil, fault.WithHint(fault.Usagef("the audit IDs of %d requests begin with %q", len(found), id), "give more of it: %s or %s", found[0].Spec.AuditID, found[1].Spec.AuditID)
}

func tracesOf(listing inspection.Listing) []*v1alpha1.RequestTrace {
	return typedAs[*v1alpha1.RequestTrace](listing)
}

// typedAs returns the objects of a listing by their type.
func typedAs[T any](listing inspection.Listing) []T {
	var all []T
	for _, object := range listing.Objects {
		if typed, ok := object.(T); ok {
			all = append(all, typed)
		}
	}
	return all
}

// exactly checks the number of arguments; what says what they are.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == n {
			return nil
		}
		return fault.WithHint(fault.Usagef("%s takes %d argument(s), not %d", cmd.CommandPath(), n, len(args)), "give %s", what)
	}
}
