package robust

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// disk is a small file system of its own.
type disk struct {
	t    testing.TB
	path string
}

// newDisk mounts a file system of this many megabytes, or skips the test.
func newDisk(t testing.TB, megabytes int) *disk {
	t.Helper()
	d := &disk{t: t, path: filepath.Join(t.TempDir(), "disk")}
	must(t, os.Mkdir(d.path, 0o700))
	if err := unix.Mount("tmpfs", d.path, "tmpfs", 0, fmt.Sprintf("size=%dm,mode=0700", megabytes)); err != nil {
		t.Skipf("a small file system can't be mounted (%v): run this test as root, with the right to mount", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(d.path, unix.MNT_DETACH); err != nil {
			t.Errorf("unmounting %s: %v", d.path, err)
		}
	})
	return d
}

func (d *disk) ballast() string { return filepath.Join(d.path, "ballast") }

// fill leaves this many kilobytes free.
func (d *disk) fill(left int64) {
	d.t.Helper()
	var st unix.Statfs_t
	must(d.t, unix.Statfs(d.path, &st))
	f, err := os.OpenFile(d.ballast(), os.O_CREATE|os.O_WRONLY, 0o600)
	must(d.t, err)
	defer f.Close()
	info, err := f.Stat()
	must(d.t, err)
	size := info.Size() + int64(st.Bavail)*st.Bsize - left<<10
	must(d.t, f.Truncate(min(size, info.Size())))
	must(d.t, unix.Fallocate(int(f.Fd()), 0, 0, max(size, 1)))
}

// free gives the room back.
func (d *disk) free() {
	d.t.Helper()
	must(d.t, os.Remove(d.ballast()))
}

// TestFullDisk writes until the disk is full: the server says so and ends, or
// refuses; it does not crash. When there is room again it has all that it had
// acknowledged.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	d := newDisk(t, 200)
	s := newServer(t)
	s.dir = filepath.Join(d.path, "data")
	s.start()
	d.fill(6 << 10)
	written := map[string]string{}
	value := strings.Repeat("0123456789abcdef", 100_000/16)
	begun, ended := fillUp(t, s, func(ctx context.Context, client kubernetes.Interface, i int) error {
		name := fmt.Sprintf("full-%d", i)
		_, err := client.CoreV1().ConfigMaps(namespace).Create(ctx, configMap(name, value), metav1.CreateOptions{})
		if err == nil {
			written[name] = value
		}
		return err
	})
	t.Logf("full after %d objects; %s %s later, having said:\n%s", len(written), ended, time.Since(begun).Round(time.Millisecond), lastLines(s.out.String(), 5))
	if len(written) == 0 {
		t.Fatal("nothing was written")
	}

	t.Run("start", func(t *testing.T) {
		// Not enough for anything, then enough for all files but the database.
		for _, left := range []int64{0, 64}[:size(1, 2)] {
			d.fill(left)
			again := newServer(t)
			again.dir = s.dir
			again.launch()
			if again.await(func() bool { _, err := os.Stat(again.ready()); return err == nil }) == nil {
				t.Logf("with %d KB left the start works", left)
				again.kill()
				continue
			}
			mustSayFull(t, again)
			t.Logf("with %d KB left:\n%s", left, lastLines(again.out.String(), 3))
		}
	})

	d.free()
	s.start()
	found := map[string]string{}
	_, err := each(deadline(t), s.client(), 100, func(m *corev1.ConfigMap) { found[m.Name] = m.Data["value"] })
	must(t, err)
	for name, value := range written {
		if found[name] != value {
			t.Errorf("%s, which was acknowledged, has %d bytes now instead of %d", name, len(found[name]), len(value))
		}
	}
	_, err = s.client().CoreV1().ConfigMaps(namespace).Create(deadline(t), configMap("afterwards", ""), metav1.CreateOptions{})
	must(t, err)
	s.stop()
}

// fillUp writes until the server takes no more, and returns when that was, and
// how it was seen.
func fillUp(t *testing.T, s *server, write func(context.Context, kubernetes.Interface, int) error) (at time.Time, how string) {
	t.Helper()
	client := s.client()
	for i := 0; ; i++ {
		begun := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), quickly)
		err := write(ctx, client, i)
		cancel()
		if err == nil {
			continue
		}
		// Was that all, or does it end?
		select {
		case <-s.ended:
			mustSayFull(t, s)
			return begun, fmt.Sprintf("it has ended with code %d", s.cmd.ProcessState.ExitCode())
		case <-time.After(quickly):
		}
		if errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the server neither answers nor ends:\n%s", s.out)
		}
		s.stop()
		return begun, fmt.Sprintf("it answers %q", err)
	}
}

// mustSayFull checks the end of a server that had no room.
func mustSayFull(t *testing.T, s *server) {
	t.Helper()
	code, printed := s.wait(quickly), s.out.String()
	mustBeCalm(t, printed)
	if code != 1 || !strings.Contains(printed, "no space left on device") || !strings.Contains(printed, "\nhint: ") || !strings.Contains(printed, "\nerror: ") {
		t.Errorf("exit code %d of a server on a full disk:\n%s", code, printed)
	}
	for line := range strings.Lines(printed) {
		if strings.HasPrefix(line, "error: ") && !strings.Contains(line, "no space left on device") {
			t.Errorf("the reason does not say that the disk is full: %s", line)
		}
	}
}

// TestFullLog leaves no room for the next file of the log while the database
// does not grow: a refused create is in the log only.
func TestFullLog(t *testing.T) {
	t.Parallel()
	if !full() {
		t.Skip("writes 128 MB: KAPI_ROBUST=full")
	}
	d := newDisk(t, 200)
	s := newServer(t)
	s.dir = filepath.Join(d.path, "data")
	s.start()
	d.fill(20 << 10) // two files of the log, of 64 MB each, are reserved
	value := strings.Repeat("0123456789abcdef", 900_000/16)
	create := func(ctx context.Context, client kubernetes.Interface, i int) error {
		_, err := client.CoreV1().ConfigMaps(namespace).Create(ctx, configMap("there", value), metav1.CreateOptions{})
		if i > 0 && outcomeOf(err) == exists {
			return nil
		}
		return err
	}
	begun, ended := fillUp(t, s, create)
	t.Logf("full; %s %s later, having said:\n%s", ended, time.Since(begun).Round(time.Millisecond), lastLines(s.out.String(), 5))
	must(t, unix.Mount("tmpfs", d.path, "tmpfs", unix.MS_REMOUNT, "size=400m,mode=0700"))
	s.start()
	object, err := s.client().CoreV1().ConfigMaps(namespace).Get(deadline(t), "there", metav1.GetOptions{})
	must(t, err)
	if object.Data["value"] != value {
		t.Errorf("what was acknowledged has %d bytes now instead of %d", len(object.Data["value"]), len(value))
	}
	s.stop()
}

// TestReadOnlyDisk starts on one.
func TestReadOnlyDisk(t *testing.T) {
	t.Parallel()
	d := newDisk(t, 1)
	must(t, unix.Mount("tmpfs", d.path, "tmpfs", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	s := newServer(t)
	s.dir = d.path
	mustRefuse(t, s, "data directory", "read-only file system", "read-write")
	s.dir = filepath.Join(d.path, "new")
	mustRefuse(t, s, "data directory", "read-only file system", "--data-dir")
}

// TestSmallDisk starts on a disk that has never had enough room.
func TestSmallDisk(t *testing.T) {
	t.Parallel()
	d := newDisk(t, 30)
	s := newServer(t)
	s.dir = filepath.Join(d.path, "data")
	mustRefuse(t, s, "etcd", "disk full", "no space left on device", "room")
	if left := tree(t, filepath.Join(s.dir, "etcd")); len(left) > 1 {
		t.Errorf("the refused start has left %v", left)
	}
}
