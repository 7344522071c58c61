package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kapi-dev/kapi/internal/cli/connect"
	"github.com/kapi-dev/kapi/internal/client"
	"github.com/kapi-dev/kapi/internal/config"
	"github.com/kapi-dev/kapi/internal/datadir"
	"github.com/kapi-dev/kapi/internal/fault"
)

// KubeconfigOptions are the inputs of `kapi kubeconfig` and its commands.
type KubeconfigOptions struct {
	Out io.Writer
	// DataDir is the data directory of the server; "" is the usual one.
	DataDir string
	// Into, ContextName and SetCurrent are for merge.
	Into, ContextName string
	SetCurrent        bool
}

// NewKubeconfigCmd returns `kapi kubeconfig`, which alone is `kapi kubeconfig print`.
func NewKubeconfigCmd() *cobra.Command {
	opts := &KubeconfigOptions{}
	cmd := &cobra.Command{
		Use:     "kubeconfig",
		Short:   "Print the server's kubeconfig, or merge it into yours",
		Example: kubeconfigExamples["kubeconfig"],
		Args:    noCommand,
	}
	commands := []struct {
		use, short string
		run        func(context.Context, *KubeconfigOptions) error
	}{
		{"print", "Print the kubeconfig (it holds a private key)", kubeconfigPrint},
		{"path", "Print where the kubeconfig is", kubeconfigPath},
		{"merge", "Merge the kubeconfig into ~/.kube/config, with a backup", kubeconfigMerge},
	}
	for _, command := range commands {
		run := func(cmd *cobra.Command, _ []string) error {
			opts.Out = cmd.OutOrStdout()
			return command.run(cmd.Context(), opts)
		}
		sub := &cobra.Command{Use: command.use, Short: command.short, Example: kubeconfigExamples[command.use], Args: configNoArgs, RunE: run}
		sub.SetFlagErrorFunc(config.FlagErrorFunc)
		if command.use == "print" {
			cmd.RunE = run
		}
		if command.use == "merge" {
			sub.Flags().StringVar(&opts.Into, "into", "", "File to merge into (default: the first of KUBECONFIG, else ~/.kube/config).")
			sub.Flags().StringVar(&opts.ContextName, "context-name", "", "Name of the context (default: kapi).")
			sub.Flags().BoolVar(&opts.SetCurrent, "set-current", false, "Make it the current context.")
		}
		cmd.AddCommand(sub)
	}
	cmd.PersistentFlags().StringVar(&opts.DataDir, "data-dir", "", "Data directory of the server (default: KAPI_DATADIR, else the one of kapi serve).")
	cmd.SetFlagErrorFunc(config.FlagErrorFunc)
	return cmd
}

// kubeconfigExamples are those of each command.
var kubeconfigExamples = map[string]string{
	"kubeconfig": `  # Other programs in this shell use the server
  export KUBECONFIG=$(kapi kubeconfig path)

  # All shells do
  kapi kubeconfig merge --set-current

  # A copy, for instance for a container
  kapi kubeconfig > kapi.kubeconfig`,
	"print": `  # A copy, for instance for a container
  kapi kubeconfig print > kapi.kubeconfig

  # The server's address
  kapi kubeconfig print | grep server:

  # Of another data directory
  kapi kubeconfig print --data-dir "$KAPI_DATADIR"`,
	"path": `  # Other programs in this shell use the server
  export KUBECONFIG=$(kapi kubeconfig path)

  # One command does
  KUBECONFIG=$(kapi kubeconfig path) kapi kubectl get namespaces

  # Of another data directory
  kapi kubeconfig path --data-dir "$KAPI_DATADIR"`,
	"merge": `  # As a context of ~/.kube/config, which stays on its current one
  kapi kubeconfig merge

  # As the current context
  kapi kubeconfig merge --set-current

  # Under another name, in another file
  kapi kubeconfig merge --context-name dev --into ./config`,
}

// file returns the kubeconfig of the data directory, which must exist.
func (o *KubeconfigOptions) file() (string, error) {
	dir := o.DataDir
	if dir == "" {
		var err error
		if dir, err = connect.DataDir(); err != nil {
			return "", err
		}
	}
	path := datadir.At(dir).Kubeconfig()
	if _, err := os.Stat(path); err != nil {
		return "", fault.WithHint(fmt.Errorf("finding the kubeconfig: %w", err),
			"start a server with \"kapi serve\", or name its directory with --data-dir")
	}
	return path, nil
}

func kubeconfigPrint(_ context.Context, opts *KubeconfigOptions) error {
	path, err := opts.file()
	if err != nil {
		return err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading the kubeconfig: %w", err)
	}
	_, err = opts.Out.Write(text)
	return err
}

func kubeconfigPath(_ context.Context, opts *KubeconfigOptions) error {
	path, err := opts.file()
	if err == nil {
		_, err = fmt.Fprintln(opts.Out, path)
	}
	return err
}

func kubeconfigMerge(_ context.Context, opts *KubeconfigOptions) error {
	path, err := opts.file()
	if err != nil {
		return err
	}
	home, err := os.UserHomeDir()
	if err != nil && opts.Into == "" {
		return fault.WithHint(fmt.Errorf("finding ~/.kube/config: %w", err), "name the file with --into")
	}
	result, err := client.Merge(client.MergeOptions{
		From: path, Into: opts.Into, Env: os.Getenv, Home: home,
		ContextName: opts.ContextName, SetCurrent: opts.SetCurrent,
	})
	if err != nil {
		return err
	}
	return printMerge(opts.Out, result)
}

func printMerge(w io.Writer, r client.MergeResult) error {
	var text strings.Builder
	switch {
	case !r.Changed:
		fmt.Fprintf(&text, "%s has context %q already\n", r.Path, r.Context)
	case r.Created:
		fmt.Fprintf(&text, "%s created with context %q\n", r.Path, r.Context)
	default:
		fmt.Fprintf(&text, "context %q merged into %s\n", r.Context, r.Path)
	}
	if r.Backup != "" {
		fmt.Fprintf(&text, "backup: %s\n", r.Backup)
	}
	if r.CurrentContext != r.Context {
		fmt.Fprintf(&text, "the current context is still %q; use --context %s, or merge with --set-current\n", r.CurrentContext, r.Context)
	}
	_, err := io.WriteString(w, text.String())
	return err
}
