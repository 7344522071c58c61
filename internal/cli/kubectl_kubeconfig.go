package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/kapi-dev/kapi/internal/client"
	"github.com/kapi-dev/kapi/internal/datadir"
	"github.com/kapi-dev/kapi/internal/fault"
)

// kubeconfigVariable is what kubectl reads; client.Resolve gives it as the reason.
const kubeconfigVariable = "KUBECONFIG"

// selectKubeconfig makes kubectl use what client.Resolve finds, through the
// variable that it reads. What args name stays the choice of kubectl: it has
// commands that make a kubeconfig or need none. hint is the way out for a
// kubectl that reaches no server. With -v the choice is printed to w.
func selectKubeconfig(w io.Writer, dir string, args []string) (hint string, err error) {
	explicit, named := flagValue(args, "kubeconfig")
	switch {
	case dir != "" && named:
		return "", fault.WithHint(fault.Usagef("--data-dir and --kubeconfig name two kubeconfigs"), "keep one of them")
	case dir == "" && !named && hasFlag(args, "server", "s"):
		return "", nil
	}
	source, err := resolve(explicit, dir)
	switch {
	case err != nil && dir != "":
		return "", err
	case err != nil:
		return strings.TrimSuffix(err.Error()+"; "+fault.Hint(err), "; "), nil
	}
	if verbose(args) {
		fmt.Fprintf(w, "kubeconfig: %s\n", source)
	}
	if named || source.Why == kubeconfigVariable {
		return "", nil
	}
	return restHint(source, dir), os.Setenv(kubeconfigVariable, strings.Join(source.Paths, string(os.PathListSeparator)))
}

// restHint is the hint for the kubeconfig of a server that does not run.
func restHint(source client.Source, dir string) string {
	if dir == "" {
		var err error
		if dir, err = dataDir(); err != nil {
			return ""
		}
	}
	d := datadir.At(dir)
	if source.Paths[0] != d.Kubeconfig() {
		return ""
	}
	if info, err := datadir.ReadServerInfo(d.ServerInfo()); err == nil && info.Alive() {
		return ""
	}
	return fmt.Sprintf("no server runs on data directory %s: start it with \"kapi serve\"", d.Path())
}

// resolve finds the kubeconfig as all client commands of kapi do. A data
// directory that is named goes before the environment.
func resolve(explicit, dir string) (client.Source, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	options := client.Options{Env: os.Getenv, Home: home, Explicit: explicit}
	if dir != "" {
		options.Env, options.Home, options.DataDir = nil, "", dir
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
