package robust

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// refusal is a start that must fail.
type refusal struct {
	name string
	// prepare makes a mess of a new server. It returns the directory that the
	// refused start must leave as it is, with names that may change; "" is none.
	prepare func(t *testing.T, s *server) (untouched string, but []string)
	want    []string // in the output
	code    int
}

// mustRefuse starts the server; it must say what is wrong and what to do.
func mustRefuse(t *testing.T, s *server, want ...string) {
	t.Helper()
	mustEnd(t, s, 1, want...)
}

func mustEnd(t *testing.T, s *server, code int, want ...string) {
	t.Helper()
	s.launch()
	if got := s.wait(quickly); got != code {
		t.Errorf("exit code %d, want %d", got, code)
	}
	printed := s.out.String()
	for _, text := range append(want, "\nerror: starting ", "\nhint: ") {
		if !strings.Contains("\n"+printed, text) {
			t.Errorf("%q is not in the output", text)
		}
	}
	lines := 0
	for line := range strings.Lines(printed) {
		// etcd says of a busy machine that it is slow.
		if !strings.Contains(line, "slow") && !strings.Contains(line, "took too long") {
			lines++
		}
	}
	if lines > 12 {
		t.Errorf("%d lines are too many to find the reason in", lines)
	}
	if t.Failed() {
		t.Logf("printed:\n%s", printed)
	}
}

var refusals = []refusal{
	{"a file", func(t *testing.T, s *server) (string, []string) {
		must(t, os.WriteFile(s.dir, []byte("a diary"), 0o600))
		return s.dir, nil
	}, []string{"data directory", "is not a directory", "--data-dir"}, 1},

	{"below a file", func(t *testing.T, s *server) (string, []string) {
		must(t, os.WriteFile(s.dir, []byte("a diary"), 0o600))
		s.dir += "/below"
		return filepath.Dir(s.dir), nil
	}, []string{"data directory", "not a directory", "--data-dir"}, 1},

	{"dangling symlink", func(t *testing.T, s *server) (string, []string) {
		must(t, os.Symlink("/nowhere/at/all", s.dir))
		return s.dir, nil
	}, []string{"data directory", "symlink", "does not exist"}, 1},

	{"open to others, with files of others", func(t *testing.T, s *server) (string, []string) {
		must(t, os.Mkdir(s.dir, 0o700))
		must(t, os.Chmod(s.dir, 0o755))
		must(t, os.WriteFile(s.dir+"/diary", []byte("a diary"), 0o600))
		return s.dir, nil
	}, []string{"data directory", "not kapi's", "chmod 700"}, 1},

	{"a symlink at the place of the keys", func(t *testing.T, s *server) (string, []string) {
		must(t, os.Mkdir(s.dir, 0o700))
		must(t, os.Symlink(t.TempDir(), s.dir+"/pki"))
		return s.dir, nil
	}, []string{"data directory", "pki is a symlink"}, 1},

	{"a directory at the place of the lock", func(t *testing.T, s *server) (string, []string) {
		must(t, os.MkdirAll(s.dir+"/lock", 0o700))
		return s.dir, nil
	}, []string{"data directory", "lock is not a regular file"}, 1},

	{"no etcd directory", func(t *testing.T, s *server) (string, []string) {
		must(t, os.MkdirAll(s.dir+"/etcd", 0o700))
		must(t, os.WriteFile(s.dir+"/etcd/diary", []byte("a diary"), 0o600))
		return s.dir + "/etcd", nil
	}, []string{"etcd", "diary"}, 2},

	{"no such address", func(t *testing.T, s *server) (string, []string) {
		s.args = []string{"--bind-address=192.0.2.1"} // of documentation, RFC 5737
		return "", nil
	}, []string{"listener", "192.0.2.1", "--bind-address"}, 1},

	{"the port of another", func(t *testing.T, s *server) (string, []string) {
		taken, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		t.Cleanup(func() { _ = taken.Close() })
		_, port, err := net.SplitHostPort(taken.Addr().String())
		must(t, err)
		s.args = []string{"--secure-port=" + port}
		return "", nil
	}, []string{"listener", "address already in use: taken by robust", fmt.Sprintf("(pid %d)", os.Getpid()), "--secure-port"}, 1},

	{"too few open files", func(t *testing.T, s *server) (string, []string) {
		s.before = "ulimit -n 100"
		return s.dir + "/etcd", nil
	}, []string{"etcd", "file descriptor limit", "ulimit -n"}, 1},

	{"authority damaged", func(t *testing.T, s *server) (string, []string) {
		return damage(t, s, "pki/ca.crt")
	}, []string{"certificates", "pki/ca.crt", "backup"}, 1},

	{"authority's key damaged", func(t *testing.T, s *server) (string, []string) {
		return damage(t, s, "pki/ca.key")
	}, []string{"certificates", "pki/ca.key", "backup"}, 1},

	{"service account key damaged", func(t *testing.T, s *server) (string, []string) {
		return damage(t, s, "pki/sa.key")
	}, []string{"certificates", "pki/sa.key", "backup"}, 1},

	{"byte of the log flipped", func(t *testing.T, s *server) (string, []string) {
		wal := onlyWAL(t, s.dir)
		flip(t, wal, placesOf(t, wal, "/registry/configmaps/default/sample-7")[0]+5)
		return s.dir + "/etcd", nil
	}, []string{"etcd", "write-ahead log is damaged", ".wal at byte", "snapshot"}, 1},

	{"length in the log flipped", func(t *testing.T, s *server) (string, []string) {
		wal := onlyWAL(t, s.dir)
		flip(t, wal, 1) // of the first record
		return s.dir + "/etcd", nil
	}, []string{"etcd", "write-ahead log is damaged", "snapshot"}, 1},

	{"log gone", func(t *testing.T, s *server) (string, []string) {
		must(t, os.Remove(onlyWAL(t, s.dir)))
		return s.dir + "/etcd", nil
	}, []string{"etcd", "write-ahead log is missing", "snapshot"}, 1},

	{"database without its first pages", func(t *testing.T, s *server) (string, []string) {
		overwrite(t, dbFile(s.dir), 0, make([]byte, 2*os.Getpagesize()))
		return s.dir + "/etcd", nil
	}, []string{"etcd", "database is damaged", dbSuffix, "snapshot"}, 1},

	{"database with an empty page", func(t *testing.T, s *server) (string, []string) {
		// All copies: one of them is the page in use, the others are free.
		page := int64(os.Getpagesize())
		for _, at := range placesOf(t, dbFile(s.dir), "/registry/configmaps/default/sample-7") {
			overwrite(t, dbFile(s.dir), at/page*page, make([]byte, page))
		}
		return s.dir + "/etcd", nil
	}, []string{"etcd", "database is damaged", dbSuffix, "snapshot"}, 1},

	{"database cut short", func(t *testing.T, s *server) (string, []string) {
		must(t, os.Truncate(dbFile(s.dir), 16<<10))
		return s.dir + "/etcd", nil
	}, []string{"etcd", "database is damaged", dbSuffix, "snapshot"}, 1},

	{"database replaced by something else", func(t *testing.T, s *server) (string, []string) {
		must(t, os.WriteFile(dbFile(s.dir), []byte(strings.Repeat("a diary ", 10_000)), 0o600))
		return s.dir + "/etcd", nil
	}, []string{"etcd", "database is damaged", dbSuffix, "snapshot"}, 1},
}

const dbSuffix = "member/snap/db"

// sampled are the refusals of a directory that held something.
var sampled = map[string]bool{
	"authority damaged": true, "authority's key damaged": true, "service account key damaged": true,
	"byte of the log flipped": true, "length in the log flipped": true, "log gone": true,
	"database without its first pages": true, "database with an empty page": true,
	"database cut short": true, "database replaced by something else": true,
}

// damage replaces a file by nonsense. Its directory is to stay as it is; etcd,
// which starts at the same time, may have got on in the meantime.
func damage(t *testing.T, s *server, file string) (string, []string) {
	t.Helper()
	path := filepath.Join(s.dir, file)
	must(t, os.WriteFile(path, []byte("a diary\n"), 0o600))
	return filepath.Dir(path), nil
}

// TestRefused starts on whatever can't be used: the start says what is wrong
// and what to do, and changes nothing.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, r := range refusals {
		t.Run(r.name, func(t *testing.T) {
			var s *server
			if sampled[r.name] {
				s = newSampled(t)
			} else {
				s = newServer(t)
			}
			dir, but := r.prepare(t, s)
			if dir == "" {
				mustRefuse(t, s, r.want...)
				return
			}
			before := tree(t, dir, but...)
			mustEnd(t, s, r.code, r.want...)
			mustBeSame(t, before, tree(t, dir, but...))
		})
	}
}

// TestRepaired starts on damage that costs nothing.
func TestRepaired(t *testing.T) {
	t.Parallel()
	s := newSampled(t)
	// What a power failure leaves of a write that was never acknowledged: a
	// length (4096), and only the first sectors of what it promises.
	wal := onlyWAL(t, s.dir)
	torn := append([]byte{0, 16, 0, 0, 0, 0, 0, 0}, strings.Repeat("some of it ", 60)...)
	overwrite(t, wal, walEnd(t, wal), torn)
	// And what is made again from something else.
	for _, name := range []string{"kubeconfig", "server.json", "pki/apiserver.crt", "pki/admin.key", "pki/front-proxy-client.crt", "pki/sa.pub"} {
		must(t, os.WriteFile(filepath.Join(s.dir, name), []byte("a diary\n"), 0o600))
	}
	mustHaveSample(t, s)
	if !strings.Contains(s.out.String(), "cut off") {
		t.Errorf("the start does not say that the last write was cut off:\n%s", s.out)
	}
	if full() {
		mustHaveSample(t, s)
	}
}

// TestTwice starts a second kapi on the directory of a first, and another on
// its port.
func TestTwice(t *testing.T) {
	t.Parallel()
	first := newServer(t, "--pid-file=pid")
	first.start()
	pid := fmt.Sprintf("pid %d", first.cmd.Process.Pid)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(first.config().Host, "https://"))
	must(t, err)

	second := newServer(t)
	second.dir = first.dir
	before := tree(t, first.dir, "etcd", "etcd/member", "run")
	begun := time.Now()
	mustRefuse(t, second, "data directory", first.dir, pid, "--data-dir")
	t.Logf("refused after %s", time.Since(begun).Round(time.Millisecond))
	for name, was := range before {
		if strings.HasPrefix(name, "etcd/") {
			continue // the first one is at work there
		}
		if now := tree(t, first.dir)[name]; now != was {
			t.Errorf("%s was %s, and is %s now", name, was, now)
		}
	}

	// By another name.
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(first.dir, link))
	second = newServer(t)
	second.dir = link
	mustRefuse(t, second, "data directory", first.dir, pid)

	second = newServer(t, "--secure-port="+port)
	name := filepath.Base(binaries(t).kapi)
	mustRefuse(t, second, "listener", port, "taken by "+name[:min(15, len(name))], pid, "--secure-port")

	second = newServer(t, "--pid-file="+filepath.Join(first.home, "pid"))
	second.launch()
	if code := second.wait(quickly); code != 1 || !strings.Contains(second.out.String(), "process "+strconv.Itoa(first.cmd.Process.Pid)+" is running") {
		t.Errorf("exit code %d with the pid-file of another:\n%s", code, second.out)
	}

	if _, err := first.client().CoreV1().Namespaces().Get(deadline(t), namespace, metav1.GetOptions{}); err != nil {
		t.Errorf("the first one, after all: %v", err)
	}
	first.stop()
}

// TestRace starts several at once on a directory that is not there yet: one of
// them gets it, and the others say so.
func TestRace(t *testing.T) {
	t.Parallel()
	servers := make([]*server, 4)
	for i := range servers {
		servers[i] = newServer(t)
		servers[i].dir = servers[0].dir
		servers[i].launch()
	}
	var winner *server
	for _, s := range servers {
		err := s.await(func() bool { _, err := os.Stat(s.ready()); return err == nil })
		switch {
		case err == nil && winner != nil:
			t.Error("two have the directory")
		case err == nil:
			winner = s
		case s.wait(quickly) != 1 || !strings.Contains(s.out.String(), "is in use by"):
			t.Errorf("one of those that lost has ended so:\n%s", s.out)
		}
	}
	if winner == nil {
		t.Fatal("none has got the directory")
	}
	_, err := winner.client().CoreV1().ConfigMaps(namespace).Create(deadline(t), configMap("won", ""), metav1.CreateOptions{})
	must(t, err)
	winner.stop()
}
