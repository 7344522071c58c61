package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	componentcli "k8s.io/component-base/cli"
	kubectl "k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/plugin"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
)

// NewKubectlCmd returns `kapi kubectl`: kubectl itself, with the kubeconfig of
// the server of the data directory unless another one is named.
func NewKubectlCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "kubectl ARGS",
		Short: "Run kubectl on the server of the data directory",
		Long: `Run kubectl, which is part of this program, on the server of the data directory, or
on the one that --kubeconfig, --context or KUBECONFIG name. All commands and flags
are kubectl's; --data-dir is kapi's.`,
		Example: `  # Namespaces
  kapi kubectl get namespaces

  # Everything that the server shows of itself
  kapi kubectl get kapi

  # What is recorded of a request
  kapi kubectl explain requesttrace.spec`,
		// All flags are kubectl's.
		DisableFlagParsing: true,
		Args:               cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, args := cutFlag(args, "data-dir")
			hint, err := selectKubeconfig(cmd.ErrOrStderr(), dir, args)
			if err != nil {
				return err
			}
			kubectlutil.BehaviorOnFatal(endKubectl(cmd.ErrOrStderr(), hint))
			root := newKubectl(cmd, args)
			root.SetContext(cmd.Context())
			// Adds the flags of klog, -v among them, as kubectl's own main does.
			return componentcli.RunNoErrOutput(root)
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
			dir, args := cutFlag(args, "data-dir")
			if _, err := selectKubeconfig(io.Discard, dir, args); err != nil {
				return nil, cobra.ShellCompDirectiveError
			}
			return completeKubectl(cmd, args, toComplete)
		},
	}
}

// newKubectl returns the command tree of kubectl, ready to execute args.
func newKubectl(cmd *cobra.Command, args []string) *cobra.Command {
	streams := genericiooptions.IOStreams{In: cmd.InOrStdin(), Out: cmd.OutOrStdout(), ErrOut: cmd.ErrOrStderr()}
	flags := genericclioptions.NewConfigFlags(true).WithDeprecatedPasswordFlag().
		WithDiscoveryBurst(300).WithDiscoveryQPS(50).WithWarningPrinter(streams)
	root := kubectl.NewDefaultKubectlCommandWithArgs(kubectl.KubectlOptions{
		IOStreams:     streams,
		PluginHandler: kubectl.NewDefaultPluginHandler(plugin.ValidPluginFilenamePrefixes),
		Arguments:     append([]string{"kubectl"}, args...),
		ConfigFlags:   flags,
	})
	reportClientVersion(root, flags)
	root.SetArgs(args)
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.ErrOut)
	root.SilenceErrors, root.SilenceUsage = true, true
	return root
}

// endKubectl returns what kubectl does with an error of a command: it prints
// and exits. The hint follows where no server was reached.
func endKubectl(w io.Writer, hint string) func(message string, code int) {
	return func(message string, code int) {
		if message != "" {
			fmt.Fprintln(w, strings.TrimSuffix(message, "\n"))
		}
		if hint != "" && (strings.Contains(message, "connection to the server") || strings.Contains(message, "Unable to connect")) {
			fmt.Fprintf(w, "hint: %s\n", hint)
		}
		os.Exit(code)
	}
}
