package config

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"
)

// What is typed reaches a server's flag set as if it had been typed there.
func TestKubeFlagsAreReproduced(t *testing.T) {
	t.Parallel()
	args := []string{
		"--feature-gates=A=true,B=false", "--feature-gates", "kube:C=true",
		"--runtime-config=api/all=true", "--runtime-config=b/v1=false",
		"--tls-sni-cert-key=a.crt,a.key:*.a.com,a.com", "--tls-sni-cert-key=b.crt,b.key",
		"--service-account-key-file=/a,b", "--service-account-key-file=/c",
		"--enable-admission-plugins=A,B", "--enable-admission-plugins=C",
		"--anonymous-auth=false", "--anonymous-auth", "--request-timeout=5s", "--max-requests-inflight=1", "--max-requests-inflight=2",
		"--service-account-issuer=",
	}
	direct, want := kubeGroups()
	if err := flat(direct).Parse(args); err != nil {
		t.Fatal(err)
	}
	flags, kube := commandLine(t, args...)
	l := mustLoad(t, LoadOptions{Flags: flags, KubeFlags: kube})
	groups, got := kubeGroups()
	if err := SetKubeFlags(flat(groups), l.Config.KubeAPIServer.Flags); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("through Flags\n%+v\ndirectly\n%+v\nflags\n%q", got, want, l.Config.KubeAPIServer.Flags)
	}
	for _, f := range l.Config.KubeAPIServer.Flags {
		if f.Name == "max-requests-inflight" && f.Value != "2" {
			t.Errorf("a scalar keeps its last value only, got %q", f)
		}
	}
	if got := l.Origin("kubeAPIServer.flags[feature-gates]"); got != "--feature-gates" {
		t.Errorf("origin %q", got)
	}
}

// Flags that were parsed on kube-apiserver's own set, without KubeFlagSets.
func TestKubeFlagsOfAPlainSet(t *testing.T) {
	t.Parallel()
	kube := kubeFlags()
	kube.StringToString("oidc-required-claim", nil, "Claims.")
	if err := kube.Parse([]string{"--oidc-required-claim=a=b", "--oidc-required-claim=c=d", "--enable-admission-plugins=A", `--enable-admission-plugins="B,C"`, "--service-account-key-file=a,b", "--anonymous-auth=false", "--secure-port=1"}); err != nil {
		t.Fatal(err)
	}
	l := mustLoad(t, LoadOptions{KubeFlags: kube})
	want := []Flag{{"anonymous-auth", "false"}, {"enable-admission-plugins", `A,"B,C"`}, {"oidc-required-claim", "a=b,c=d"}, {"service-account-key-file", "a,b"}}
	got := l.Config.KubeAPIServer.Flags
	// A map has no order.
	got[2].Value = strings.Replace(got[2].Value, "c=d,a=b", "a=b,c=d", 1)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if l.Config.Server.SecurePort != 6443 {
		t.Error("an owned flag of the other set was taken")
	}
}

// A name given by a stronger source replaces all entries of that name.
func TestKubeFlagsPrecedence(t *testing.T) {
	t.Parallel()
	file := write(t, `kubeAPIServer:
  flags:
  - {name: enable-admission-plugins, value: "A"}
  - {name: anonymous-auth, value: false}
  - {name: enable-admission-plugins, value: "B"}
  - {name: request-timeout, value: 2m}
`)
	env := []string{`KAPI_KUBEAPISERVER_FLAGS=request-timeout=3m,"feature-gates=A=true,B=false"`}
	flags, kube := commandLine(t, "--enable-admission-plugins=C,D", "--enable-admission-plugins=E")
	l := mustLoad(t, LoadOptions{File: file, Environ: env, Flags: flags, KubeFlags: kube})
	want := []Flag{{"anonymous-auth", "false"}, {"request-timeout", "3m"}, {"feature-gates", "A=true,B=false"},
		{"enable-admission-plugins", "C,D"}, {"enable-admission-plugins", "E"}}
	if got := l.Config.KubeAPIServer.Flags; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	for name, origin := range map[string]string{"anonymous-auth": "file " + file + " line 4", "request-timeout": "KAPI_KUBEAPISERVER_FLAGS", "enable-admission-plugins": "--enable-admission-plugins"} {
		if got := l.Origin("kubeAPIServer.flags[" + name + "]"); got != origin {
			t.Errorf("%s is from %q, want %q", name, got, origin)
		}
	}
	// Without the flag, the file's repeated entries are all kept.
	l = mustLoad(t, LoadOptions{File: file, KubeFlags: kubeFlags()})
	if n := len(l.Config.KubeAPIServer.Flags); n != 4 {
		t.Errorf("%d flags from the file, want 4", n)
	}
}

func TestOwnedFlagsInTheFile(t *testing.T) {
	t.Parallel()
	file := write(t, `kubeAPIServer:
  flags:
  - {name: secure-port, value: 0}
  - {name: etcd-servers, value: "http://a:1,http://b:1"}
  - {name: logging-format, value: json}
  - {name: bind_address, value: "::"}
  - {name: v, value: 4}
  - {name: etcd_servers, value: "http://c:1"}
`)
	l := mustLoad(t, LoadOptions{File: file, KubeFlags: kubeFlags()})
	want := Default()
	want.Server.SecurePort, want.Server.BindAddress, want.Log = 0, "::", Log{Format: "json", Verbosity: 4}
	want.Etcd.Servers = []string{"http://a:1", "http://b:1", "http://c:1"}
	if !reflect.DeepEqual(l.Config, want) {
		t.Errorf("got %+v\nwant %+v", l.Config, want)
	}
	if got, want := l.Origin("log.format"), "file "+file+" line 5"; got != want {
		t.Errorf("origin %q, want %q", got, want)
	}
	// A stronger source still wins.
	l = mustLoad(t, LoadOptions{File: file, Environ: []string{"KAPI_SERVER_SECUREPORT=7"}})
	if l.Config.Server.SecurePort != 7 {
		t.Errorf("port %d", l.Config.Server.SecurePort)
	}
	wantErrors(t, LoadOptions{File: write(t, "log: {format: text}\nkubeAPIServer:\n  flags:\n  - {name: logging-format, value: json}\n")},
		"kubeAPIServer.flags: flag logging-format (file FILE line 4) and key log.format (file FILE line 1) set the same thing")
	wantErrors(t, LoadOptions{File: write(t, "kubeAPIServer:\n  flags:\n  - {name: v, value: 1}\n  - {name: v, value: 2}\n")},
		"flag v (file FILE line 4) and key log.verbosity (file FILE line 3) set the same thing")
	wantErrors(t, LoadOptions{File: write(t, "kubeAPIServer:\n  flags:\n  - {name: secure-port, value: https}\n")},
		`server.securePort: "https" is not allowed: want a port from 0 to 65535`)
	wantErrors(t, LoadOptions{Environ: []string{"KAPI_KUBEAPISERVER_FLAGS=v=1", "KAPI_LOG_VERBOSITY=2"}}, "set the same thing")
}

func TestKubeFlagErrors(t *testing.T) {
	t.Parallel()
	entry := func(name, value string) string {
		return "kubeAPIServer:\n  flags:\n  - name: " + name + "\n    value: " + value + "\n"
	}
	rows := []struct {
		name, text, want string
	}{
		{"unknown", entry("anonymus-auth", "false"), "unknown kube-apiserver flag anonymus-auth in kubeAPIServer.flags (file FILE line 3); did you mean anonymous-auth?"},
		{"kapi's own", entry("data-dir", "/x"), "data-dir in kubeAPIServer.flags (file FILE line 3); it is kapi's own: use the key dataDir"},
		{"dashes", entry("--anonymous-auth", "false"), `kubeAPIServer.flags: "--anonymous-auth" is not allowed: want {name, value}`},
		{"value", entry("anonymous-auth", "maybe"), `kubeAPIServer.flags: "anonymous-auth=maybe" is not allowed: want a value that the flag takes: `},
		{"list value", entry("enable-admission-plugins", "[A]"), `kubeAPIServer.flags[0].value: "[...]" is not allowed: want a single value`},
		{"no value", entry("anonymous-auth", ""), `kubeAPIServer.flags[0].value: "" is not allowed: want a single value`},
		{"twice", entry("anonymous-auth", "true") + "  - {name: anonymous_auth, value: false}\n", "kubeAPIServer.flags: anonymous-auth is given twice (file FILE line 3 and file FILE line 5); it takes one value"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			wantErrors(t, LoadOptions{File: write(t, row.text), KubeFlags: kubeFlags()}, row.want)
		})
	}
	wantErrors(t, LoadOptions{Environ: []string{"KAPI_KUBEAPISERVER_FLAGS=a"}}, "kubeAPIServer.flags: \"a\" is not allowed")
	// Without the flag set names can't be known.
	mustLoad(t, LoadOptions{File: write(t, entry("anonymus-auth", "x"))})
	err := SetKubeFlags(kubeFlags(), []Flag{{"anonymous-auth", "x"}, {"nope", ""}, {"v", "1"}})
	if got := keysOf(err); !slices.Equal(got, []string{keyKubeFlags, keyKubeFlags}) {
		t.Errorf("got %v", err)
	}
}

func TestOwned(t *testing.T) {
	t.Parallel()
	want := map[string]string{"bind-address": "server.bindAddress", "secure-port": "server.securePort", "etcd-servers": "etcd.servers",
		"etcd-cafile": "etcd.caFile", "etcd-certfile": "etcd.certFile", "etcd-keyfile": "etcd.keyFile", "etcd-prefix": "etcd.prefix",
		"v": "log.verbosity", "logging-format": "log.format", "logging_format": "log.format"}
	for flag, key := range want {
		if got, ok := Owned(flag); !ok || got != key {
			t.Errorf("%s: %q, %v", flag, got, ok)
		}
	}
	for _, flag := range []string{"", "anonymous-auth", "log-format", "data-dir"} {
		if key, ok := Owned(flag); ok {
			t.Errorf("%s is owned by %s", flag, key)
		}
	}
}

func TestFlagsOnTheCommandLine(t *testing.T) {
	t.Parallel()
	flags, kube := commandLine(t, "-v2", "--logging-format", "json", "--map-service", "a/b:1=x:2,c/d:1=y:2", "--map-service=e/f:1=z:2", "--etcd-unsafe-no-fsync")
	l := mustLoad(t, LoadOptions{Flags: flags, KubeFlags: kube})
	want := Default()
	want.Log = Log{Format: "json", Verbosity: 2}
	want.Etcd.UnsafeNoFsync = true
	want.ServiceMap = []ServiceMapping{{"a/b", 1, "x:2"}, {"c/d", 1, "y:2"}, {"e/f", 1, "z:2"}}
	if !reflect.DeepEqual(l.Config, want) {
		t.Errorf("got %+v\nwant %+v", l.Config, want)
	}
	if l.Origin("log.format") != "--logging-format" || l.Origin("log.verbosity") != "--v" {
		t.Errorf("origins %q, %q", l.Origin("log.format"), l.Origin("log.verbosity"))
	}
	flags, _ = commandLine(t, "--logging-format=json", "--log-format=text")
	wantErrors(t, LoadOptions{Flags: flags}, "--log-format and --logging-format name two different values for log.format")

	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	AddFlags(fs)
	for _, arg := range []string{"--secure-port=x", "--etcd-quota-bytes=8GiB", "--map-service=a", "--stop-timeout=5", "--etcd-unsafe-no-fsync=x"} {
		if err := fs.Parse([]string{arg}); err == nil || !strings.Contains(err.Error(), "; want ") {
			t.Errorf("%s: %v", arg, err)
		}
	}
	// A set of somebody else with flags of the same names.
	fs = pflag.NewFlagSet("", pflag.ContinueOnError)
	fs.Duration("stop-timeout", time.Second, "")
	fs.String("secure-port", "", "")
	if err := fs.Parse([]string{"--stop-timeout=2s", "--secure-port=x"}); err != nil {
		t.Fatal(err)
	}
	wantErrors(t, LoadOptions{Flags: fs}, `server.securePort: "x" is not allowed`)
}

// The groups for the help hold every flag once, with usable defaults.
func TestHelpGroups(t *testing.T) {
	t.Parallel()
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	kube, _ := kubeGroups()
	groups := JoinFlagSets(AddFlags(fs), KubeFlagSets(fs, kube))
	counts := map[string]int{}
	for _, name := range groups.Order {
		groups.FlagSets[name].VisitAll(func(f *pflag.Flag) { counts[f.Name]++ })
	}
	fs.VisitAll(func(f *pflag.Flag) {
		if counts[f.Name] != 1 {
			t.Errorf("--%s is in %d groups", f.Name, counts[f.Name])
		}
		delete(counts, f.Name)
	})
	if len(counts) > 0 {
		t.Errorf("in groups only: %v", counts)
	}
	wantOrder := []string{"kapi", "kapi serving", "kapi etcd", "kapi controllers", "kapi inspect", "kapi lifecycle", "kapi log", "generic", "secure serving", "authentication", "admission"}
	if !slices.Equal(groups.Order, wantOrder) {
		t.Errorf("order %q", groups.Order)
	}
	var out bytes.Buffer
	cliflag.PrintSections(&out, groups, 0)
	for _, text := range []string{"Kapi serving flags:", "(default 6443)", "(default 8Gi)", "(default 30s)", "--map-service namespace/name:port=host:port", "-v, --v int", "Authentication flags:", "--anonymous-auth ", "(default [Default])"} {
		if !strings.Contains(out.String(), text) {
			t.Errorf("the help does not hold %q:\n%s", text, &out)
		}
	}
	if strings.Contains(out.String(), "Owned.") || strings.Contains(out.String(), "logging-format") {
		t.Errorf("the help shows flags twice:\n%s", &out)
	}
}
