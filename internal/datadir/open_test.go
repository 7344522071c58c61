package datadir

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/kapi-dev/kapi/internal/fault"
)

// must fails the test when one of the set-up steps failed.
func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func modeOf(t *testing.T, path string) fs.FileMode {
	t.Helper()
	fi, err := os.Lstat(path)
	must(t, err)
	return fi.Mode().Perm()
}

func TestOpenCreates(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a", "b", "kapi")
	d, err := Open(path)
	must(t, err)
	if got := modeOf(t, d.Path()); got != 0o700 {
		t.Errorf("mode %04o, want 0700", got)
	}
	if got := modeOf(t, filepath.Dir(d.Path())); got&0o700 != 0o700 {
		t.Errorf("parent has mode %04o", got)
	}
	again, err := Open(path)
	must(t, err)
	if again.Path() != d.Path() {
		t.Errorf("opened again as %s, first as %s", again.Path(), d.Path())
	}
}

// The umask belongs to the process: this test must not be parallel.
func TestOpenUnderAnyUmask(t *testing.T) {
	for _, umask := range []int{0, 0o022, 0o077} {
		old := syscall.Umask(umask)
		d, err := Open(filepath.Join(t.TempDir(), "kapi"))
		if err == nil {
			err = WriteFileAtomic(d.Kubeconfig(), []byte("secret"), 0o600)
		}
		if err == nil {
			err = WriteFileAtomic(filepath.Join(d.Path(), "public"), nil, 0o644)
		}
		var release func() error
		if err == nil {
			release, err = d.Lock()
		}
		syscall.Umask(old)
		must(t, err)
		for name, want := range map[string]fs.FileMode{"": 0o700, "kubeconfig": 0o600, "public": 0o644, "lock": 0o600} {
			if got := modeOf(t, filepath.Join(d.Path(), name)); got != want {
				t.Errorf("umask %03o: %q has mode %04o, want %04o", umask, name, got, want)
			}
		}
		must(t, release())
	}
}

func TestOpenRelativePath(t *testing.T) {
	t.Chdir(t.TempDir())
	d, err := Open("state")
	must(t, err)
	wd, err := os.Getwd()
	must(t, err)
	wd, err = filepath.EvalSymlinks(wd)
	must(t, err)
	if want := filepath.Join(wd, "state"); d.Path() != want {
		t.Errorf("got %s, want %s", d.Path(), want)
	}
}

func TestOpenResolvesOwnSymlink(t *testing.T) {
	t.Parallel()
	tmp, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	target, link := filepath.Join(tmp, "real"), filepath.Join(tmp, "link")
	must(t, os.Mkdir(target, 0o700), os.Symlink("real", link))
	d, err := Open(link)
	must(t, err)
	if d.Path() != target {
		t.Errorf("got %s, want %s", d.Path(), target)
	}
}

func TestOpenTightens(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		mode    fs.FileMode
		files   []string
		want    fs.FileMode
		wantErr bool
	}{
		{"empty and open to all", 0o777, nil, 0o700, false},
		{"empty and readable by the group", 0o750, nil, 0o700, false},
		{"root of a fresh file system", 0o755, []string{"lost+found"}, 0o700, false},
		{"used before", 0o755, []string{"lock", "audit.log"}, 0o700, false},
		{"only names of ours", 0o755, []string{"kubeconfig"}, 0o700, false},
		{"private with files of others", 0o700, []string{"thesis.tex"}, 0o700, false},
		{"a directory of something else", 0o755, []string{"thesis.tex"}, 0o755, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := t.TempDir()
			for _, f := range tt.files {
				must(t, os.WriteFile(filepath.Join(path, f), nil, 0o600))
			}
			must(t, os.Chmod(path, tt.mode))
			_, err := Open(path)
			if (err != nil) != tt.wantErr {
				t.Errorf("got error %v, want one: %v", err, tt.wantErr)
			}
			if err != nil && fault.Hint(err) == "" {
				t.Errorf("no hint for %v", err)
			}
			if got := modeOf(t, path); got != tt.want {
				t.Errorf("mode %04o, want %04o", got, tt.want)
			}
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	symlink := func(name, target string) func(*testing.T, string) string {
		return func(t *testing.T, tmp string) string {
			must(t, os.Symlink(target, filepath.Join(tmp, name)))
			return tmp
		}
	}
	tests := []struct {
		name string
		make func(t *testing.T, tmp string) string
		want string
	}{
		{"the empty path", func(*testing.T, string) string { return "" }, "empty"},
		{"a file", func(t *testing.T, tmp string) string {
			p := filepath.Join(tmp, "file")
			must(t, os.WriteFile(p, nil, 0o600))
			return p
		}, "not a directory"},
		{"below a file", func(t *testing.T, tmp string) string {
			p := filepath.Join(tmp, "file")
			must(t, os.WriteFile(p, nil, 0o600))
			return filepath.Join(p, "kapi")
		}, "not a directory"},
		{"a dangling symlink", func(t *testing.T, tmp string) string {
			p := filepath.Join(tmp, "link")
			must(t, os.Symlink("nowhere", p))
			return p
		}, "does not exist"},
		{"pki as symlink", symlink("pki", "/tmp"), "pki is a symlink"},
		{"etcd as symlink", symlink("etcd", "/tmp"), "etcd is a symlink"},
		{"run as symlink", symlink("run", "/tmp"), "run is a symlink"},
		{"kubeconfig as symlink", symlink("kubeconfig", "/tmp/x"), "kubeconfig is a symlink"},
		{"server.json as symlink", symlink("server.json", "/tmp/x"), "server.json is a symlink"},
		{"lock as symlink", symlink("lock", "/tmp/x"), "lock is a symlink"},
		{"pki as file", func(t *testing.T, tmp string) string {
			must(t, os.WriteFile(filepath.Join(tmp, "pki"), nil, 0o600))
			return tmp
		}, "pki is not a directory"},
		{"lock as pipe", func(t *testing.T, tmp string) string {
			must(t, syscall.Mkfifo(filepath.Join(tmp, "lock"), 0o600))
			return tmp
		}, "lock is not a regular file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tmp := t.TempDir()
			must(t, os.Chmod(tmp, 0o755))
			_, err := Open(tt.make(t, tmp))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want an error with %q", err, tt.want)
			}
			if !strings.Contains(fault.Hint(err)+err.Error(), "--data-dir") && fault.Hint(err) == "" {
				t.Errorf("no way out named for %v", err)
			}
			if got := modeOf(t, tmp); got != 0o755 {
				t.Errorf("a refused directory was changed to %04o", got)
			}
		})
	}
}

func TestOpenRefusesForeignOwner(t *testing.T) {
	t.Parallel()
	path := "/" // root's, for everybody but root
	if os.Geteuid() == 0 {
		path = t.TempDir()
		must(t, os.Chown(path, 65534, -1))
	}
	_, err := Open(path)
	if err == nil || !strings.Contains(err.Error(), "belongs to uid") || fault.Hint(err) == "" {
		t.Errorf("got %v with hint %q", err, fault.Hint(err))
	}
}
