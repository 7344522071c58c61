package config

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

// Each key from each source: the stronger one wins and is named as the origin.
func TestPrecedence(t *testing.T) {
	t.Parallel()
	// text per source, in the syntax of flags and variables, and the YAML of the file.
	rows := []struct {
		key             string
		yaml, env, flag string
		fromFile        any
		fromEnv         any
		fromFlag        any
	}{
		{"dataDir", "/f", "/e", "/c", "/f", "/e", "/c"},
		{"server.bindAddress", "10.0.0.1", "10.0.0.2", "::1", "10.0.0.1", "10.0.0.2", "::1"},
		{"server.securePort", "1", "2", "0", 1, 2, 0},
		{"server.names", "[A.example.com]", "b.example.com,10.0.0.1", "*.C.io", []string{"A.example.com"}, []string{"b.example.com", "10.0.0.1"}, []string{"*.C.io"}},
		{"etcd.prefix", "/f", "/e", "/c", "/f", "/e", "/c"},
		{"etcd.quotaBytes", "2Gi", "1.5Gi", "5000000", Bytes(2 << 30), Bytes(3 << 29), Bytes(5000000)},
		{"etcd.unsafeNoFsync", "true", "false", "true", true, false, true},
		{"serviceMap", "[{name: a/b, port: 1, address: 'x:2'}]", "c/d:1=y:2,e/f:1=[::1]:2", "g/h:1=z:2",
			[]ServiceMapping{{"a/b", 1, "x:2"}}, []ServiceMapping{{"c/d", 1, "y:2"}, {"e/f", 1, "[::1]:2"}}, []ServiceMapping{{"g/h", 1, "z:2"}}},
		{"manifests", "['A,b.yaml']", `c,"d,e"`, "f,g", []string{"A,b.yaml"}, []string{"c", "d,e"}, []string{"f,g"}},
		{"lifecycle.stopTimeout", "1s", "2m", "3h", Duration(time.Second), Duration(2 * time.Minute), Duration(3 * time.Hour)},
		{"lifecycle.readyFile", "f", "e", "c", "f", "e", "c"},
		{"lifecycle.pidFile", "f", "e", "c", "f", "e", "c"},
		{"log.format", "json", "text", "json", "json", "text", "json"},
		{"log.verbosity", "1", "2", "3", 1, 2, 3},
	}
	for _, row := range rows {
		t.Run(row.key, func(t *testing.T) {
			t.Parallel()
			k, _ := keyByPath(row.key)
			file := write(t, yamlFor(row.key, row.yaml))
			env := []string{k.Env() + "=" + row.env, "OTHER=1"}
			flags, _ := commandLine(t, "--"+k.Flag+"="+row.flag)
			none, _ := commandLine(t)

			check := func(o LoadOptions, want any, origin string) {
				t.Helper()
				l := mustLoad(t, o)
				if got := valueAt(&l.Config, row.key).Interface(); !reflect.DeepEqual(got, want) || l.Origin(row.key) != origin {
					t.Errorf("got %#v from %q, want %#v from %q", got, l.Origin(row.key), want, origin)
				}
			}
			defaults := Default()
			check(LoadOptions{Flags: none}, valueAt(&defaults, row.key).Interface(), "default")
			line := "1"
			if k.Path != lastPart(k.Path) {
				line = "2"
			}
			check(LoadOptions{File: file, Flags: none}, row.fromFile, "file "+file+" line "+line)
			check(LoadOptions{File: file, Flags: none, Environ: env}, row.fromEnv, k.Env())
			check(LoadOptions{File: file, Flags: flags, Environ: env}, row.fromFlag, "--"+k.Flag)
			check(LoadOptions{Flags: flags}, row.fromFlag, "--"+k.Flag)
		})
	}
}

func yamlFor(key, value string) string {
	for _, s := range sections() {
		if name, ok := cutSection(key, s); ok {
			return s + ":\n  " + name + ": " + value + "\n"
		}
	}
	return key + ": " + value + "\n"
}

func cutSection(key, section string) (string, bool) {
	if len(key) > len(section) && key[:len(section)+1] == section+"." {
		return key[len(section)+1:], true
	}
	return "", false
}

// External etcd: four keys that are valid only together, from three sources.
func TestExternalEtcd(t *testing.T) {
	t.Parallel()
	file := write(t, "etcd:\n  servers: ['https://a:2379', 'https://b:2379']\n  caFile: /ca\n")
	flags, kube := commandLine(t, "--etcd-keyfile", "/key", "--etcd-servers", "https://c:2379,https://d:2379", "--etcd-servers=https://e:2379")
	l := mustLoad(t, LoadOptions{File: file, Flags: flags, KubeFlags: kube, Environ: []string{"KAPI_ETCD_CERTFILE=/cert"}})
	want := Default().Etcd
	want.Servers = []string{"https://c:2379", "https://d:2379", "https://e:2379"}
	want.CAFile, want.CertFile, want.KeyFile = "/ca", "/cert", "/key"
	if !reflect.DeepEqual(l.Config.Etcd, want) {
		t.Errorf("got %+v, want %+v", l.Config.Etcd, want)
	}
}

// A list that a stronger source empties is empty.
func TestEmptyListWins(t *testing.T) {
	t.Parallel()
	file := write(t, "server:\n  names: [a, b]\nmanifests: []\n")
	flags, _ := commandLine(t, "--tls-san=")
	l := mustLoad(t, LoadOptions{File: file, Flags: flags, Environ: []string{"KAPI_MANIFESTS="}})
	if !reflect.DeepEqual(l.Config, Default()) {
		t.Errorf("got %+v", l.Config)
	}
	if got := l.Origin("server.names"); got != "--tls-san" {
		t.Errorf("origin %q", got)
	}
	if got, want := l.Origin("manifests"), "file "+file+" line 3"; got != want {
		t.Errorf("origin %q, want %q: an empty variable counts as not set", got, want)
	}
}

func TestWhichFile(t *testing.T) {
	t.Parallel()
	port := func(n string) string { return "server: {securePort: " + n + "}\n" }
	dir := t.TempDir()
	place := func(path, n string) string {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(port(n)), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	named, flagged, fromEnv := place("named.yaml", "1"), place("flagged.yaml", "2"), place("env.yaml", "3")
	place("xdg/kapi/kapi.yaml", "4")
	place("home/.config/kapi/kapi.yaml", "5")
	system := place("etc/kapi/kapi.yaml", "6")
	flags, _ := commandLine(t, "--config", flagged)
	xdg := "XDG_CONFIG_HOME=" + filepath.Join(dir, "xdg")
	home := filepath.Join(dir, "home")

	rows := []struct {
		name string
		o    LoadOptions
		want int
	}{
		{"option", LoadOptions{File: named, Flags: flags}, 1},
		{"flag", LoadOptions{Flags: flags, Environ: []string{"KAPI_CONFIG=" + fromEnv}}, 2},
		{"variable", LoadOptions{Environ: []string{xdg, "KAPI_CONFIG=" + fromEnv}, Home: home}, 3},
		{"xdg", LoadOptions{Environ: []string{xdg}, Home: home, SystemFile: system}, 4},
		{"relative xdg is ignored", LoadOptions{Environ: []string{"XDG_CONFIG_HOME=xdg"}, Home: home}, 5},
		{"home", LoadOptions{Home: home, SystemFile: system}, 5},
		{"system", LoadOptions{Home: dir, SystemFile: system}, 6},
		{"home is no directory", LoadOptions{Home: os.DevNull, SystemFile: system}, 6},
		{"none", LoadOptions{Home: dir, SystemFile: filepath.Join(dir, "absent")}, 6443},
	}
	for _, row := range rows {
		if l := mustLoad(t, row.o); l.Config.Server.SecurePort != row.want {
			t.Errorf("%s: port %d from %q, want %d", row.name, l.Config.Server.SecurePort, l.File, row.want)
		}
	}
	wantErrors(t, LoadOptions{File: filepath.Join(dir, "absent")}, "reading configuration file: open FILE")
	wantErrors(t, LoadOptions{Environ: []string{"KAPI_CONFIG=" + dir + "/absent"}}, "reading configuration file")
	wantErrors(t, LoadOptions{File: dir}, "reading configuration file")
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	wantErrors(t, LoadOptions{Environ: []string{"KAPI_SERVER_SECURPORT=1", "KAPI_ETCD_QUOTABYTES=many", "KAPI_LOG_VERBOSITY=-1", "KAPI_XYZZY=secret", "KAPI_FAKE_NODES=3", "KAPI_FAKE_NODE=3"}},
		"unknown environment variable KAPI_SERVER_SECURPORT; did you mean KAPI_SERVER_SECUREPORT?",
		`etcd.quotaBytes: "many" is not allowed: want a size of at least 1Mi, such as 8Gi or 8589934592 (KAPI_ETCD_QUOTABYTES)`,
		`log.verbosity: "-1" is not allowed`, "unknown environment variable KAPI_XYZZY; the nearest is KAPI_",
		"unknown environment variable KAPI_FAKE_NODES; did you mean KAPI_CONTROLLERS_FAKENODES?",
		"unknown environment variable KAPI_FAKE_NODE; did you mean KAPI_CONTROLLERS_FAKENODES?")
	mustLoad(t, LoadOptions{Environ: []string{"KAPI_THEME=dark"}, KnownEnv: []string{"KAPI_THEME"}})
	// Variables of Services called kapi and kapi-web, as a pod has them.
	mustLoad(t, LoadOptions{Environ: []string{"KAPI_SERVICE_HOST=10.0.0.1", "KAPI_SERVICE_PORT=443", "KAPI_SERVICE_PORT_HTTPS=443",
		"KAPI_PORT=tcp://10.0.0.1:443", "KAPI_PORT_443_TCP=tcp://10.0.0.1:443", "KAPI_PORT_443_TCP_ADDR=10.0.0.1", "KAPI_WEB_PORT=tcp://10.0.0.2:80"}})
	wantErrors(t, LoadOptions{Environ: []string{"KAPI_SERVER_PORT=1"}}, "KAPI_SERVER_PORT; did you mean KAPI_SERVER_SECUREPORT?")
}
