package config

import (
	"os"
	"reflect"
	"testing"
)

// Whatever the file holds: no panic, and what loads as valid prints as a file
// that loads as the same.
func FuzzParseFile(f *testing.F) {
	data, err := os.ReadFile(sample)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	for _, text := range []string{
		"", "{}", "a: b", "server: {securePort: 1}\n", "serviceMap:\n- {name: a/b, port: 1, address: 'x:2'}\n",
		"kubeAPIServer:\n  flags:\n  - {name: v, value: 1}\n  - {name: anonymous-auth, value: 'false'}\n  - {name: feature-gates, value: 'A.b=true,C=\"d\"'}\n",
		"etcd: {servers: ['https://a:1'], quotaBytes: 1.5Gi, unsafeNoFsync: true}\n", "lifecycle: {stopTimeout: 1h2m3s}\n",
		"manifests: [\"a\\nb\", 'c: d # e', '- f']\n", "a: &a [*a]\n", "? {}\n: - !!binary x\n", "<<: {log: {}}\n", "--- 1\n--- 2\n", "log: !!map {format: !x json}\n", bomb(),
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		cfg, origins, ok := loadBytes(t, data)
		if !ok {
			return
		}
		for _, comments := range []bool{false, true} {
			text, err := (&Loaded{Config: cfg, origins: origins}).YAML(comments)
			if err != nil {
				t.Fatalf("printing %+v: %v", cfg, err)
			}
			again, _, ok := loadBytes(t, text)
			if !ok || !reflect.DeepEqual(again, cfg) {
				t.Fatalf("%q loads as\n%+v\nprints as\n%s\nwhich loads as\n%+v (valid: %v)", data, cfg, text, again, ok)
			}
		}
	})
}

// loadBytes is Load of a file's text, without the file.
func loadBytes(t *testing.T, data []byte) (Config, map[string]string, bool) {
	t.Helper()
	kube := kubeFlags()
	file, errs := parseFile("f", data, kube)
	errs = append(errs, checkKubeFlags(file.kube, kube)...)
	cfg, origins, err := merge(file, newLayer(), newLayer())
	if err != nil {
		t.Fatalf("%q: %v", data, err)
	}
	errs = append(errs, cfg.problems(origins, file.failed)...)
	for _, err := range errs {
		if err.Error() == "" {
			t.Fatalf("%q: an empty error", data)
		}
	}
	return cfg, origins, len(errs) == 0
}

// What ParseServiceMapping accepts is valid, and its text means the same, alone
// and in a list.
func FuzzParseServiceMapping(f *testing.F) {
	for _, text := range []string{"kube-system/metrics-server:443=127.0.0.1:4443", "a/b:1=[::1]:2", "a/b:01=x.Y_z.:02", "a/b:1=c", "=", ":=:", "a/b:1=[fe80::1%a,b]:2", "a/b:1=\"c\":1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ParseServiceMapping(text)
		if err != nil {
			return
		}
		if again, err := ParseServiceMapping(m.String()); err != nil || again != m {
			t.Fatalf("%q is %v, which is %v, %v", text, m, again, err)
		}
		c := Default()
		c.ServiceMap = []ServiceMapping{m}
		if err := c.Validate(); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		list, err := mappingsKind().parse(m.String() + ",a/b:1=c:1")
		if want := []ServiceMapping{m, {"a/b", 1, "c:1"}}; err != nil || !reflect.DeepEqual(list, want) {
			t.Fatalf("%q in a list: %v, %v", text, list, err)
		}
	})
}
