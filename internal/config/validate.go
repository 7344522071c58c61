package config

import (
	"cmp"
	"errors"
	"math"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kapi-dev/kapi/internal/controllers/catalog"
	"github.com/kapi-dev/kapi/internal/fault"
)

// rule is one line of the validation: the values of key that are not allowed.
type rule struct {
	key string
	// with are other keys that the rule looks at.
	with []string
	// want replaces the Want of the key.
	want string
	// bad returns the offending values, as text.
	bad func(c Config) []string
	// hint is added for a value, where more can be said of it.
	hint func(value string) string
}

// rules is the whole validation, in the order of the keys.
func rules() []rule {
	const onlyExternal = "nothing: it is for external etcd servers with https (etcd.servers)"
	const onlyEmbedded = "the default: it is for the embedded etcd, and etcd.servers names an external one"
	return []rule{
		{key: keyBindAddress, bad: one(func(c Config) (bool, any) { return !isIP(c.Server.BindAddress), c.Server.BindAddress })},
		{key: "server.securePort", bad: one(func(c Config) (bool, any) {
			return c.Server.SecurePort < 0 || c.Server.SecurePort > 65535, c.Server.SecurePort
		})},
		{key: "server.names", bad: func(c Config) []string { return without(c.Server.Names, isCertName) }},

		{key: keyServers, bad: func(c Config) []string { return without(c.Etcd.Servers, isEtcdURL) }},
		{key: "etcd.caFile", with: []string{keyServers}, want: onlyExternal, bad: tlsFile(func(e Etcd) string { return e.CAFile })},
		{key: "etcd.certFile", with: []string{keyServers}, want: onlyExternal, bad: tlsFile(func(e Etcd) string { return e.CertFile })},
		{key: "etcd.keyFile", with: []string{keyServers}, want: onlyExternal, bad: tlsFile(func(e Etcd) string { return e.KeyFile })},
		{key: "etcd.certFile", with: []string{keyServers, "etcd.keyFile"}, want: "a certificate file, since etcd.keyFile is set",
			bad: one(func(c Config) (bool, any) {
				return len(c.Etcd.Servers) > 0 && c.Etcd.CertFile == "" && c.Etcd.KeyFile != "", ""
			})},
		{key: "etcd.keyFile", with: []string{keyServers, "etcd.certFile"}, want: "a key file, since etcd.certFile is set",
			bad: one(func(c Config) (bool, any) {
				return len(c.Etcd.Servers) > 0 && c.Etcd.KeyFile == "" && c.Etcd.CertFile != "", ""
			})},
		{key: "etcd.prefix", bad: one(func(c Config) (bool, any) { return !isPrefix(c.Etcd.Prefix), c.Etcd.Prefix })},
		{key: "etcd.quotaBytes", bad: one(func(c Config) (bool, any) { return c.Etcd.QuotaBytes < 1<<20, c.Etcd.QuotaBytes })},
		{key: "etcd.quotaBytes", with: []string{keyServers}, want: onlyEmbedded, bad: one(func(c Config) (bool, any) {
			return len(c.Etcd.Servers) > 0 && c.Etcd.QuotaBytes != Default().Etcd.QuotaBytes, c.Etcd.QuotaBytes
		})},
		{key: "etcd.unsafeNoFsync", with: []string{keyServers}, want: onlyEmbedded,
			bad: one(func(c Config) (bool, any) { return len(c.Etcd.Servers) > 0 && c.Etcd.UnsafeNoFsync, true })},

		{key: keyServiceMap, bad: badMappings},
		{key: "manifests", bad: func(c Config) []string {
			return without(c.Manifests, func(s string) bool { return s != "" && !strings.ContainsRune(s, 0) })
		}},
		{key: keyKubeFlags, bad: badKubeFlags},

		{key: keyControllers, bad: badControllers, hint: controllerHint},
		{key: "controllers.fakeNodes", bad: one(func(c Config) (bool, any) {
			return c.Controllers.FakeNodes < 0 || c.Controllers.FakeNodes > mostFakeNodes, c.Controllers.FakeNodes
		})},
		{key: "controllers.leaseDuration", bad: one(func(c Config) (bool, any) {
			d := c.Controllers.LeaseDuration.Std()
			return d < 2*time.Second || d > time.Hour || d%time.Second != 0, c.Controllers.LeaseDuration
		})},

		{key: "inspect.traces", bad: outside(1, mostTraces, func(i Inspect) int { return i.Traces })},
		{key: "inspect.notableTraces", bad: outside(0, mostTraces, func(i Inspect) int { return i.NotableTraces })},
		{key: "inspect.slowerThan", bad: one(func(c Config) (bool, any) { return c.Inspect.SlowerThan <= 0, c.Inspect.SlowerThan })},
		{key: "inspect.watchRate", bad: outside(1, mostTraces, func(i Inspect) int { return i.WatchRate })},

		{key: "lifecycle.stopTimeout", bad: one(func(c Config) (bool, any) { return c.Lifecycle.StopTimeout <= 0, c.Lifecycle.StopTimeout })},
		{key: "lifecycle.readyFile", with: []string{"lifecycle.pidFile"}, bad: one(func(c Config) (bool, any) {
			l := c.Lifecycle
			return l.ReadyFile != "" && l.PIDFile != "" && filepath.Clean(l.ReadyFile) == filepath.Clean(l.PIDFile), l.ReadyFile
		})},

		{key: keyLogFormat, bad: one(func(c Config) (bool, any) { return c.Log.Format != LogText && c.Log.Format != LogJSON, c.Log.Format })},
		{key: "log.verbosity", bad: one(func(c Config) (bool, any) {
			return c.Log.Verbosity < 0 || c.Log.Verbosity > math.MaxInt32, c.Log.Verbosity
		})},
	}
}

// mostFakeNodes bounds the renewals of leases: each node has one every ten seconds.
const mostFakeNodes = 500

// badControllers returns the words that can't stand where they do.
func badControllers(c Config) []string {
	words := c.Controllers.Enabled
	bad := without(words, func(word string) bool { return catalog.Check(word) == nil })
	if _, err := catalog.Parse(words, false); err != nil && len(bad) == 0 {
		bad = []string{catalog.None} // after another word
	}
	return bad
}

// controllerHint says what was probably meant by a word that can't stand there.
func controllerHint(word string) string {
	err := catalog.Check(word)
	if err == nil {
		_, err = catalog.Parse([]string{string(catalog.API), word}, false)
	}
	return "; " + fault.Hint(err)
}

// mostTraces bounds memory: a trace takes about 2 KiB.
const mostTraces = 100_000

// outside finds a number that is not between least and most.
func outside(least, most int, value func(Inspect) int) func(Config) []string {
	return one(func(c Config) (bool, any) { n := value(c.Inspect); return n < least || n > most, n })
}

// Validate checks values and their combinations, not what they point to. All
// problems are returned together, as KeyErrors in an error of usage.
func (c Config) Validate() error {
	return fault.Usage(errors.Join(c.problems(nil, nil)...))
}

// problems applies the rules, but for those that look at a key of failed: it has
// been reported, and what it would have said is not known.
func (c Config) problems(origins map[string]string, failed []string) []error {
	var errs []error
	for _, r := range rules() {
		if slices.ContainsFunc(append(r.with, r.key), func(k string) bool { return slices.Contains(failed, k) }) {
			continue
		}
		want := r.want
		if want == "" {
			k, _ := keyByPath(r.key)
			want = k.Want
		}
		for _, value := range r.bad(c) {
			problem := &KeyError{Key: r.key, Value: value, Want: want, Origin: origins[r.key]}
			if r.hint != nil {
				problem.Want += r.hint(value)
			}
			errs = append(errs, problem)
		}
	}
	return errs
}

// one makes the bad function of a key with a single value.
func one(bad func(Config) (bool, any)) func(Config) []string {
	return func(c Config) []string {
		if is, value := bad(c); is {
			return []string{formatValue(value)}
		}
		return nil
	}
}

// without returns the entries that are not good.
func without(list []string, good func(string) bool) []string {
	return slices.DeleteFunc(slices.Clone(list), good)
}

func isCertName(s string) bool {
	name, wildcard := strings.CutPrefix(s, "*.")
	return isHost(s) || wildcard && isDNSName(name) && !isIP(name)
}

func isEtcdURL(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	switch u.Scheme {
	case "http", "https":
		_, portErr := parsePort(cmp.Or(u.Port(), "2379"))
		return isHost(u.Hostname()) && portErr == nil && (u.Path == "" || u.Path == "/") && !strings.HasSuffix(u.Host, ":")
	case "unix", "unixs":
		return u.Host+u.Path != ""
	default:
		return false
	}
}

// tlsFile refuses a file where no server would use it.
func tlsFile(file func(Etcd) string) func(Config) []string {
	return one(func(c Config) (bool, any) {
		secure := slices.ContainsFunc(c.Etcd.Servers, func(s string) bool {
			return strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "unixs://")
		})
		return file(c.Etcd) != "" && !secure, file(c.Etcd)
	})
}

func isPrefix(s string) bool {
	return strings.HasPrefix(s, "/") && s != "/" && !strings.ContainsRune(s, 0) && path.Clean(s) == s
}

// badMappings returns malformed entries, and second ones for the same service
// and port: the first would win without a word.
func badMappings(c Config) []string {
	var out []string
	type service struct {
		name string
		port int
	}
	seen := map[service]bool{}
	for _, m := range c.ServiceMap {
		id := service{m.Name, m.Port}
		if m.check() != nil || seen[id] {
			out = append(out, m.String())
		}
		seen[id] = true
	}
	return out
}

// badKubeFlags returns flags with a malformed name, and flags that kapi has a
// key for: they would contradict the key.
func badKubeFlags(c Config) []string {
	var out []string
	for _, f := range c.KubeAPIServer.Flags {
		if _, owned := ownedKey(f.Name); owned || !isFlagName(f.Name) {
			out = append(out, f.Name)
		}
	}
	return out
}

func isFlagName(s string) bool {
	return s != "" && !strings.HasPrefix(s, "-") && !strings.ContainsAny(s, "= \t\r\n\x00")
}
