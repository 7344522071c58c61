package config

import "strings"

// Paths of the keys that code outside the table speaks of.
const (
	keyBindAddress = "server.bindAddress"
	keyServers     = "etcd.servers"
	keyServiceMap  = "serviceMap"
	keyKubeFlags   = "kubeAPIServer.flags"
	keyControllers = "controllers.enabled"
	keyLogFormat   = "log.format"
)

// Key is one key of the configuration.
type Key struct {
	// Path is the place in the file: server.securePort.
	Path string
	// Flag is kapi's own flag, without dashes; "" if there is none.
	Flag string
	// KubeFlag is the kube-apiserver flag that this key stands for, or "".
	KubeFlag string
	// Group is the heading of the flag in the help.
	Group string
	// Usage is the help text of the flag.
	Usage string
	// Want says what is allowed, to follow the word "want".
	Want string

	kind kind
}

// Env returns the environment variable of the key: KAPI_SERVER_SECUREPORT.
func (k Key) Env() string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(k.Path, ".", "_"))
}

// Headings of kapi's own flags in the help, in this order.
const (
	groupGeneral     = "kapi"
	groupServing     = "kapi serving"
	groupEtcd        = "kapi etcd"
	groupControllers = "kapi controllers"
	groupInspect     = "kapi inspect"
	groupLifecycle   = "kapi lifecycle"
	groupLog         = "kapi log"
)

// Keys returns the table of all keys, in the order of the file.
func Keys() []Key {
	const file = "the path of a file, or nothing"
	return []Key{
		{Path: "dataDir", Flag: "data-dir", Group: groupGeneral, kind: textKind(),
			Usage: "Directory for everything kapi keeps (default $XDG_STATE_HOME/kapi, for root /var/lib/kapi).", Want: "the path of a directory, or nothing for the default place"},

		{Path: keyBindAddress, Flag: "bind-address", KubeFlag: "bind-address", Group: groupServing, kind: textKind(),
			Usage: "IP address to listen on.", Want: "an IP address such as 127.0.0.1 or ::"},
		{Path: "server.securePort", Flag: "secure-port", KubeFlag: "secure-port", Group: groupServing, kind: intKind(),
			Usage: "Port to listen on with TLS; 0 takes a free one.", Want: "a port from 0 to 65535, 0 for any free one"},
		{Path: "server.names", Flag: "tls-san", Group: groupServing, kind: listKind(),
			Usage: "DNS name or IP address to add to the serving certificate; repeatable.", Want: "DNS names (a first label of * is fine) and IP addresses"},

		{Path: keyServers, Flag: "etcd-servers", KubeFlag: "etcd-servers", Group: groupEtcd, kind: listKind(),
			Usage: "URL of an external etcd; repeatable. Without it etcd is embedded.", Want: "URLs such as https://10.0.0.1:2379 (http, https or unix, no user, no path)"},
		{Path: "etcd.caFile", Flag: "etcd-cafile", KubeFlag: "etcd-cafile", Group: groupEtcd, kind: textKind(),
			Usage: "CA file for an external etcd.", Want: file},
		{Path: "etcd.certFile", Flag: "etcd-certfile", KubeFlag: "etcd-certfile", Group: groupEtcd, kind: textKind(),
			Usage: "Client certificate file for an external etcd.", Want: file},
		{Path: "etcd.keyFile", Flag: "etcd-keyfile", KubeFlag: "etcd-keyfile", Group: groupEtcd, kind: textKind(),
			Usage: "Client key file for an external etcd.", Want: file},
		{Path: "etcd.prefix", Flag: "etcd-prefix", KubeFlag: "etcd-prefix", Group: groupEtcd, kind: textKind(),
			Usage: "Prefix of all keys in etcd.", Want: "a path such as /registry, beginning with a slash and not ending with one"},
		{Path: "etcd.quotaBytes", Flag: "etcd-quota-bytes", Group: groupEtcd, kind: bytesKind(),
			Usage: "Size limit of the embedded etcd's database.", Want: "a size of at least 1Mi, such as 8Gi or 8589934592"},
		{Path: "etcd.unsafeNoFsync", Flag: "etcd-unsafe-no-fsync", Group: groupEtcd, kind: boolKind(),
			Usage: "Don't wait for the disk in the embedded etcd: a crash of the machine loses or breaks data.", Want: "true or false"},

		{Path: keyServiceMap, Flag: "map-service", Group: groupServing, kind: mappingsKind(),
			Usage: "Where a Service is really found, as `namespace/name:port=host:port`; repeatable.", Want: "namespace/name:port=host:port, each service and port once"},
		{Path: "manifests", Flag: "manifests", Group: groupGeneral, kind: pathsKind(),
			Usage: "YAML `file-or-directory` to apply at the start; repeatable.", Want: "paths of files and directories"},
		{Path: keyKubeFlags, kind: kubeFlagsKind(), Want: "{name, value} with a kube-apiserver flag's name, without dashes, that kapi has no key of its own for"},

		{Path: keyControllers, Flag: "controllers", Group: groupControllers, kind: listKind(),
			Usage: "Controllers to run: sets (api, workloads, all, none) and names, which + adds and - takes away; repeatable.",
			Want:  "sets and names of controllers such as api,+deployment,-resourcequota"},
		{Path: "controllers.fakeNodes", Flag: "fake-nodes", Group: groupControllers, kind: intKind(),
			Usage: "Number of nodes without machines, on which pods run by simple rules; brings a scheduler and volumes.", Want: "a number from 0 to 500"},
		{Path: "controllers.leaseDuration", Flag: "controllers-lease-duration", Group: groupControllers, kind: durationKind(),
			Usage: "Time after which another kapi on the same external etcd takes over the controllers of one that is gone.", Want: "whole seconds from 2s to 1h, such as 15s"},

		{Path: "inspect.observe", Flag: "inspect-observe", Group: groupInspect, kind: boolKind(),
			Usage: "Observe every filter and layer; without it there are no request counters and no traces.", Want: "true or false"},
		{Path: "inspect.traces", Flag: "inspect-traces", Group: groupInspect, kind: intKind(),
			Usage: "Number of requests whose traces are kept.", Want: "a number from 1 to 100000"},
		{Path: "inspect.notableTraces", Flag: "inspect-notable-traces", Group: groupInspect, kind: intKind(),
			Usage: "Number of slow or failed requests whose traces are kept beside those.", Want: "a number from 0 to 100000"},
		{Path: "inspect.slowerThan", Flag: "inspect-slower-than", Group: groupInspect, kind: durationKind(),
			Usage: "Duration from which a request counts as slow.", Want: "a duration above zero, such as 500ms or 1s"},
		{Path: "inspect.watchRate", Flag: "inspect-watch-rate", Group: groupInspect, kind: intKind(),
			Usage: "Number of traces a second that one watch of them gets at most.", Want: "a number from 1 to 100000"},

		{Path: "lifecycle.stopTimeout", Flag: "stop-timeout", Group: groupLifecycle, kind: durationKind(),
			Usage: "Longest time for an orderly stop.", Want: "a duration above zero, such as 30s or 2m"},
		{Path: "lifecycle.readyFile", Flag: "ready-file", Group: groupLifecycle, kind: textKind(),
			Usage: "File to write when the server is ready.", Want: "the path of a file, another than lifecycle.pidFile, or nothing"},
		{Path: "lifecycle.pidFile", Flag: "pid-file", Group: groupLifecycle, kind: textKind(),
			Usage: "File to hold the process id.", Want: file},

		{Path: keyLogFormat, Flag: "log-format", KubeFlag: "logging-format", Group: groupLog, kind: textKind(),
			Usage: "Format of the log: text or json.", Want: "text or json"},
		{Path: "log.verbosity", Flag: "v", KubeFlag: "v", Group: groupLog, kind: intKind(),
			Usage: "Verbosity of the log; 0 is the quietest.", Want: "a whole number from 0 to 2147483647"},
	}
}

// Owned tells which key of kapi stands for a kube-apiserver flag. Such a flag is
// never in Config.KubeAPIServer.Flags. Underscores in the name count as dashes,
// as they do for kube-apiserver.
func Owned(flag string) (key string, owned bool) {
	k, ok := ownedKey(flag)
	return k.Path, ok
}

func ownedKey(flag string) (Key, bool) {
	flag = strings.ReplaceAll(flag, "_", "-")
	for _, k := range Keys() {
		if k.KubeFlag != "" && k.KubeFlag == flag {
			return k, true
		}
	}
	return Key{}, false
}

// keyByPath returns the key with exactly this path.
func keyByPath(path string) (Key, bool) {
	for _, k := range Keys() {
		if k.Path == path {
			return k, true
		}
	}
	return Key{}, false
}

// sections are the paths that have keys below them, in the order of the file.
func sections() []string {
	var out []string
	for _, k := range Keys() {
		section, _, nested := strings.Cut(k.Path, ".")
		if nested && (len(out) == 0 || out[len(out)-1] != section) {
			out = append(out, section)
		}
	}
	return out
}

// childrenOf names what may stand in a section ("" for the top), for errors.
func childrenOf(section string) []string {
	var out []string
	for _, k := range Keys() {
		head, tail, nested := strings.Cut(k.Path, ".")
		name := head
		switch {
		case section == "":
		case head == section && nested:
			name = tail
		default:
			continue
		}
		if len(out) == 0 || out[len(out)-1] != name {
			out = append(out, name)
		}
	}
	return out
}
