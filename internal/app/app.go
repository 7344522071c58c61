// Package app is the composition root of `kapi serve`: from a configuration to
// a list of components that package lifecycle starts in order and stops in
// reverse. Each component is a file; what one makes for the next stands in
// server.
//
//	data directory → listener → certificates → etcd → server chain → controllers → manifests
//
// The package decides how the parts fit together and nothing else. It may
// import every package of the server side; only cli imports it.
package app

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	clientv3 "go.etcd.io/etcd/client/v3"
	cliflag "k8s.io/component-base/cli/flag"

	"github.com/kapi-dev/kapi/internal/chain"
	"github.com/kapi-dev/kapi/internal/config"
	"github.com/kapi-dev/kapi/internal/controllers"
	"github.com/kapi-dev/kapi/internal/datadir"
	"github.com/kapi-dev/kapi/internal/etcd"
	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/internal/globals"
	"github.com/kapi-dev/kapi/internal/inspect"
	"github.com/kapi-dev/kapi/internal/lifecycle"
	"github.com/kapi-dev/kapi/internal/logging"
	"github.com/kapi-dev/kapi/internal/pki"
	"github.com/kapi-dev/kapi/internal/version"
)

// Options say how to serve.
type Options struct {
	Config config.Config
	// Err gets the log and what a person reads; it is stderr.
	Err io.Writer
	// Color turns on ANSI colours in the text log.
	Color bool
	// Command is how kapi was started ("kapi", "go run ./cmd/kapi"), for hints.
	Command string
	// Quiet leaves out the lines for a person.
	Quiet bool
}

// server is what the components make for one another.
type server struct {
	opts  Options
	cfg   config.Config
	log   *slog.Logger
	logs  *logging.Logs
	kube  *chain.Options
	start time.Time
	// started says that nothing is left to be built.
	started func()
	// boot watches the start, for inspect.kapi.dev and for the next start.
	boot *inspect.Start

	dir      *datadir.Dir
	unlock   func() error
	listener *connections
	pki      *pki.Material
	// identity is this server's among all on the same etcd.
	identity  string
	renewal   renewal
	etcd      *etcd.Member
	endpoints []string
	// etcdClient looks at etcd, embedded or not.
	etcdClient *clientv3.Client
	chain      running
	// controllers are those that run in the process.
	controllers *controllers.Manager
	controlling controlling
}

// KubeFlags returns a new set of kube-apiserver's flags in named groups, for
// help and for checking names and values. Setting one has no effect on a server.
func KubeFlags() cliflag.NamedFlagSets {
	if options := newOptions(); options != nil {
		return options.Flags()
	}
	return cliflag.NamedFlagSets{}
}

// KubeFlagSet returns the same in one set, nil where KubeFlags has none.
func KubeFlagSet() *pflag.FlagSet {
	if options := newOptions(); options != nil {
		return options.FlagSet()
	}
	return nil
}

// newOptions makes all feature gates known first: --feature-gates lists them.
func newOptions() *chain.Options {
	if err := globals.Prepare(); err != nil {
		return nil
	}
	return chain.NewOptions()
}

// Serve runs kapi until a signal ends it. Its error says which component is
// the cause; fault.Hint has the way out.
func Serve(ctx context.Context, opts Options) error {
	s := &server{opts: opts, cfg: opts.Config, start: time.Now()}
	components := s.components()
	s.boot = newStart(components)
	if err := s.prepare(); err != nil {
		return err
	}
	defer s.logs.Flush()
	s.started = globals.EagerStart()
	return lifecycle.Run(ctx, lifecycle.Options{
		Components:  components,
		Logger:      s.log,
		Ready:       s.announce,
		Observe:     s.observe,
		Status:      func() string { return "serving on " + s.url() },
		StopTimeout: s.cfg.Lifecycle.StopTimeout.Std(),
		PIDFile:     s.cfg.Lifecycle.PIDFile,
		ReadyFile:   s.cfg.Lifecycle.ReadyFile,
		Systemd:     true,
	})
}

// prepare does what changes the process: logging first, then feature gates.
func (s *server) prepare() error {
	var err error
	s.logs, err = logging.New(logging.Options{
		Format:    s.cfg.Log.Format,
		Verbosity: s.cfg.Log.Verbosity,
		Out:       s.opts.Err,
		Color:     s.opts.Color,
		OnFatal:   s.fatal,
	})
	if err != nil {
		return err
	}
	s.log = s.logs.Logger()
	if err := s.checkManifests(); err != nil {
		return err
	}
	if err := globals.Prepare(); err != nil {
		return err
	}
	if err := globals.InstallLogging(s.logs); err != nil {
		return err
	}
	globals.OnPanic(s.panicked)
	s.kube = chain.NewOptions()
	return nil
}

// components are listed in the order in which they start.
func (s *server) components() []lifecycle.Component {
	return []lifecycle.Component{
		{Name: "data directory", Start: s.openDirectory, Stop: s.closeDirectory},
		{Name: "listener", DependsOn: []string{"data directory"}, Start: s.listen, Stop: s.closeListener},
		{Name: "certificates", DependsOn: []string{"data directory", "listener"}, Start: s.startPKI, Stop: s.stopPKI},
		{Name: "etcd", DependsOn: []string{"data directory"}, Start: s.startEtcd, Stop: s.stopEtcd, Failed: s.etcdFailed},
		{Name: serverChain, Start: s.startChain, Stop: s.stopServing, Failed: s.chainFailed, StopTimeout: s.chainTimeout()},
		// They begin when there is something to control, and nothing waits for them.
		{Name: "controllers", Start: s.startControllers, Stop: s.stopControllers},
		{Name: "manifests", Start: s.applyManifests},
		// The last one, so that it stops first.
		{Name: "server info", Stop: s.withdraw},
	}
}

func (s *server) openDirectory(ctx context.Context) error {
	path := s.cfg.DataDir
	if path == "" {
		var err error
		if path, err = datadir.Default(); err != nil {
			return err
		}
	}
	dir, err := datadir.Open(path)
	if err != nil {
		return err
	}
	if s.unlock, err = dir.Lock(); err != nil {
		return err
	}
	s.dir = dir
	s.openBoots()
	// A server that was killed has left it; nobody is ready here now.
	if err := s.withdraw(ctx); err != nil {
		return errors.Join(err, s.closeDirectory(ctx))
	}
	return nil
}

func (s *server) closeDirectory(ctx context.Context) error {
	s.closeBoots(ctx)
	return s.unlock()
}

// url is where clients on this machine reach the server.
func (s *server) url() string {
	address, _ := s.listener.Addr().(*net.TCPAddr)
	host := address.IP
	switch {
	case host.IsUnspecified() && host.To4() != nil:
		host = net.IPv4(127, 0, 0, 1)
	case host.IsUnspecified():
		host = net.IPv6loopback
	}
	return (&url.URL{Scheme: "https", Host: net.JoinHostPort(host.String(), strconv.Itoa(address.Port))}).String()
}

// loopback tells whether only this machine can reach the server.
func (s *server) loopback() bool {
	address, ok := s.listener.Addr().(*net.TCPAddr)
	return ok && address.IP.IsLoopback()
}

// flag returns the value of a kube-apiserver flag, if it was given.
func (s *server) flag(name, otherwise string) string {
	for _, flag := range s.cfg.KubeAPIServer.Flags {
		if flag.Name == name {
			otherwise = flag.Value
		}
	}
	return otherwise
}

// serviceMap turns the configuration's list into the chain's map.
func (s *server) serviceMap() (chain.ServiceMap, error) {
	services := chain.ServiceMap{}
	for _, m := range s.cfg.ServiceMap {
		namespace, name, ok := strings.Cut(m.Name, "/")
		if !ok {
			return nil, fault.Usagef("service map: %q is not namespace/name", m.Name)
		}
		services[chain.ServicePort{Namespace: namespace, Name: name, Port: int32(m.Port)}] = m.Address
	}
	return services, nil
}

func gitVersion() string { return version.Get().Kubernetes }
