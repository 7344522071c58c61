package datadir

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

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

func TestWriteFileAtomic(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		mode fs.FileMode
		prep func(path string) error
	}{
		{"new", 0o600, func(string) error { return nil }},
		{"existing with a wider mode", 0o600, func(p string) error {
			return errors.Join(os.WriteFile(p, []byte("old"), 0o666), os.Chmod(p, 0o666))
		}},
		{"public", 0o644, func(string) error { return nil }},
		{"read-only", 0o400, func(p string) error { return os.WriteFile(p, []byte("old"), 0o400) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "file")
			must(t, tt.prep(path), WriteFileAtomic(path, []byte("new"), tt.mode))
			if got, err := os.ReadFile(path); err != nil || string(got) != "new" {
				t.Errorf("got %q, %v", got, err)
			}
			if got := modeOf(t, path); got != tt.mode {
				t.Errorf("mode %04o, want %04o", got, tt.mode)
			}
			if names := list(t, dir); len(names) != 1 {
				t.Errorf("left behind: %v", names)
			}
		})
	}
}

func TestWriteFileAtomicReplacesPlantedLinks(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(victim, path string) error{"symlink": os.Symlink, "hard link": os.Link} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			victim, path := filepath.Join(dir, "victim"), filepath.Join(dir, "key")
			must(t, os.WriteFile(victim, []byte("precious"), 0o644), plant(victim, path))
			must(t, WriteFileAtomic(path, []byte("secret"), 0o600))
			if got, _ := os.ReadFile(victim); string(got) != "precious" {
				t.Errorf("the link was followed: %q", got)
			}
			fi, err := os.Lstat(path)
			must(t, err)
			if !fi.Mode().IsRegular() || fi.Mode().Perm() != 0o600 {
				t.Errorf("the link is now %v", fi.Mode())
			}
		})
	}
}

func TestWriteFileAtomicErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "sub"), 0o700))
	for _, path := range []string{filepath.Join(dir, "missing", "file"), filepath.Join(dir, "sub")} {
		err := WriteFileAtomic(path, []byte("x"), 0o600)
		if err == nil || !bytes.Contains([]byte(err.Error()), []byte(path)) || bytes.Contains([]byte(err.Error()), []byte(tempSuffix)) {
			t.Errorf("got %v, want an error that names %s and no temporary file", err, path)
		}
	}
	if names := list(t, dir); len(names) != 1 {
		t.Errorf("left behind: %v", names)
	}
}

// A reader sees one of the contents that were written, never a mixture.
func TestWriteFileAtomicReaders(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	content := func(b byte) []byte { return bytes.Repeat([]byte{b}, 64<<10) }
	must(t, WriteFileAtomic(path, content('a'), 0o600))
	var writers sync.WaitGroup
	for _, b := range []byte("bcd") {
		writers.Go(func() {
			for range 20 {
				if err := WriteFileAtomic(path, content(b), 0o600); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { writers.Wait(); close(done) }()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		got, err := os.ReadFile(path)
		if err != nil || len(got) != 64<<10 || !bytes.Equal(got, content(got[0])) {
			t.Fatalf("a mixture: %d bytes, %v", len(got), err)
		}
	}
}

func TestServerInfo(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "server.json")
	if _, err := ReadServerInfo(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v for a missing file", err)
	}
	want := ServerInfo{
		PID: os.Getpid(), URL: "https://127.0.0.1:6443", Version: "v0.1.0",
		StartedAt: time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC),
	}
	must(t, WriteServerInfo(path, want))
	got, err := ReadServerInfo(path)
	must(t, err)
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	raw, err := os.ReadFile(path)
	must(t, err)
	if !bytes.Contains(raw, []byte(`"startedAt":"2026-01-02T03:04:05.000000678Z"`)) {
		t.Errorf("got %s", raw)
	}
	if m := modeOf(t, path); m != 0o600 {
		t.Errorf("mode %04o", m)
	}
	must(t, os.WriteFile(path, []byte("{"), 0o600))
	if _, err := ReadServerInfo(path); err == nil || !bytes.Contains([]byte(err.Error()), []byte(path)) {
		t.Errorf("got %v for a broken file", err)
	}
}
