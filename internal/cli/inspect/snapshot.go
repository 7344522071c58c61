package inspect

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"
	xterm "golang.org/x/term"

	"github.com/kapi-dev/kapi/internal/client/inspection/recorded"
	"github.com/kapi-dev/kapi/internal/fault"
)

func newSnapshotCmd(s *session) *cobra.Command {
	return &cobra.Command{
		Use:     "snapshot > FILE",
		GroupID: "whole",
		Short:   "Write everything that can be inspected as one JSON document",
		Long: `Write everything that can be inspected to stdout as one JSON document, for
"kapi inspect diff", or for any command with --from. It holds no Secrets, no bodies
and no tokens; it does hold names of users and objects, and addresses of clients.`,
		Example: examples([]example{
			{"Keep how things are", "kapi inspect snapshot > before.json"},
			{"What has changed since", "kapi inspect diff before.json"},
			{"Any command reads it in place of a server", "kapi inspect storage --from before.json --sort-by=size"},
		}),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fault.WithHint(noArgs(cmd, args), "it writes to stdout: kapi inspect snapshot > %s", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file, ok := cmd.OutOrStdout().(*os.File); ok && xterm.IsTerminal(int(file.Fd())) {
				return fault.WithHint(fault.Usagef("a snapshot is a document of megabytes, and stdout is a terminal"), "write it to a file: kapi inspect snapshot > before.json")
			}
			server, err := s.open(cmd.Context(), cmd.InOrStdin())
			if err != nil {
				return err
			}
			summary, err := recorded.Take(cmd.Context(), server, cmd.OutOrStdout())
			if err != nil {
				return err
			}
			reportFailed(cmd.ErrOrStderr(), summary)
			return nothingSeen(summary)
		},
	}
}

// reportFailed says what a snapshot lacks.
func reportFailed(w io.Writer, summary recorded.Summary) {
	for _, resource := range slices.Sorted(maps.Keys(summary.Failed)) {
		fmt.Fprintf(w, "not in the snapshot: %s: %s\n", resource, summary.Failed[resource].Message)
	}
}

// noArgs refuses arguments.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fault.Usagef("%s takes no argument %q", cmd.CommandPath(), args[0])
	}
	return nil
}

// nothingSeen is the error of a snapshot that has nothing in it.
func nothingSeen(summary recorded.Summary) error {
	if slices.ContainsFunc(summary.Counts, func(c recorded.Count) bool { return c.Objects > 0 }) {
		return nil
	}
	return fault.WithCode(errors.New("the snapshot has nothing in it: you may see none of it"), fault.CodeUnauthorized)
}
