package inspect

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/client/inspection/diff"
	"github.com/kapi-dev/kapi/internal/client/inspection/recorded"
	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/internal/text"
	"github.com/kapi-dev/kapi/internal/view"
)

func newDiffCmd(s *session) *cobra.Command {
	opts, options := &document{}, diff.Options{}
	var exitStatus bool
	cmd := &cobra.Command{
		Use:     "diff BEFORE [AFTER]",
		GroupID: "whole",
		Short:   "Show what changed since a snapshot, or between two",
		Long: `Show what changed between two snapshots or bundles, or between one and the server
as it is now: what came, what went, and which values of tables and which conditions
are others. Ages are left out, and without --all also requests and counts of them,
durations and rates, which change by themselves.`,
		Example: examples([]example{
			{"What has changed since the snapshot", "kapi inspect diff before.json"},
			{"Between two", "kapi inspect diff before.json after.json"},
			{"Kinds that changed, for a script", "kapi inspect diff before.json -o json | jq -r '.kinds[].kind'"},
		}),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || len(args) > 2 {
				return fault.WithHint(fault.Usagef("%s takes one or two files, not %d", cmd.CommandPath(), len(args)), "\"kapi inspect snapshot > before.json\" makes one")
			}
			return opts.check()
		},
		ValidArgsFunction: completeFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			before, err := recorded.Open(args[0])
			if err != nil {
				return err
			}
			after, err := afterOf(cmd, s, args)
			if err != nil {
				return err
			}
			result, err := diff.Compare(cmd.Context(), before, after, options)
			if err != nil {
				return err
			}
			if opts.people() {
				err = view.Diff(cmd.OutOrStdout(), text.Detect(cmd.OutOrStdout(), os.Getenv), result)
			} else {
				err = opts.print(cmd, result)
			}
			if err == nil && exitStatus && !result.Empty() {
				err = fault.WithCode(fault.Silent(errUnwell), fault.CodeUnhealthy)
			}
			return err
		},
	}
	opts.add(cmd)
	cmd.Flags().BoolVar(&options.All, "all", false, "Requests and counts of them, durations and rates too.")
	cmd.Flags().BoolVar(&exitStatus, "exit-status", false, "Exit with 3 if anything has changed.")
	return cmd
}

// afterOf is the second file, or the server as it is now.
func afterOf(cmd *cobra.Command, s *session, args []string) (inspection.Server, error) {
	if len(args) == 2 {
		return recorded.Open(args[1])
	}
	return s.open(cmd.Context(), cmd.InOrStdin())
}
