package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	apiversion "k8s.io/apimachinery/pkg/version"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	componentversion "k8s.io/component-base/version"
	kubectlversion "k8s.io/kubectl/pkg/cmd/version"
	"sigs.k8s.io/yaml"

	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/internal/version"
)

// reportClientVersion makes `kubectl version` tell the version of the linked
// kubectl. Upstream's command knows it by linker flags only, and without them
// warns of a skew between v0.0.0 and the server.
func reportClientVersion(root *cobra.Command, flags *genericclioptions.ConfigFlags) {
	cmd, _, err := root.Find([]string{"version"})
	if err != nil || cmd == root {
		return
	}
	cmd.Run = nil
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return fault.Usagef("extra arguments: %v", args)
		}
		versions := kubectlversion.Version{ClientVersion: clientVersion(), KustomizeVersion: kustomizeVersion()}
		if only, _ := cmd.Flags().GetBool("client"); !only {
			disco, err := flags.ToDiscoveryClient()
			if err != nil {
				return err
			}
			disco.Invalidate()
			if versions.ServerVersion, err = disco.ServerVersion(); err != nil {
				return fmt.Errorf("asking the server for its version: %w", err)
			}
		}
		output, _ := cmd.Flags().GetString("output")
		return printKubectlVersion(cmd.OutOrStdout(), output, versions)
	}
}

func clientVersion() *apiversion.Info {
	info := componentversion.Get()
	info.GitVersion = version.Get().Kubernetes
	parts := strings.SplitN(strings.TrimPrefix(info.GitVersion, "v"), ".", 3)
	if len(parts) == 3 {
		info.Major, info.Minor = parts[0], parts[1]
	}
	if strings.HasPrefix(info.GitCommit, "$") {
		info.GitCommit = ""
	}
	return &info
}

func kustomizeVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return version.Unknown
	}
	for _, module := range info.Deps {
		if strings.HasPrefix(module.Path, "sigs.k8s.io/kustomize/kustomize/") {
			return module.Version
		}
	}
	return version.Unknown
}

func printKubectlVersion(w io.Writer, output string, versions kubectlversion.Version) error {
	var (
		text []byte
		err  error
	)
	switch output {
	case "":
		text = fmt.Appendf(nil, "Client Version: %s\nKustomize Version: %s\n", versions.ClientVersion.GitVersion, versions.KustomizeVersion)
		if versions.ServerVersion != nil {
			text = fmt.Appendf(text, "Server Version: %s\n", versions.ServerVersion.GitVersion)
		}
	case "json":
		text, err = json.MarshalIndent(versions, "", "  ")
		text = append(text, '\n')
	case "yaml":
		text, err = yaml.Marshal(versions)
	default:
		return fault.Usagef("--output must be 'yaml' or 'json'")
	}
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}
