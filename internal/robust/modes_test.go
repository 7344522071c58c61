package robust

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestAwkwardDirectory uses a data directory whose name is relative, too long
// for a socket, and full of what shells and parsers trip over, with a umask that
// leaves everything open; later by a symlink, and after a kill.
func TestAwkwardDirectory(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.before = "umask 000"
	s.workDir = s.home
	s.dir = "daten für kapi's=tests,%41 ☸/" + strings.Repeat("lang ", 20) + "/data"
	s.env = []string{"TMPDIR=" + os.TempDir()}
	path := filepath.Join(s.home, s.dir)
	s.start()
	_, err := s.client().CoreV1().ConfigMaps(namespace).Create(deadline(t), configMap("kept", ""), metav1.CreateOptions{})
	must(t, err)
	mustBePrivate(t, path)
	sockets, err := os.Readlink(filepath.Join(path, "run", "sockets"))
	must(t, err)
	mustBePrivate(t, sockets)
	s.kill()

	// Moved, and reached by a symlink.
	moved := filepath.Join(s.home, strings.Repeat("m", 120))
	must(t, os.Rename(path, moved))
	path = moved
	link := filepath.Join(s.home, "link")
	must(t, os.Symlink(path, link))
	s.dir = link
	s.start()
	if _, err := os.Stat(sockets); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory of the killed one's sockets is still there: %v", err)
	}
	_, err = s.client().CoreV1().ConfigMaps(namespace).Get(deadline(t), "kept", metav1.GetOptions{})
	must(t, err)
	if target, err := os.Readlink(link); err != nil || target != path {
		t.Errorf("the symlink is %q now (%v)", target, err)
	}
	sockets, err = os.Readlink(filepath.Join(path, "run", "sockets"))
	must(t, err)
	s.stop()
	mustBePrivate(t, path)
	if _, err := os.Stat(sockets); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory of the sockets is still there after a stop: %v", err)
	}
}

// mustBePrivate checks that nobody else can enter dir, and read or write what
// is in it. Certificates and public keys are no secret.
func mustBePrivate(t *testing.T, dir string) {
	t.Helper()
	for name, described := range tree(t, dir) {
		mode, _, _ := strings.Cut(described, " ")
		open := mode[len(mode)-6:] != "------"
		if strings.HasSuffix(name, ".crt") || strings.HasSuffix(name, ".pub") {
			open = mode[len(mode)-6:] != "r--r--"
		}
		if open && mode[0] != 'L' {
			t.Errorf("%s has the mode %s", filepath.Join(dir, name), mode)
		}
	}
}

// nobody is a user that owns nothing.
const nobody = 65534

// unprivileged returns a server that runs as a user to whom permissions apply.
// Its home is that user's.
func unprivileged(t *testing.T) *server {
	t.Helper()
	s := newServer(t)
	if os.Geteuid() != 0 {
		return s
	}
	home, err := os.MkdirTemp("", "kapi-nobody")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	must(t, os.Chown(home, nobody, nobody))
	s.home, s.dir = home, filepath.Join(home, "data")
	s.as = &syscall.Credential{Uid: nobody, Gid: nobody}
	return s
}

// TestPermissions is about directories and ports that a user may not have.
func TestPermissions(t *testing.T) {
	t.Parallel()
	t.Run("directory of another", func(t *testing.T) {
		s := unprivileged(t)
		if s.as == nil {
			t.Skip("making a directory for another user needs root")
		}
		must(t, os.Mkdir(s.dir, 0o700))
		before := tree(t, s.dir)
		mustRefuse(t, s, "data directory", "belongs to uid 0, kapi runs as uid "+fmt.Sprint(nobody), "--data-dir")
		mustBeSame(t, before, tree(t, s.dir))
	})
	t.Run("read-only directory", func(t *testing.T) {
		s := unprivileged(t)
		must(t, os.Mkdir(s.dir, 0o500))
		if s.as != nil {
			must(t, os.Chown(s.dir, nobody, nobody))
		}
		mustRefuse(t, s, "data directory", "not writable", "chmod u+rwx")
	})
	t.Run("no directory can be made", func(t *testing.T) {
		s := unprivileged(t)
		must(t, os.Chmod(s.home, 0o500))
		t.Cleanup(func() { _ = os.Chmod(s.home, 0o700) })
		s.launch()
		if code := s.wait(quickly); code != 1 || !strings.Contains(s.out.String(), "permission denied") || !strings.Contains(s.out.String(), "hint: ") {
			t.Errorf("exit code %d:\n%s", code, s.out)
		}
	})
}

// TestFilesForOthers is about --ready-file, --pid-file and --config.
func TestFilesForOthers(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"ready-file", "pid-file"} {
		for file, want := range map[string]string{
			"/nowhere/at/all": "no such file or directory",
			"diary":           "holds something else than a pid",
			".":               "is a directory",
		} {
			s := newServer(t, "--"+flag, file)
			must(t, os.WriteFile(filepath.Join(s.home, "diary"), []byte("dear diary"), 0o600))
			s.launch()
			code := s.wait(quickly)
			if printed := s.out.String(); code == 0 || !strings.Contains(printed, want) || !strings.Contains(printed, flag) {
				t.Errorf("--%s %s: exit code %d:\n%s", flag, file, code, printed)
			}
			if text, err := os.ReadFile(filepath.Join(s.home, "diary")); string(text) != "dear diary" {
				t.Errorf("--%s %s: the diary is %q, %v", flag, file, text, err)
			}
			if _, err := os.Stat(s.dir); err == nil {
				t.Errorf("--%s %s: the data directory has been made", flag, file)
			}
		}
	}
}

// TestWrongInput is about input that can't be accepted: exit code 2, a line that
// names it, and no data directory.
func TestWrongInput(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		args []string
		env  string
		want string
	}{
		{[]string{"--secure-prt=0"}, "", "did you mean --secure-port?"},
		{[]string{"--secure-port=70000"}, "", "70000"},
		{[]string{"--secure-port=x"}, "", `"x"`},
		{[]string{"--bind-address=example"}, "", `"example"`},
		{[]string{"--stop-timeout=0s"}, "", "--stop-timeout"},
		{[]string{"--stop-timeout=-1s"}, "", "--stop-timeout"},
		{[]string{"--etcd-quota-bytes=5"}, "", "--etcd-quota-bytes"},
		{[]string{"--etcd-servers=ftp://127.0.0.1:1"}, "", "ftp://127.0.0.1:1"},
		{[]string{"--map-service=x"}, "", `"x"`},
		{[]string{"--config=/nowhere"}, "", "/nowhere"},
		{[]string{"--log-format=xml"}, "", "xml"},
		{[]string{"--max-requests-inflight=many"}, "", "many"},
		{[]string{"again"}, "", `"again"`},
		{nil, "KAPI_SERVER_SECUREPRT=1", "KAPI_SERVER_SECUREPRT"},
		{nil, "KAPI_SERVER_BINDADDRESS=example", "example"},
	} {
		s := newServer(t, tc.args...)
		s.env = []string{tc.env}
		s.launch()
		code, printed := s.wait(quickly), s.out.String()
		if code != 2 || !strings.Contains(printed, tc.want) || strings.Count(printed, "\n") > 4 {
			t.Errorf("%v %s: exit code %d:\n%s", tc.args, tc.env, code, printed)
		}
		if _, err := os.Stat(s.dir); err == nil {
			t.Errorf("%v %s: the data directory has been made", tc.args, tc.env)
		}
	}
}
