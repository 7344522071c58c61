// Package client finds the kubeconfig that a command works with, builds the
// client configuration from it, and merges kapi's own kubeconfig into the
// user's.
//
// It knows no server, neither kapi's nor another: the CLI and the TUI use it for
// any Kubernetes API. It may import fault, datadir and k8s.io/client-go, and no
// server package.
package client

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kapi-dev/kapi/internal/datadir"
	"github.com/kapi-dev/kapi/internal/fault"
)

const kubeconfigEnv = "KUBECONFIG"

// Options say where Resolve looks.
type Options struct {
	// Explicit is the value of --kubeconfig, "" where it is not given.
	Explicit string
	// Env reads the environment, os.Getenv outside of tests. Nil is an empty one.
	Env func(string) string
	// DataDir is the data directory of the local server.
	DataDir string
	// Home is the user's home directory, "" where there is none.
	Home string
}

// Source is the kubeconfig that was found.
type Source struct {
	// Paths are existing files; where they differ the first one counts.
	Paths []string
	// Why says by which rule they were found, for -v.
	Why string
}

// String names the files and the rule.
func (s Source) String() string {
	return strings.Join(s.Paths, string(filepath.ListSeparator)) + " (" + s.Why + ")"
}

// Resolve returns the kubeconfig to use, the first of: --kubeconfig; the
// existing files of the list in KUBECONFIG; the kubeconfig of the server of the
// data directory; ~/.kube/config. A file that was named and is not there is an
// error, as using another one instead would address another cluster.
func Resolve(o Options) (Source, error) {
	if o.Explicit != "" {
		if ok, err := isFile(o.Explicit); err != nil || !ok {
			return Source{}, notUsable("--kubeconfig", o.Explicit, err)
		}
		return Source{Paths: []string{o.Explicit}, Why: "--kubeconfig"}, nil
	}
	if list := envPaths(o.Env); len(list) > 0 {
		return fromEnv(list)
	}
	var looked []string
	if o.DataDir != "" {
		d := datadir.At(o.DataDir)
		ok, err := isFile(d.Kubeconfig())
		if err != nil {
			return Source{}, fault.WithHint(fmt.Errorf("reading the kubeconfig of the data directory: %w", err),
				"name a kubeconfig with --kubeconfig, or another directory with --data-dir")
		}
		if ok {
			return Source{Paths: []string{d.Kubeconfig()}, Why: describeServer(d)}, nil
		}
		looked = append(looked, d.Kubeconfig())
	}
	if o.Home != "" {
		path := homeConfig(o.Home)
		ok, err := isFile(path)
		if err != nil {
			return Source{}, notUsable("the home directory", path, err)
		}
		if ok {
			return Source{Paths: []string{path}, Why: "home directory"}, nil
		}
		looked = append(looked, path)
	}
	err := errors.New("no kubeconfig found")
	if len(looked) > 0 {
		err = fmt.Errorf("no kubeconfig found: looked for %s", strings.Join(looked, " and "))
	}
	return Source{}, fault.WithHint(err, `start a server with "kapi serve", or name a kubeconfig with --kubeconfig`)
}

// fromEnv skips missing files of the list as clientcmd does, but not all of them.
func fromEnv(list []string) (Source, error) {
	var found []string
	for _, path := range list {
		ok, err := isFile(path)
		if err != nil {
			return Source{}, notUsable(kubeconfigEnv, path, err)
		}
		if ok {
			found = append(found, path)
		}
	}
	if len(found) == 0 {
		return Source{}, notUsable(kubeconfigEnv, strings.Join(list, string(filepath.ListSeparator)), nil)
	}
	return Source{Paths: found, Why: kubeconfigEnv}, nil
}

// envPaths returns the entries of KUBECONFIG, each once.
func envPaths(env func(string) string) []string {
	if env == nil {
		return nil
	}
	var paths []string
	for _, p := range filepath.SplitList(env(kubeconfigEnv)) {
		if p != "" && !slices.Contains(paths, p) {
			paths = append(paths, p)
		}
	}
	return paths
}

func homeConfig(home string) string { return filepath.Join(home, ".kube", "config") }

// isFile tells whether there is a file, or a link to one, at path.
func isFile(path string) (bool, error) {
	fi, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case fi.IsDir():
		return false, fmt.Errorf("%s is a directory", path)
	}
	return true, nil
}

// notUsable is the error for a kubeconfig that was named by by.
func notUsable(by, path string, cause error) error {
	if cause != nil {
		return fault.WithHint(fault.Usagef("reading the kubeconfig named by %s: %w", by, cause), "check %s", by)
	}
	return fault.WithHint(fault.Usagef("reading the kubeconfig named by %s: %s does not exist", by, path),
		"correct %s, or leave it out to use the server of the data directory", by)
}

// describeServer says what is known of the server of a data directory. A
// kubeconfig stays when its server stops.
func describeServer(d *datadir.Dir) string {
	why := "data directory " + d.Path()
	info, err := datadir.ReadServerInfo(d.ServerInfo())
	if err == nil && info.Alive() {
		return fmt.Sprintf("%s, server running with pid %d", why, info.PID)
	}
	return why + ", no running server"
}
