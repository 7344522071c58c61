// Package cli is kapi's command line: the cobra tree, one file a command. A
// command is Options, NewXCmd and xRun; what it does stands in other packages.
// It may import app, client, config, datadir, version and the tui.
package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kapi-dev/kapi/internal/app"
	"github.com/kapi-dev/kapi/internal/cli/inspect"
	"github.com/kapi-dev/kapi/internal/config"
	"github.com/kapi-dev/kapi/internal/fault"
)

// Main runs the command line args (without the program's name) and returns the
// exit code. Errors go to stderr: what is wrong, then the way out.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := NewRootCmd()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err != nil {
		report(stderr, err)
	}
	return fault.Code(err)
}

func report(w io.Writer, err error) {
	if fault.IsSilent(err) {
		return
	}
	fmt.Fprintf(w, "error: %s\n", err)
	if hint := fault.Hint(err); hint != "" {
		fmt.Fprintf(w, "hint: %s\n", hint)
	}
}

// NewRootCmd returns the whole command tree.
func NewRootCmd() *cobra.Command {
	root := &cobra.Command{
		Use:   "kapi",
		Short: "The Kubernetes API server in one binary, with the lid off",
		Long: `kapi is the Kubernetes API server in one binary, with the lid off.

It runs etcd and the real server chain (aggregator, kube-apiserver, apiextensions)
in one process, and works with every Kubernetes client.`,
		Example: `  # The server with its etcd
  kapi serve

  # kubectl against it, in another terminal
  kapi kubectl get namespaces

  # What it does inside
  kapi inspect`,
		// Main prints errors; usage after each of them would hide the message.
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(config.FlagErrorFunc)
	root.AddCommand(
		NewServeCmd(nil),
		NewKubectlCmd(),
		NewTUICmd(),
		inspect.NewCmd(config.FlagErrorFunc),
		NewKubeconfigCmd(),
		NewConfigCmd(ConfigDeps{KubeFlags: app.KubeFlagSet}),
		NewVersionCmd(),
		newReferenceCmd(),
	)
	addCompletion(root)
	return root
}

// noCommand refuses a word that is no command, and names the ones that are near.
func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := fault.Usagef("unknown command %q for %q", args[0], cmd.CommandPath())
	// Cobra's own default, which it sets only where it reports the error itself.
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return fault.WithHint(err, "did you mean %s?", strings.Join(near, " or "))
	}
	return fault.WithHint(err, "%s --help lists the commands", cmd.CommandPath())
}

// invocation is how the user has started kapi, for hints that can be typed as
// they stand: a binary that `go run` has built is gone a moment later.
func invocation() string {
	path, err := os.Executable()
	if err == nil && strings.Contains(path, string(filepath.Separator)+"go-build") {
		return "go run ./cmd/kapi"
	}
	return filepath.Base(os.Args[0])
}
