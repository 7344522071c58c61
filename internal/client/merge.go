package client

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kapi-dev/kapi/internal/fault"
)

const defaultContextName = "kapi"

// MergeOptions say what is merged into which file.
type MergeOptions struct {
	// From is the kubeconfig of a kapi server.
	From string
	// Into is the file to change; "" is the first of KUBECONFIG, else
	// ~/.kube/config.
	Into string
	// Env and Home are those of Options, for the default of Into.
	Env  func(string) string
	Home string
	// ContextName names the context and the cluster; the user is NAME-admin.
	// "" is kapi.
	ContextName string
	// SetCurrent makes the context the current one. A file that has no current
	// context gets it anyway.
	SetCurrent bool
	// Now is the clock of backup names; nil is time.Now.
	Now func() time.Time
}

// MergeResult says what Merge has done.
type MergeResult struct {
	Path           string // the file, as it was named
	Context        string // the context that was merged
	CurrentContext string // of the file, afterwards
	Changed        bool   // false where all was there already
	Created        bool   // the file is new
	Backup         string // copy of the old content, "" without
}

// Merge puts cluster, user and context of a kapi kubeconfig into another one.
// All else in it stays, its comments do not. Entries of the same names are
// updated if they are this kapi's; somebody else's are a usage error. Of a file
// that is changed a copy stays beside it. After an error nothing has changed.
//
// The file is replaced atomically, and its mode is at most 0600; where a symlink
// leads to it, the link stays.
func Merge(o MergeOptions) (MergeResult, error) {
	path, err := mergeTarget(o)
	if err != nil {
		return MergeResult{}, err
	}
	res, err := mergeInto(path, o)
	if err != nil {
		return MergeResult{}, fmt.Errorf("merging into kubeconfig %s: %w", path, err)
	}
	return res, nil
}

func mergeTarget(o MergeOptions) (string, error) {
	if o.Into != "" {
		return o.Into, nil
	}
	if list := envPaths(o.Env); len(list) > 0 {
		return list[0], nil
	}
	if o.Home == "" {
		return "", fault.WithHint(fault.Usagef("no kubeconfig to merge into: there is no home directory"), "name the file")
	}
	return homeConfig(o.Home), nil
}

func mergeInto(path string, o MergeOptions) (MergeResult, error) {
	name := o.ContextName
	if name == "" {
		name = defaultContextName
	}
	ours, err := readOurs(o.From, name)
	if err != nil {
		return MergeResult{}, err
	}
	t, err := openTarget(path)
	if err != nil {
		return MergeResult{}, err
	}
	defer t.unlock()
	if t.isSame(o.From) {
		return MergeResult{}, fault.WithHint(fault.Usagef("it is the kubeconfig of the server itself"),
			"name another file, or unset %s", kubeconfigEnv)
	}
	config, before, err := t.load()
	if err != nil {
		return MergeResult{}, err
	}
	if err := ours.mergeTo(config); err != nil {
		return MergeResult{}, err
	}
	if o.SetCurrent || config.CurrentContext == "" {
		config.CurrentContext = name
	}
	res := MergeResult{Path: path, Context: name, CurrentContext: config.CurrentContext}
	after, err := clientcmd.Write(*config)
	if err != nil {
		return MergeResult{}, err
	}
	if bytes.Equal(before, after) {
		return res, nil
	}
	if res.Backup, err = t.backup(o.Now); err != nil {
		return MergeResult{}, err
	}
	if err := t.write(after); err != nil {
		return MergeResult{}, err
	}
	res.Changed, res.Created = true, !t.exists
	return res, nil
}

// readOurs reads the current context of a server's kubeconfig, with everything
// that it refers to embedded.
func readOurs(from, name string) (*entries, error) {
	config, err := clientcmd.LoadFromFile(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.WithHint(fmt.Errorf("there is no kubeconfig of a server at %s", from), `start a server with "kapi serve"`)
	}
	if err == nil {
		err = clientcmd.ResolveLocalPaths(config)
	}
	if err == nil {
		err = clientcmdapi.MinifyConfig(config)
	}
	if err == nil {
		err = clientcmdapi.FlattenConfig(config)
	}
	if err != nil {
		return nil, fault.WithHint(fmt.Errorf("reading kubeconfig %s: %w", from, err), `start the server again with "kapi serve": it writes the file anew`)
	}
	context := config.Contexts[config.CurrentContext]
	e := &entries{
		name: name, user: name + "-admin",
		cluster: config.Clusters[context.Cluster], authInfo: config.AuthInfos[context.AuthInfo], namespace: context.Namespace,
	}
	if e.cluster == nil || e.authInfo == nil {
		return nil, fmt.Errorf("reading kubeconfig %s: its current context names a cluster or user that is not there", from)
	}
	return e, nil
}
