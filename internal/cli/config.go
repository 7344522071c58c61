package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"

	"github.com/kapi-dev/kapi/internal/config"
	"github.com/kapi-dev/kapi/internal/fault"
)

// ConfigDeps is what `kapi config` needs from outside.
type ConfigDeps struct {
	// KubeFlags returns a new flag set of kube-apiserver at each call. Values are
	// set on it. nil leaves names and values of its flags unchecked.
	KubeFlags func() *pflag.FlagSet
	// Sources returns the sources besides a file that is named; nil takes those
	// of the process (config.ProcessOptions).
	Sources func(flags, kube *pflag.FlagSet) config.LoadOptions
}

func (d ConfigDeps) kubeFlags() *pflag.FlagSet {
	if d.KubeFlags == nil {
		return nil
	}
	return d.KubeFlags()
}

func (d ConfigDeps) sources(flags, kube *pflag.FlagSet) config.LoadOptions {
	if d.Sources == nil {
		return config.ProcessOptions(flags, kube)
	}
	return d.Sources(flags, kube)
}

// NewConfigCmd returns `kapi config`.
func NewConfigCmd(deps ConfigDeps) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show and check the configuration",
		Long: `Show and check the configuration of kapi.

It is put together from flags, KAPI_* environment variables, a file and the
defaults; the first that names a key decides.`,
		Example: `  # What serve would run with
  kapi config view

  # Why it would
  kapi config view --origin

  # What is wrong with a file
  kapi config validate kapi.yaml`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return fault.WithHint(fault.Usagef("unknown command %q for %q", args[0], cmd.CommandPath()), "the commands are view and validate")
		},
		// Without a command the help is the answer.
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.SetFlagErrorFunc(config.FlagErrorFunc)
	cmd.AddCommand(NewConfigViewCmd(deps, nil), NewConfigValidateCmd(deps, nil))
	return cmd
}

// ConfigViewOptions are the inputs of `kapi config view`.
type ConfigViewOptions struct {
	Out io.Writer
	// Load are the sources of the configuration to show.
	Load config.LoadOptions
	// Origin adds where each value is from.
	Origin bool
	// Output is yaml or json.
	Output string
}

// NewConfigViewCmd returns `kapi config view`. It takes the flags of `kapi
// serve`, to show what that would run with. runF replaces the work, for tests.
func NewConfigViewCmd(deps ConfigDeps, runF func(context.Context, *ConfigViewOptions) error) *cobra.Command {
	opts := &ConfigViewOptions{}
	kube := deps.kubeFlags()
	cmd := &cobra.Command{
		Use:   "view [flags of serve]",
		Short: "Print the configuration that serve would run with",
		Long: `Print the configuration that "kapi serve" would run with, given the same flags,
environment and file. The output is a valid configuration file.`,
		Example: `  # Everything, with where each value is from
  kapi config view --origin

  # With a flag of serve, as JSON
  kapi config view --secure-port 0 -o json

  # A file to begin with
  kapi config view > kapi.yaml`,
		Args: configNoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			opts.Out = cmd.OutOrStdout()
			opts.Load = deps.sources(cmd.Flags(), kube)
			if runF != nil {
				return runF(cmd.Context(), opts)
			}
			return configViewRun(cmd.Context(), opts)
		},
	}
	cmd.SetFlagErrorFunc(config.FlagErrorFunc)

	var own cliflag.NamedFlagSets
	own.FlagSet("view").BoolVar(&opts.Origin, "origin", false, "Say where each value is from.")
	own.FlagSet("view").StringVarP(&opts.Output, "output", "o", "yaml", "Output format: yaml or json.")
	cmd.Flags().AddFlagSet(own.FlagSet("view"))
	groups := config.JoinFlagSets(own, config.AddFlags(cmd.Flags()))
	if kube != nil {
		named := cliflag.NamedFlagSets{Order: []string{"kube-apiserver"}, FlagSets: map[string]*pflag.FlagSet{"kube-apiserver": kube}}
		groups = config.JoinFlagSets(groups, config.KubeFlagSets(cmd.Flags(), named))
	}
	cliflag.SetUsageAndHelpFunc(cmd, groups, 0)
	return cmd
}

func configViewRun(_ context.Context, opts *ConfigViewOptions) error {
	render := (*config.Loaded).YAML
	switch opts.Output {
	case "yaml":
	case "json":
		render = (*config.Loaded).JSON
	default:
		return fault.Usagef("--output: %q is not allowed: want yaml or json", opts.Output)
	}
	loaded, err := config.Load(opts.Load)
	if err != nil {
		return err
	}
	text, err := render(loaded, opts.Origin)
	if err != nil {
		return err
	}
	if _, err := opts.Out.Write(text); err != nil {
		return fmt.Errorf("printing configuration: %w", err)
	}
	return nil
}

// ConfigValidateOptions are the inputs of `kapi config validate`.
type ConfigValidateOptions struct {
	Out  io.Writer
	File string
	// KubeFlags checks kubeAPIServer.flags; nil leaves them unchecked.
	KubeFlags *pflag.FlagSet
}

// NewConfigValidateCmd returns `kapi config validate FILE`. runF replaces the
// work, for tests.
func NewConfigValidateCmd(deps ConfigDeps, runF func(context.Context, *ConfigValidateOptions) error) *cobra.Command {
	opts := &ConfigValidateOptions{}
	cmd := &cobra.Command{
		Use:   "validate FILE",
		Short: "Check a configuration file",
		Long: `Check a configuration file and print all that is wrong with it. Only the file
counts, not the environment. Whether files and servers that it names exist is not
looked at.`,
		Example: `  # Everything that is wrong with a file; exit status 2 if anything is
  kapi config validate kapi.yaml

  # Before a start
  kapi config validate kapi.yaml && kapi serve --config kapi.yaml --secure-port 0

  # What "view" prints is valid
  kapi config view > kapi.yaml && kapi config validate kapi.yaml`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fault.Usagef("%s takes one file, got %d arguments", cmd.CommandPath(), len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Out, opts.File = cmd.OutOrStdout(), args[0]
			opts.KubeFlags = deps.kubeFlags()
			if runF != nil {
				return runF(cmd.Context(), opts)
			}
			return configValidateRun(cmd.Context(), opts)
		},
	}
	cmd.SetFlagErrorFunc(config.FlagErrorFunc)
	return cmd
}

func configValidateRun(_ context.Context, opts *ConfigValidateOptions) error {
	if opts.File == "" {
		return fault.Usagef("the name of the file is empty")
	}
	if _, err := config.Load(config.LoadOptions{File: opts.File, KubeFlags: opts.KubeFlags}); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(opts.Out, "%s: valid\n", opts.File); err != nil {
		return fmt.Errorf("printing result: %w", err)
	}
	return nil
}

func configNoArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fault.Usagef("%s takes no argument %q", cmd.CommandPath(), args[0])
	}
	return nil
}
