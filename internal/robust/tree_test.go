package robust

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// sampleSize is the number of ConfigMaps in the sample.
const sampleSize = 50

func sampleName(i int) string { return fmt.Sprintf("sample-%d", i) }

// sampleDir is a data directory after a clean stop, made once.
var sampleDir = struct {
	once sync.Once
	path string
}{}

// newSampled returns a server on a copy of the sample.
func newSampled(t *testing.T, args ...string) *server {
	t.Helper()
	sampleDir.once.Do(func() {
		s := newServer(t)
		s.start()
		ctx, client := deadline(t), s.client()
		for i := range sampleSize {
			_, err := client.CoreV1().ConfigMaps(namespace).Create(ctx, configMap(sampleName(i), "sample"), metav1.CreateOptions{})
			must(t, err)
		}
		s.stop()
		wal := onlyWAL(t, s.dir)
		// What is reserved for later is not worth copying.
		must(t, os.Truncate(wal, walEnd(t, wal)+64<<10))
		path := filepath.Join(binDir, "sample")
		copyTree(t, s.dir, path)
		sampleDir.path = path
	})
	if sampleDir.path == "" {
		t.Fatal("the sample could not be made")
	}
	s := newServer(t, args...)
	copyTree(t, sampleDir.path, s.dir)
	return s
}

// mustHaveSample starts the server, looks for everything in the sample, and
// stops it.
func mustHaveSample(t *testing.T, s *server) {
	t.Helper()
	s.start()
	client := s.client()
	for i := range sampleSize {
		object, err := client.CoreV1().ConfigMaps(namespace).Get(deadline(t), sampleName(i), metav1.GetOptions{})
		must(t, err)
		if object.Data["value"] != "sample" {
			t.Errorf("%s holds %v", sampleName(i), object.Data)
		}
	}
	s.stop()
}

// copyTree copies a directory, with modes, and without the blocks of zeros in
// files that are mostly reserved space.
func copyTree(t testing.TB, from, to string) {
	t.Helper()
	must(t, filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		target := filepath.Join(to, strings.TrimPrefix(path, from))
		if entry.IsDir() {
			return os.Mkdir(target, info.Mode().Perm())
		}
		return copyFile(path, target, info.Mode().Perm())
	}))
}

func copyFile(from, to string, mode fs.FileMode) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	block, zeros, size := make([]byte, 64<<10), make([]byte, 64<<10), int64(0)
	for {
		n, err := io.ReadFull(in, block)
		if n > 0 && !bytes.Equal(block[:n], zeros[:n]) {
			if _, err := out.WriteAt(block[:n], size); err != nil {
				return err
			}
		}
		size += int64(n)
		if err != nil {
			return out.Truncate(size)
		}
	}
}

// tree describes all that is below dir, but for the names to ignore.
func tree(t testing.TB, dir string, ignore ...string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(strings.TrimPrefix(path, dir), "/")
		info, err := entry.Info()
		if err != nil || slices.Contains(ignore, name) {
			return err
		}
		found[name] = info.Mode().String()
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			found[name] += fmt.Sprintf(" %d bytes, %x", len(text), sha256.Sum256(text))
		}
		return nil
	})
	if !errors.Is(err, fs.ErrNotExist) {
		must(t, err)
	}
	return found
}

// mustBeSame fails the test where the tree has changed.
func mustBeSame(t testing.TB, before, after map[string]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if after[name] != before[name] {
			t.Errorf("%q was %s, and is %q now", name, before[name], after[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if _, ok := before[name]; !ok {
			t.Errorf("%q is new: %s", name, after[name])
		}
	}
}
