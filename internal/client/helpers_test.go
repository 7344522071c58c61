package client

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kapi-dev/kapi/internal/pki"
)

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func put(t *testing.T, path, content string) string {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600))
	return path
}

func get(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return string(data)
}

func load(t *testing.T, path string) *clientcmdapi.Config {
	t.Helper()
	c, err := clientcmd.LoadFromFile(path)
	must(t, err)
	return c
}

func list(t *testing.T, dir string) []string {
	t.Helper()
	found, err := os.ReadDir(dir)
	must(t, err)
	var names []string
	for _, e := range found {
		names = append(names, e.Name())
	}
	return names
}

// fakeKapi is the data directory of a kapi, with real certificates.
type fakeKapi struct {
	*pki.Material
	kubeconfig string
}

func newKapi(t *testing.T, url string) *fakeKapi {
	t.Helper()
	dir := t.TempDir()
	m, err := pki.Ensure(pki.Options{Dir: filepath.Join(dir, "pki")})
	must(t, err)
	k := &fakeKapi{m, filepath.Join(dir, "kubeconfig")}
	k.moveTo(t, url)
	return k
}

// moveTo is a restart on another address.
func (k *fakeKapi) moveTo(t *testing.T, url string) {
	t.Helper()
	must(t, k.WriteKubeconfig(k.kubeconfig, url))
}

func envOf(value string) func(string) string {
	return func(name string) string {
		if name == "KUBECONFIG" {
			return value
		}
		return ""
	}
}

func ownerOf(fi os.FileInfo) uint32 {
	return fi.Sys().(*syscall.Stat_t).Uid
}
