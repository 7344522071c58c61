package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	kubectl "k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/plugin"

	"github.com/kapi-dev/kapi/internal/client"
	"github.com/kapi-dev/kapi/internal/datadir"
)

// NewKubectlCmd returns `kapi kubectl`: kubectl itself, with the kubeconfig of
// the server of the data directory unless another one is named.
func NewKubectlCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "kubectl ARGS",
		Short: "Run kubectl on the server of the data directory",
		// All flags are kubectl's.
		DisableFlagParsing: true,
		Args:               cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, args := cutFlag(args, "data-dir")
			if err := selectKubeconfig(cmd, dir, args); err != nil {
				return err
			}
			return newKubectl(cmd, args).ExecuteContext(cmd.Context())
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
			_ = selectKubeconfig(cmd, "", args)
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

// selectKubeconfig makes kubectl use what client.Resolve finds, through the
// variable that it reads. A kubeconfig or server that is named in args stays
// the choice of kubectl.
func selectKubeconfig(cmd *cobra.Command, dir string, args []string) error {
	if hasFlag(args, "kubeconfig") || hasFlag(args, "server") || hasFlag(args, "s") || (dir == "" && os.Getenv("KUBECONFIG") != "") {
		return nil
	}
	source, err := resolve(dir)
	if err != nil {
		// kubectl has commands that need no server, and its own words for none.
		return nil //nolint:nilerr // see above
	}
	if hasFlag(args, "v") {
		fmt.Fprintf(cmd.ErrOrStderr(), "kubeconfig: %s\n", source)
	}
	return os.Setenv("KUBECONFIG", strings.Join(source.Paths, string(os.PathListSeparator)))
}

// resolve finds the kubeconfig as all client commands of kapi do. A data
// directory that is named goes before the environment.
func resolve(dir string) (client.Source, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	options := client.Options{Env: os.Getenv, Home: home, DataDir: dir}
	if dir != "" {
		options.Explicit = datadir.At(dir).Kubeconfig()
		return client.Resolve(options)
	}
	if options.DataDir, err = dataDir(); err != nil {
		return client.Source{}, err
	}
	return client.Resolve(options)
}

// dataDir is the data directory of the environment, or the default one.
func dataDir() (string, error) {
	if dir := os.Getenv("KAPI_DATADIR"); dir != "" {
		return dir, nil
	}
	return datadir.Default()
}

// hasFlag tells whether args hold a flag, in any form that pflag accepts,
// before a "--".
func hasFlag(args []string, name string) bool {
	prefix := "--" + name
	if len(name) == 1 {
		prefix = "-" + name
	}
	for _, arg := range args {
		if arg == "--" {
			return false
		}
		if arg == prefix || strings.HasPrefix(arg, prefix+"=") || (len(name) == 1 && strings.HasPrefix(arg, prefix) && !strings.HasPrefix(arg, "--")) {
			return true
		}
	}
	return false
}

// cutFlag takes a flag of kapi's own, --name VALUE or --name=VALUE, out of args
// before a "--".
func cutFlag(args []string, name string) (value string, rest []string) {
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "--":
			return value, append(rest, args[i:]...)
		case args[i] == "--"+name && i+1 < len(args):
			value = args[i+1]
			i++
		case strings.HasPrefix(args[i], "--"+name+"="):
			value = strings.TrimPrefix(args[i], "--"+name+"=")
		default:
			rest = append(rest, args[i])
		}
	}
	return value, rest
}
