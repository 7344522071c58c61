package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/kapi-dev/kapi/internal/cli/connect"
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
	source, err := connect.Resolve(explicit, dir)
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
	return connect.NotRunning(source, dir), os.Setenv(kubeconfigVariable, strings.Join(source.Paths, string(os.PathListSeparator)))
}
