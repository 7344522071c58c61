package cli

import (
	"context"
	"os"

	"github.com/spf13/cobra"
	xterm "golang.org/x/term"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/term"

	"github.com/kapi-dev/kapi/internal/app"
	"github.com/kapi-dev/kapi/internal/config"
	"github.com/kapi-dev/kapi/internal/fault"
)

// NewServeCmd returns `kapi serve`. runF replaces the work, for tests.
func NewServeCmd(runF func(context.Context, app.Options) error) *cobra.Command {
	if runF == nil {
		runF = app.Serve
	}
	kube := app.KubeFlags()
	console := &consoleOptions{}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the API server with its etcd",
		Long: `Run etcd and the Kubernetes API server in this process, until it is told to stop.

The first start makes the data directory, the certificates and a kubeconfig; later
starts go on with them. The controllers that an API server needs run in it;
--controllers chooses others, and --fake-nodes gives pods nodes to run on that have
no machine. Every flag of kube-apiserver is accepted by its own name.
A first interrupt stops in order, a second one at once.`,
		Example: `  # On port 6443, with the state in the user's directory for it
  kapi serve

  # On a free port, with the state here; the file "ready" appears when it is ready
  kapi serve --data-dir ./state --secure-port 0 --ready-file ready

  # With CRDs installed, and an aggregated server that runs on this machine
  kapi serve --manifests ./crds --map-service kube-system/metrics-server:443=127.0.0.1:4443`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fault.Usagef("%s takes no argument %q", cmd.CommandPath(), args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			loaded, err := config.Load(config.ProcessOptions(cmd.Flags(), app.KubeFlagSet()))
			if err != nil {
				return err
			}
			options := app.Options{
				Config:  loaded.Config,
				Err:     cmd.ErrOrStderr(),
				Color:   colored(cmd.ErrOrStderr()),
				Command: invocation(),
			}
			if console.on {
				return console.run(cmd, options, runF)
			}
			return runF(cmd.Context(), options)
		},
	}
	cmd.SetFlagErrorFunc(config.FlagErrorFunc)
	groups := config.JoinFlagSets(config.AddFlags(cmd.Flags()), console.add(cmd.Flags()), config.KubeFlagSets(cmd.Flags(), kube))
	_ = cmd.RegisterFlagCompletionFunc("controllers", completeControllers) // it fails for a flag that does not exist
	width, _, err := term.TerminalSize(cmd.OutOrStdout())
	if err != nil {
		width = 0
	}
	cliflag.SetUsageAndHelpFunc(cmd, groups, width)
	return cmd
}

// colored tells whether w is a terminal that wants colours (no-color.org).
func colored(w any) bool {
	file, ok := w.(*os.File)
	return ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && xterm.IsTerminal(int(file.Fd()))
}
