package config

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kapi-dev/kapi/internal/fault"
)

// One change to the defaults a row, and the keys that are then wrong.
func TestValidate(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name   string
		change func(c *Config)
		wrong  []string
	}{
		{"ipv6", func(c *Config) { c.Server.BindAddress = "::" }, nil},
		{"host name to bind", func(c *Config) { c.Server.BindAddress = "localhost" }, []string{"server.bindAddress"}},
		{"zone to bind", func(c *Config) { c.Server.BindAddress = "fe80::1%eth0" }, []string{"server.bindAddress"}},
		{"no bind address", func(c *Config) { c.Server.BindAddress = "" }, []string{"server.bindAddress"}},
		{"any port", func(c *Config) { c.Server.SecurePort = 0 }, nil},
		{"last port", func(c *Config) { c.Server.SecurePort = 65535 }, nil},
		{"port too large", func(c *Config) { c.Server.SecurePort = 65536 }, []string{"server.securePort"}},
		{"negative port", func(c *Config) { c.Server.SecurePort = -1 }, []string{"server.securePort"}},
		{"names", func(c *Config) { c.Server.Names = []string{"a.b", "*.a.b", "10.0.0.1", "::1", "LOCAL_host"} }, nil},
		{"bad names", func(c *Config) { c.Server.Names = []string{"ok", "a b", "*.*.b", "*", "https://a", "*.10.0.0.1", ""} },
			[]string{"server.names", "server.names", "server.names", "server.names", "server.names", "server.names"}},

		{"external", func(c *Config) {
			c.Etcd.Servers = []string{"https://a:2379", "http://[::1]:2379/", "unix:///run/etcd.sock", "https://b"}
			c.Etcd.CAFile, c.Etcd.CertFile, c.Etcd.KeyFile = "ca", "c", "k"
		}, nil},
		{"bad urls", func(c *Config) {
			c.Etcd.Servers = []string{"a:2379", "https://", "ftp://a", "http://a/b", "http://a?b", "http://a:99999", "http://a:", "http://u:p@a", "%", ""}
		}, slices.Repeat([]string{"etcd.servers"}, 10)},
		{"tls without servers", func(c *Config) { c.Etcd.CAFile, c.Etcd.CertFile, c.Etcd.KeyFile = "ca", "c", "k" },
			[]string{"etcd.caFile", "etcd.certFile", "etcd.keyFile"}},
		{"tls with http", func(c *Config) { c.Etcd.Servers, c.Etcd.CAFile = []string{"http://a"}, "ca" }, []string{"etcd.caFile"}},
		{"certificate alone", func(c *Config) { c.Etcd.Servers, c.Etcd.CertFile = []string{"https://a"}, "c" }, []string{"etcd.keyFile"}},
		{"key alone", func(c *Config) { c.Etcd.Servers, c.Etcd.KeyFile = []string{"https://a"}, "k" }, []string{"etcd.certFile"}},
		{"quota for external", func(c *Config) { c.Etcd.Servers, c.Etcd.QuotaBytes = []string{"http://a"}, 1<<30 }, []string{"etcd.quotaBytes"}},
		{"no fsync for external", func(c *Config) { c.Etcd.Servers, c.Etcd.UnsafeNoFsync = []string{"http://a"}, true }, []string{"etcd.unsafeNoFsync"}},
		{"small quota", func(c *Config) { c.Etcd.QuotaBytes = 1<<20 - 1 }, []string{"etcd.quotaBytes"}},
		{"deep prefix", func(c *Config) { c.Etcd.Prefix = "/a/b.c" }, nil},
		{"relative prefix", func(c *Config) { c.Etcd.Prefix = "registry" }, []string{"etcd.prefix"}},
		{"root prefix", func(c *Config) { c.Etcd.Prefix = "/" }, []string{"etcd.prefix"}},
		{"prefix with slash", func(c *Config) { c.Etcd.Prefix = "/a/" }, []string{"etcd.prefix"}},
		{"prefix with dots", func(c *Config) { c.Etcd.Prefix = "/a/../b" }, []string{"etcd.prefix"}},

		{"service map", func(c *Config) {
			c.ServiceMap = []ServiceMapping{{"a/b", 1, "x:1"}, {"a/b", 2, "x:1"}, {"a/c", 1, "[::1]:1"}}
		}, nil},
		{"service twice", func(c *Config) { c.ServiceMap = []ServiceMapping{{"a/b", 1, "x:1"}, {"a/b", 1, "y:1"}} }, []string{"serviceMap"}},
		{"bad mappings", func(c *Config) {
			c.ServiceMap = []ServiceMapping{{"b", 1, "x:1"}, {"a/b", 0, "x:1"}, {"a/b", 65536, "x:1"}, {"a/b", 3, "x"}, {"a/b", 4, "x:0"}, {"A/b", 5, "x:1"}, {"a/b/c", 6, "x:1"}, {"a/b", 7, ":1"}, {"a/b", 8, "x y:1"}, {}}
		}, slices.Repeat([]string{"serviceMap"}, 10)},
		{"empty manifest", func(c *Config) { c.Manifests = []string{"a", ""} }, []string{"manifests"}},

		{"flags", func(c *Config) { c.KubeAPIServer.Flags = []Flag{{"a", ""}, {"a", "b"}} }, nil},
		{"bad flag names", func(c *Config) { c.KubeAPIServer.Flags = []Flag{{"", ""}, {"--a", ""}, {"a=b", ""}, {"a b", ""}} },
			slices.Repeat([]string{"kubeAPIServer.flags"}, 4)},
		{"owned flag", func(c *Config) { c.KubeAPIServer.Flags = []Flag{{"secure-port", "1"}, {"logging_format", "json"}} },
			slices.Repeat([]string{"kubeAPIServer.flags"}, 2)},

		{"no traces", func(c *Config) { c.Inspect.Traces = 0 }, []string{"inspect.traces"}},
		{"too many traces", func(c *Config) { c.Inspect.Traces = 100_001 }, []string{"inspect.traces"}},
		{"fewer than no notable traces", func(c *Config) { c.Inspect.NotableTraces = -1 }, []string{"inspect.notableTraces"}},
		{"every request slow", func(c *Config) { c.Inspect.SlowerThan = 0 }, []string{"inspect.slowerThan"}},
		{"no watch rate", func(c *Config) { c.Inspect.WatchRate = 0 }, []string{"inspect.watchRate"}},
		{"no stop timeout", func(c *Config) { c.Lifecycle.StopTimeout = 0 }, []string{"lifecycle.stopTimeout"}},
		{"negative stop timeout", func(c *Config) { c.Lifecycle.StopTimeout = Duration(-time.Second) }, []string{"lifecycle.stopTimeout"}},
		{"two files", func(c *Config) { c.Lifecycle.ReadyFile, c.Lifecycle.PIDFile = "a", "b" }, nil},
		{"one file for two", func(c *Config) { c.Lifecycle.ReadyFile, c.Lifecycle.PIDFile = "a", "./a" }, []string{"lifecycle.readyFile"}},
		{"json", func(c *Config) { c.Log.Format = "json" }, nil},
		{"format", func(c *Config) { c.Log.Format = "JSON" }, []string{"log.format"}},
		{"verbosity", func(c *Config) { c.Log.Verbosity = -1 }, []string{"log.verbosity"}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := Default()
			row.change(&c)
			err := c.Validate()
			if got := keysOf(err); !slices.Equal(got, row.wrong) {
				t.Errorf("wrong keys are %q, want %q; error:\n%v", got, row.wrong, err)
			}
			if err != nil && fault.Code(err) != fault.CodeUsage {
				t.Errorf("exit code %d", fault.Code(err))
			}
		})
	}
}

// keysOf lists the keys of all KeyErrors in err, in order.
func keysOf(err error) []string {
	var out []string
	var joined interface{ Unwrap() []error }
	var one *KeyError
	if errors.As(err, &joined) {
		for _, e := range joined.Unwrap() {
			out = append(out, keysOf(e)...)
		}
	} else if errors.As(err, &one) {
		out = append(out, one.Key)
	}
	return out
}

func TestValidateSaysWhatIsAllowed(t *testing.T) {
	t.Parallel()
	c := Default()
	c.Server.SecurePort = 70000
	const want = `server.securePort: "70000" is not allowed: want a port from 0 to 65535, 0 for any free one`
	if err := c.Validate(); err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	for _, r := range rules() {
		for _, key := range append(r.with, r.key) {
			if _, ok := keyByPath(key); !ok {
				t.Errorf("a rule speaks of the unknown key %q", key)
			}
		}
	}
}

// No credentials in errors, however the URL is broken.
func TestErrorsHideCredentials(t *testing.T) {
	t.Parallel()
	for _, server := range []string{"https://root:hunter2@a:2379", "https://root:hun@hunter2@a", "https://root:hunter2/x@a", "x https://root:hunter2@a https://b:hunter2@c", "ftp://hunter2@"} {
		c := Default()
		c.Etcd.Servers = []string{server}
		err := c.Validate()
		if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "://xxxxx@") {
			t.Errorf("%s: got %v", server, err)
		}
	}
	for _, text := range []string{"", "a@b", "https://a:1/b", "://", "a://b, c://d"} {
		if got := redact(text); got != text {
			t.Errorf("redact(%q) = %q", text, got)
		}
	}
}
