package pki

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kapi-dev/kapi/internal/fault"
)

const marker = "hunter2-do-not-tell"

type damage func(t *testing.T, dir string)

func write(name, content string) damage {
	return func(t *testing.T, dir string) {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
}

func remove(names ...string) damage {
	return func(t *testing.T, dir string) {
		for _, n := range names {
			must(t, os.Remove(filepath.Join(dir, n)))
		}
	}
}

// truncate leaves half of a file, as a file system without journal may.
func truncate(name string) damage {
	return func(t *testing.T, dir string) {
		path := filepath.Join(dir, name)
		fi, err := os.Stat(path)
		must(t, err, os.Truncate(path, fi.Size()/2))
	}
}

// foreign puts the file of another kapi there.
func foreign(names ...string) damage {
	return func(t *testing.T, dir string) {
		other := t.TempDir()
		ensureAt(t, other, birth)
		for _, n := range names {
			must(t, os.WriteFile(filepath.Join(dir, n), readFile(t, filepath.Join(other, n)), 0o600))
		}
	}
}

func badKey() string {
	return "-----BEGIN EC PRIVATE KEY-----\naHVudGVyMg==\n-----END EC PRIVATE KEY-----\n"
}

func TestDamagedLeafIsMadeAgain(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		damage damage
		want   []string // files that may differ afterwards
	}{
		{"certificate missing", remove("apiserver.crt"), []string{"apiserver.crt"}},
		{"key missing", remove("apiserver.key"), []string{"apiserver.crt", "apiserver.key"}},
		{"both missing", remove("admin.crt", "admin.key"), []string{"admin.crt", "admin.key"}},
		{"certificate empty", write("admin.crt", ""), []string{"admin.crt"}},
		{"certificate garbage", write("front-proxy-client.crt", "garbage"), []string{"front-proxy-client.crt"}},
		{"certificate cut", truncate("apiserver.crt"), []string{"apiserver.crt"}},
		{"key empty", write("admin.key", ""), []string{"admin.crt", "admin.key"}},
		{"key garbage", write("admin.key", marker), []string{"admin.crt", "admin.key"}},
		{"key not a key", write("admin.key", badKey()), []string{"admin.crt", "admin.key"}},
		{"key cut", truncate("apiserver.key"), []string{"apiserver.crt", "apiserver.key"}},
		{"key of another pair", foreign("admin.key"), []string{"admin.crt", "admin.key"}},
		{"certificate of another kapi", foreign("apiserver.crt"), []string{"apiserver.crt"}},
		{"pair of another kapi", foreign("apiserver.crt", "apiserver.key"), []string{"apiserver.crt", "apiserver.key"}},
		{"pair of another leaf", func(t *testing.T, dir string) {
			must(t, os.Rename(filepath.Join(dir, "admin.crt"), filepath.Join(dir, "apiserver.crt")))
			must(t, os.Rename(filepath.Join(dir, "admin.key"), filepath.Join(dir, "apiserver.key")))
		}, []string{"apiserver.crt", "apiserver.key", "admin.crt", "admin.key"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			ensureAt(t, dir, birth)
			before := filesOf(t, dir)
			tt.damage(t, dir)
			m := ensureAt(t, dir, birth)
			got := changed(before, filesOf(t, dir))
			for _, n := range tt.want {
				delete(got, n)
			}
			if len(got) != 0 {
				t.Errorf("changed too: %v", got)
			}
			if m.Admin.NotAfter.IsZero() || m.Serving.NotAfter.IsZero() || m.ProxyClient.NotAfter.IsZero() {
				t.Errorf("no end reported: %+v", m)
			}
			checkWorks(t, m, birth)
		})
	}
}

func TestDamagedTrustIsAnError(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		damage damage
		want   string // file named in the error
	}{
		{"cluster CA key garbage", write("ca.key", marker), "ca.key"},
		{"cluster CA key not a key", write("ca.key", badKey()), "ca.key"},
		{"cluster CA key empty", write("ca.key", ""), "ca.key"},
		{"cluster CA key cut", truncate("ca.key"), "ca.key"},
		{"cluster CA key missing", remove("ca.key"), "ca.key is missing"},
		{"cluster CA key of another", foreign("ca.key"), "ca.key"},
		{"cluster CA certificate garbage", write("ca.crt", marker), "ca.crt"},
		{"cluster CA certificate cut", truncate("ca.crt"), "ca.crt"},
		{"cluster CA certificate not a CA", func(t *testing.T, dir string) {
			for _, ext := range []string{".crt", ".key"} {
				must(t, os.Rename(filepath.Join(dir, "admin"+ext), filepath.Join(dir, "ca"+ext)))
			}
		}, "ca.crt holds no CA certificate"},
		{"front proxy CA key", write("front-proxy-ca.key", marker), "front-proxy-ca.key"},
		{"etcd CA key", write("etcd-ca.key", marker), "etcd-ca.key"},
		{"service-account key garbage", write("sa.key", marker), "sa.key"},
		{"service-account key cut", truncate("sa.key"), "sa.key"},
		{"service-account key missing", remove("sa.key"), "sa.key is missing"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			ensureAt(t, dir, birth)
			tt.damage(t, dir)
			before := filesOf(t, dir)
			_, err := Ensure(optionsAt(dir, birth))
			if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, tt.want)) {
				t.Fatalf("got %v, want an error that names %s", err, tt.want)
			}
			if hint := fault.Hint(err); !strings.Contains(hint, "backup") {
				t.Errorf("the hint is %q", hint)
			}
			if strings.Contains(err.Error()+fault.Hint(err), marker) {
				t.Errorf("content of a key in the error: %v", err)
			}
			after := filesOf(t, dir)
			for _, name := range []string{"ca.crt", "ca.key", "front-proxy-ca.key", "etcd-ca.key", "sa.key", "sa.pub"} {
				if before[name] != after[name] {
					t.Errorf("%s was replaced", name)
				}
			}
		})
	}
}

// The certificate of an authority can be made again from its key: what clients
// have of it stays good.
func TestLostAuthorityCertificate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m := ensureAt(t, dir, birth)
	old := newParty(t, m.Admin, m.ClusterCA.Cert)
	must(t, os.Remove(m.ClusterCA.Cert))
	m = ensureAt(t, dir, birth.Add(day))
	checkWorks(t, m, birth.Add(day))
	if _, err := handshake(newParty(t, m.Serving, m.ClusterCA.Cert), old, "localhost", birth.Add(day)); err != nil {
		t.Errorf("a client from before: %v", err)
	}
}
