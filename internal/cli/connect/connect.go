// Package connect is how a command of kapi finds the server that it talks to:
// the flags that name one, the kubeconfig that is used without them, and what a
// failed request means for the person who typed it. It makes no request.
package connect

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kapi-dev/kapi/internal/client"
	"github.com/kapi-dev/kapi/internal/datadir"
	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/internal/version"
)

// Flags are the flags that say which server is meant, and as whom. They have
// kubectl's names; --data-dir is kapi's.
type Flags struct {
	// Kubeconfig is a file, DataDir the data directory of a kapi on this machine.
	Kubeconfig, DataDir string

	overrides clientcmd.ConfigOverrides
}

// Add declares the flags.
func (f *Flags) Add(flags *pflag.FlagSet) {
	flags.StringVar(&f.Kubeconfig, "kubeconfig", "", "Kubeconfig to use (default: KUBECONFIG, else the one of the data directory, else ~/.kube/config).")
	flags.StringVar(&f.DataDir, "data-dir", "", "Data directory of the server (default: KAPI_DATADIR, else the one of kapi serve).")
	names := clientcmd.RecommendedConfigOverrideFlags("")
	// What has no meaning here, or no longer works, is not offered.
	names.ContextOverrideFlags.Namespace = clientcmd.FlagInfo{}
	names.ClusterOverrideFlags.APIVersion = clientcmd.FlagInfo{}
	names.ClusterOverrideFlags.DisableCompression = clientcmd.FlagInfo{}
	names.AuthOverrideFlags.Username = clientcmd.FlagInfo{}
	names.AuthOverrideFlags.Password = clientcmd.FlagInfo{}
	names.ClusterOverrideFlags.APIServer.ShortName = "s"
	clientcmd.BindOverrideFlags(&f.overrides, flags, names)
}

// Connection is a server that was found. Whether it answers is not known yet.
type Connection struct {
	// Config is for client-go, without a limit of requests on this side.
	Config *rest.Config
	// Source is the kubeconfig; without paths where flags alone name the server.
	Source client.Source

	// name is the context's, or the address.
	name string
	// overrides are what the flags said.
	overrides clientcmd.ConfigOverrides
	// notRunning is the way out where no server answers.
	notRunning string
	// ownCredentials are those of flags, not of the kubeconfig.
	ownCredentials bool
}

// Connect finds the server. Errors are of kind usage where a flag is wrong.
func (f *Flags) Connect() (*Connection, error) {
	if f.DataDir != "" && f.Kubeconfig != "" {
		return nil, fault.WithHint(fault.Usagef("--data-dir and --kubeconfig name two kubeconfigs"), "keep one of them")
	}
	source, err := Resolve(f.Kubeconfig, f.DataDir)
	if err != nil && (f.overrides.ClusterInfo.Server == "" || f.Kubeconfig != "" || f.DataDir != "") {
		return nil, err
	}
	config, err := client.RESTConfig(source, &f.overrides)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	config.UserAgent = fmt.Sprintf("kapi/%s (%s/%s)", version.Get().Version, runtime.GOOS, runtime.GOARCH)
	return &Connection{Config: config, Source: source, name: f.name(source, config.Host), overrides: f.overrides, notRunning: NotRunning(source, f.DataDir),
		ownCredentials: f.overrides.AuthInfo.Token != "" || f.overrides.AuthInfo.ClientCertificate != ""}, nil
}

// SetContext names the context, as --context does.
func (f *Flags) SetContext(name string) { f.overrides.CurrentContext = name }

// Name is what the server is called: its context, or its address where flags alone
// name it.
func (c *Connection) Name() string { return c.name }

func (f *Flags) name(source client.Source, host string) string {
	if name := f.overrides.CurrentContext; name != "" {
		return name
	}
	config, err := (&clientcmd.ClientConfigLoadingRules{Precedence: source.Paths}).Load()
	if err != nil || config.CurrentContext == "" || f.overrides.ClusterInfo.Server != "" {
		return host
	}
	return config.CurrentContext
}

// Contexts are the names of the contexts of the kubeconfig; none where it can't
// be found or read.
func (f *Flags) Contexts() []string {
	source, err := Resolve(f.Kubeconfig, f.DataDir)
	if err != nil {
		return nil
	}
	config, err := (&clientcmd.ClientConfigLoadingRules{Precedence: source.Paths}).Load()
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(config.Contexts))
}

// Resolve finds the kubeconfig as all client commands of kapi do. A data
// directory that is named goes before the environment.
func Resolve(explicit, dir string) (client.Source, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	options := client.Options{Env: os.Getenv, Home: home, Explicit: explicit}
	if dir != "" {
		options.Env, options.Home, options.DataDir = nil, "", dir
		return client.Resolve(options)
	}
	if options.DataDir, err = DataDir(); err != nil {
		return client.Source{}, err
	}
	return client.Resolve(options)
}

// DataDir is the data directory of the environment, or the default one.
func DataDir() (string, error) {
	if dir := os.Getenv("KAPI_DATADIR"); dir != "" {
		return dir, nil
	}
	return datadir.Default()
}

// NotRunning is the hint for the kubeconfig of a server that does not run; empty
// where the kubeconfig is of another server, or the server runs. dir is the data
// directory that was named, if one was.
func NotRunning(source client.Source, dir string) string {
	if len(source.Paths) == 0 {
		return ""
	}
	if dir == "" {
		var err error
		if dir, err = DataDir(); err != nil {
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
