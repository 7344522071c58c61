package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/kapi-dev/kapi/internal/config"
	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/internal/version"
)

// NewVersionCmd returns `kapi version`.
func NewVersionCmd() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the versions of kapi and of what is inside it",
		Example: `  # All of them
  kapi version

  # For a bug report
  kapi version -o yaml

  # One, for a script
  kapi version -o json | jq -r .kubernetes`,
		Args: configNoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return versionRun(cmd.OutOrStdout(), output, version.Get())
		},
	}
	cmd.SetFlagErrorFunc(config.FlagErrorFunc)
	cmd.Flags().StringVarP(&output, "output", "o", "", "Output format: json or yaml.")
	return cmd
}

func versionRun(w io.Writer, output string, info version.Info) error {
	var (
		text []byte
		err  error
	)
	switch output {
	case "":
		out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintf(out, "kapi\t%s (%s)\n", info.Version, info.Commit)
		fmt.Fprintf(out, "Kubernetes\t%s\n", info.Kubernetes)
		fmt.Fprintf(out, "etcd\t%s\n", info.Etcd)
		fmt.Fprintf(out, "Go\t%s\n", info.Go)
		return out.Flush()
	case "json":
		text, err = json.MarshalIndent(info, "", "  ")
		text = append(text, '\n')
	case "yaml":
		text, err = yaml.Marshal(info)
	default:
		return fault.Usagef("--output: %q is not allowed: want json or yaml", output)
	}
	if err == nil {
		_, err = w.Write(text)
	}
	if err != nil {
		return fmt.Errorf("printing versions: %w", err)
	}
	return nil
}
