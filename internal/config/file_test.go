package config

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

// What is wrong in a file, and what the error says. FILE is the path.
func TestFileErrors(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name, text string
		want       []string
	}{
		{"unknown key", "log:\n  format: json\nserver:\n\n  securPort: 1\n", []string{"unknown key server.securPort at FILE:5; did you mean server.securePort?"}},
		{"unknown top key", "dataDirr: x\n", []string{"unknown key dataDirr at FILE:1; did you mean dataDir?"}},
		{"unknown section", "sever:\n  securePort: 1\n", []string{"unknown key sever at FILE:1; did you mean server?"}},
		{"wrong section", "bindAddress: 1.2.3.4\n", []string{"unknown key bindAddress at FILE:1; did you mean server.bindAddress?"}},
		{"wrong case", "datadir: x\n", []string{"unknown key datadir at FILE:1; did you mean dataDir?"}},
		{"flag as key", "map-service: []\ntlsSan: []\n", []string{"unknown key map-service at FILE:1; did you mean serviceMap?", "unknown key tlsSan at FILE:2; did you mean server.names?"}},
		{"kube flag as key", "anonymous-auth: false\n", []string{"unknown key anonymous-auth at FILE:1; it is a flag of kube-apiserver: put it into kubeAPIServer.flags"}},
		{"far off in a section", "controllers: {run: all}\n", []string{"unknown key controllers.run at FILE:1; controllers has enabled, fakeNodes, leaseDuration"}},
		{"far off", "zzzzzzzzzzzz: 1\n", []string{"unknown key zzzzzzzzzzzz at FILE:1; the nearest is "}},
		{"dotted", "server.securePort: 1\n", []string{"unknown key server.securePort at FILE:1"}},
		{"dotted inside", "etcd:\n  x.y: 1\n", []string{"unknown key etcd.x.y at FILE:2"}},
		{"in a list", "serviceMap:\n- {name: a/b, prt: 1, address: 'x:1'}\n", []string{"unknown key serviceMap[0].prt at FILE:2; did you mean serviceMap[0].port?"}},
		{"missing in a list", "serviceMap:\n- {name: a/b, port: 1}\n", []string{"missing key serviceMap[0].address at FILE:2; want {name, port, address}"}},
		{"duplicate", "etcd:\n  prefix: /a\n  servers: []\n  prefix: /b\n", []string{"duplicate key etcd.prefix at FILE:4; it stands first on line 2"}},
		{"duplicate section", "log: {}\nlog: {}\n", []string{"duplicate key log at FILE:2; it stands first on line 1"}},
		{"duplicate in a list", "kubeAPIServer:\n  flags:\n  - name: a\n    name: b\n    value: c\n", []string{"duplicate key kubeAPIServer.flags[0].name at FILE:4"}},
		{"text for a number", "server:\n  securePort: abc\n", []string{`server.securePort: "abc" is not allowed: want a port from 0 to 65535, 0 for any free one (file FILE line 2)`}},
		{"quoted number", "server: {securePort: '1'}\n", []string{`server.securePort: "1" is not allowed`}},
		{"fraction", "server: {securePort: 1.5}\n", []string{`server.securePort: "1.5" is not allowed`}},
		{"huge number", "log: {verbosity: 99999999999999999999}\n", []string{`log.verbosity: "99999999999999999999" is not allowed`}},
		{"number for text", "dataDir: 7\n", []string{`dataDir: "7" is not allowed: want the path of a directory, or nothing for the default place, as text`}},
		{"list for text", "dataDir: [a]\n", []string{`dataDir: "[...]" is not allowed`}},
		{"section for text", "dataDir: {a: b}\n", []string{`dataDir: "{...}" is not allowed`}},
		{"text for a list", "manifests: a\n", []string{`manifests: "a" is not allowed: want a list`}},
		{"number in a list", "manifests: [a, 1]\n", []string{`manifests[1]: "1" is not allowed: want text`}},
		{"text for a section", "server: x\n", []string{`server: "x" is not allowed: want keys below it: bindAddress, securePort, names`}},
		{"text for a bool", "etcd: {unsafeNoFsync: 'yes'}\n", []string{`etcd.unsafeNoFsync: "yes" is not allowed: want true or false`}},
		{"number for a duration", "lifecycle: {stopTimeout: 30}\n", []string{`lifecycle.stopTimeout: "30" is not allowed: want a duration above zero, such as 30s or 2m`}},
		{"quantity", "etcd: {quotaBytes: 8GiB}\n", []string{`etcd.quotaBytes: "8GiB" is not allowed: want a size`}},
		{"expensive quantity", "etcd: {quotaBytes: 1e-999999999}\n", []string{`etcd.quotaBytes: "1e-999999999" is not allowed`}},
		{"port in a list", "serviceMap:\n- {name: a/b, port: x, address: 'x:1'}\n", []string{`serviceMap[0].port: "x" is not allowed: want a port from 1 to 65535 (file FILE line 2)`}},
		{"entry is no mapping", "serviceMap: ['a/b:1=c:2']\n", []string{"serviceMap[0]: \"a/b:1=c:2\" is not allowed: want {name, port, address}"}},
		{"no keys", "- a\n", []string{"line 1 holds no keys; want dataDir, server, etcd"}},
		{"key is a list", "? [a]\n: b\n", []string{"a key at FILE:1 is not plain text"}},
		{"bad syntax", "server: {\n", []string{"reading configuration file FILE: yaml: line"}},
		{"two documents", "log: {}\n---\nlog: {}\n", []string{"more than one YAML document"}},
		{"alias", "dataDir: &a x\nlifecycle:\n  pidFile: *a\n", []string{"line 3: YAML aliases are not supported"}},
		{"merge key", "x: &x {}\nserver:\n  <<: *x\n", []string{"line 3: YAML aliases are not supported"}},
		{"bomb", bomb(), []string{"YAML aliases are not supported"}},
		{"too large", "# " + strings.Repeat("x", maxFileSize), []string{"FILE is larger than 1 MiB"}},
		{"all at once", "server: {securePort: 99999, bindAddress: nowhere}\nlog: {format: xml, verbosity: -1}\nfoo: 1\n",
			[]string{"server.securePort", "server.bindAddress", "log.format", "log.verbosity", "foo"}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			wantErrors(t, LoadOptions{File: write(t, row.text), KubeFlags: kubeFlags()}, row.want...)
		})
	}
}

func bomb() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 9; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), ", "))
	}
	return b.String()
}

// A file that is wrong everywhere does not bury the user, nor take long.
func TestManyErrors(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&b, "someUnknownKeyNumber%d: 1\n", i)
	}
	_, err := Load(LoadOptions{File: write(t, b.String())})
	if err == nil {
		t.Fatal("no error")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != maxErrors+1 || lines[maxErrors] != "and 19950 more" {
		t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-1])
	}
}

// One wrong value is reported once: rules that depend on it are left out.
func TestNoFollowUpErrors(t *testing.T) {
	t.Parallel()
	_, err := Load(LoadOptions{File: write(t, "etcd:\n  servers: https://a:1\n  caFile: /ca\n  certFile: /c\n  keyFile: /k\n")})
	if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "etcd.servers") {
		t.Errorf("got %v, want one error about etcd.servers", err)
	}
}

func TestHarmlessFiles(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty": "", "comment": "# nothing\n", "start": "---\n", "null": "null\n", "braces": "{}\n", "end": "---\nlog: {}\n...\n",
		"null keys": "dataDir:\nserver:\netcd: {servers: , caFile: null, prefix: ~}\nserviceMap:\nkubeAPIServer:\n  flags:\n",
		"json":      `{"server": {"securePort": 6443, "names": []}}`, "bom": "\ufefflog: {}\n", "crlf": "log:\r\n  format: text\r\n",
		"anchor": "dataDir: &unused ''\n",
	} {
		l := mustLoad(t, LoadOptions{File: write(t, text), KubeFlags: kubeFlags()})
		if !reflect.DeepEqual(l.Config, Default()) {
			t.Errorf("%s: got %+v", name, l.Config)
		}
	}
}

// What users name is not touched: dots, upper case, '=', commas, spaces, colons.
func TestUserTextSurvives(t *testing.T) {
	t.Parallel()
	flags := []Flag{
		{"feature-gates", "CBORServingAndStorage=true,kube:WatchListClient=false"},
		{"runtime-config", "api/all=true,Example.Com/v1.Beta=false"},
		{"service-account-issuer", "https://Issuer.Example.com:8443/A.b?c=d"},
		{"anonymous-auth", "false"}, {"max-requests-inflight", "0500"}, {"request-timeout", "1m"},
	}
	text := "kubeAPIServer:\n  flags:\n"
	for _, f := range flags {
		text += fmt.Sprintf("  - name: %s\n    value: %s\n", f.Name, f.Value)
	}
	text += "serviceMap:\n- {name: a-1/b, port: 1, address: Some.Host:2}\nmanifests: ['Dir.With.Dots/A=B, C.yaml']\n"
	path := write(t, text)
	l := mustLoad(t, LoadOptions{File: path, KubeFlags: kubeFlags()})
	if !reflect.DeepEqual(l.Config.KubeAPIServer.Flags, flags) {
		t.Errorf("flags are %q", l.Config.KubeAPIServer.Flags)
	}
	if want := []ServiceMapping{{"a-1/b", 1, "Some.Host:2"}}; !reflect.DeepEqual(l.Config.ServiceMap, want) {
		t.Errorf("service map is %v", l.Config.ServiceMap)
	}
	if want := []string{"Dir.With.Dots/A=B, C.yaml"}; !reflect.DeepEqual(l.Config.Manifests, want) {
		t.Errorf("manifests are %q", l.Config.Manifests)
	}
	for i, f := range flags {
		if got, want := l.Origin("kubeAPIServer.flags["+f.Name+"]"), fmt.Sprintf("file %s line %d", path, 3+2*i); got != want {
			t.Errorf("%s is from %q, want %q", f.Name, got, want)
		}
	}
	groups, o := kubeGroups()
	if err := SetKubeFlags(flat(groups), l.Config.KubeAPIServer.Flags); err != nil {
		t.Fatal(err)
	}
	if o.anonymous || o.timeout != time.Minute || o.runtimeConfig["Example.Com/v1.Beta"] != "false" {
		t.Errorf("kube-apiserver has %+v", o)
	}
}

func TestYAMLRoundTrip(t *testing.T) {
	t.Parallel()
	flags, kube := commandLine(t, "--secure-port=0", "--tls-san=*.a.io,::1", "--map-service=a/b:1=[::1]:2", "--manifests=a: b # c",
		"--enable-admission-plugins=A,B", "--service-account-issuer=true", "--log-format=json", "--stop-timeout=90s", "--etcd-quota-bytes=1.5Gi")
	l := mustLoad(t, LoadOptions{Flags: flags, KubeFlags: kube})
	for _, origins := range []bool{false, true} {
		text, err := l.YAML(origins)
		if err != nil {
			t.Fatal(err)
		}
		again := mustLoad(t, LoadOptions{File: write(t, string(text)), KubeFlags: kubeFlags()})
		if !reflect.DeepEqual(again.Config, l.Config) {
			t.Errorf("got back\n%+v\nwant\n%+v\nfrom\n%s", again.Config, l.Config, text)
		}
		for _, comment := range []string{"securePort: 0 # --secure-port\n", "names: # --tls-san\n", "dataDir: \"\" # default\n",
			"- name: enable-admission-plugins # --enable-admission-plugins\n", "servers: [] # default\n"} {
			if strings.Contains(string(text), comment) != origins {
				t.Errorf("origins %v: %q in\n%s", origins, comment, text)
			}
		}
	}
}
