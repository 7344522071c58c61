package config

import "time"

// Config is the whole configuration of kapi. The JSON names are the keys of the
// file; configs/kapi.yaml explains each. Lists without an entry are nil.
type Config struct {
	// DataDir holds everything kapi keeps; "" is the default place.
	DataDir       string           `json:"dataDir"`
	Server        Server           `json:"server"`
	Etcd          Etcd             `json:"etcd"`
	ServiceMap    []ServiceMapping `json:"serviceMap"`
	Manifests     []string         `json:"manifests"`
	KubeAPIServer KubeAPIServer    `json:"kubeAPIServer"`
	Controllers   Controllers      `json:"controllers"`
	Inspect       Inspect          `json:"inspect"`
	Lifecycle     Lifecycle        `json:"lifecycle"`
	Log           Log              `json:"log"`
}

// Server is the secure port.
type Server struct {
	// BindAddress is an IP address.
	BindAddress string `json:"bindAddress"`
	// SecurePort is a TCP port, 0 for any free one.
	SecurePort int `json:"securePort"`
	// Names are DNS names and IP addresses added to the serving certificate.
	Names []string `json:"names"`
}

// Etcd is the storage: embedded when Servers is empty, otherwise external.
type Etcd struct {
	// Servers are URLs (http, https, unix) of an external etcd.
	Servers []string `json:"servers"`
	// CAFile, CertFile and KeyFile are PEM files, for external https servers.
	CAFile   string `json:"caFile"`
	CertFile string `json:"certFile"`
	KeyFile  string `json:"keyFile"`
	// Prefix is put before every key; it begins with a slash.
	Prefix string `json:"prefix"`
	// QuotaBytes is the size limit of the embedded database.
	QuotaBytes Bytes `json:"quotaBytes"`
	// UnsafeNoFsync lets the embedded etcd answer before data is on disk.
	UnsafeNoFsync bool `json:"unsafeNoFsync"`
}

// KubeAPIServer holds flags of kube-apiserver.
type KubeAPIServer struct {
	// Flags are in the order in which they must be set; a repeatable flag may
	// stand several times. Names that kapi owns (see Owned) never appear.
	Flags []Flag `json:"flags"`
}

// Flag is one kube-apiserver flag: a name without dashes, and a value such that
// pflag's FlagSet.Set(Name, Value) is what the command line would have done.
type Flag struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// String returns the flag as it is typed: --name=value.
func (f Flag) String() string { return "--" + f.Name + "=" + f.Value }

// Controllers are those that run inside the server.
type Controllers struct {
	// Enabled are words as catalog.Parse reads them: sets, names, + and -.
	Enabled []string `json:"enabled"`
	// FakeNodes is how many nodes are there without machines.
	FakeNodes int `json:"fakeNodes"`
	// LeaseDuration is how long, with an external etcd, another server waits before
	// it takes the controllers over from one that says nothing more.
	LeaseDuration Duration `json:"leaseDuration"`
}

// Inspect is what the server remembers of itself, for inspect.kapi.dev.
type Inspect struct {
	// Observe puts an observer around every filter and layer. Without it there are
	// no counters of requests and no traces.
	Observe bool `json:"observe"`
	// Traces is how many requests are kept.
	Traces int `json:"traces"`
	// NotableTraces is how many slow or failed requests are kept beside those.
	NotableTraces int `json:"notableTraces"`
	// SlowerThan is the duration from which a request counts as slow.
	SlowerThan Duration `json:"slowerThan"`
	// WatchRate is how many traces a second one watch of them gets at most.
	WatchRate int `json:"watchRate"`
}

// Lifecycle is starting and stopping.
type Lifecycle struct {
	// StopTimeout bounds the whole orderly stop.
	StopTimeout Duration `json:"stopTimeout"`
	// ReadyFile is written when the server is ready; "" is none.
	ReadyFile string `json:"readyFile"`
	// PIDFile holds the process id while kapi runs; "" is none.
	PIDFile string `json:"pidFile"`
}

// Log formats.
const (
	LogText = "text"
	LogJSON = "json"
)

// Log is what kapi writes to stderr.
type Log struct {
	// Format is LogText or LogJSON.
	Format string `json:"format"`
	// Verbosity is klog's level, 0 for the quietest.
	Verbosity int `json:"verbosity"`
}

// Default returns the configuration that holds when no source says anything.
// It is valid, and it equals configs/kapi.yaml.
func Default() Config {
	return Config{
		Server:      Server{BindAddress: "127.0.0.1", SecurePort: 6443},
		Etcd:        Etcd{Prefix: "/registry", QuotaBytes: 8 << 30},
		Controllers: Controllers{Enabled: []string{"api"}, LeaseDuration: Duration(15 * time.Second)},
		Inspect:     Inspect{Observe: true, Traces: 2000, NotableTraces: 500, SlowerThan: Duration(time.Second), WatchRate: 500},
		Lifecycle:   Lifecycle{StopTimeout: Duration(30 * time.Second)},
		Log:         Log{Format: LogText},
	}
}
