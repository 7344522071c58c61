package lifecycle

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/kapi-dev/kapi/internal/fault"
)

// TestPIDFile puts something at the place of the pid-file before the start.
func TestPIDFile(t *testing.T) {
	t.Parallel()
	const gone = 1 << 30 // more than any system hands out
	for _, tc := range []struct {
		name, content string // "-": no file
		want          string // part of the error
		code          int
	}{
		{"none", "-", "", 0},
		{"empty", "", "", 0},
		{"of a process that is gone", strconv.Itoa(gone), "", 0},
		{"our own", strconv.Itoa(os.Getpid()), "", 0},
		{"of a living process", strconv.Itoa(os.Getppid()) + "\n", "process " + strconv.Itoa(os.Getppid()) + " is running", 1},
		{"no pid-file", "dear diary", "holds something else than a pid", 2},
		{"negative", "-1", "holds something else than a pid", 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "kapi.pid")
			if tc.content != "-" {
				if err := os.WriteFile(path, []byte(tc.content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			ctx, cancel := context.WithCancel(t.Context())
			started := false
			err := Run(ctx, Options{PIDFile: path, Signals: make(chan os.Signal), Components: []Component{{
				Name: "a",
				Start: func(context.Context) error {
					started = true
					if text, err := os.ReadFile(path); err != nil || string(text) != pidText() {
						t.Errorf("pid-file while starting: %q, %v", text, err)
					}
					cancel()
					return nil
				},
				Stop: func(context.Context) error {
					if _, err := os.Stat(path); err != nil {
						t.Errorf("pid-file while stopping: %v", err)
					}
					return nil
				},
			}}})
			if fault.Code(err) != tc.code || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v with code %d", err, fault.Code(err))
			}
			if started != (tc.code == 0) {
				t.Errorf("started: %v", started)
			}
			text, readErr := os.ReadFile(path)
			if tc.code == 0 && !errors.Is(readErr, os.ErrNotExist) || tc.code != 0 && string(text) != tc.content {
				t.Errorf("afterwards: %q, %v", text, readErr)
			}
		})
	}
}

// TestPIDFileOfAnother checks that a file that another has taken over stays.
func TestPIDFileOfAnother(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "kapi.pid")
	err := Run(t.Context(), Options{PIDFile: path, Signals: make(chan os.Signal), Components: []Component{{
		Name: "a",
		Start: func(context.Context) error {
			return errors.Join(os.WriteFile(path, []byte("1\n"), 0o600), errors.New("enough"))
		},
	}}})
	if err == nil {
		t.Error("no error")
	}
	if text, err := os.ReadFile(path); string(text) != "1\n" {
		t.Errorf("the other's file: %q, %v", text, err)
	}
}

// TestReadyFile checks when it is there.
func TestReadyFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "ready")
	if err := os.WriteFile(path, nil, 0o600); err != nil { // as touch makes it
		t.Fatal(err)
	}
	there := func() bool { _, err := os.Stat(path); return err == nil }
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		done <- Run(ctx, Options{
			ReadyFile: path, Signals: make(chan os.Signal),
			Ready: func(context.Context) error {
				if there() {
					t.Error("there before Ready")
				}
				return nil
			},
			Status: func() string { // asked when the file has been written
				if text, err := os.ReadFile(path); err != nil || string(text) != pidText() {
					t.Errorf("when ready: %q, %v", text, err)
				}
				if all, err := os.ReadDir(dir); err != nil || len(all) != 1 {
					t.Errorf("beside it: %v, %v", all, err)
				}
				cancel()
				return ""
			},
			Components: []Component{{
				Name: "a",
				Start: func(context.Context) error {
					if there() {
						t.Error("there while starting")
					}
					return nil
				},
				Stop: func(context.Context) error {
					if there() {
						t.Error("there while stopping")
					}
					return nil
				},
			}},
		})
	}()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestUnwritableFiles checks that the path and the way out are named before
// anything is started.
func TestUnwritableFiles(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "missing", "file")
	for kind, opts := range map[string]Options{"pid-file": {PIDFile: path}, "ready-file": {ReadyFile: path}} {
		started := false
		opts.Signals = make(chan os.Signal)
		opts.Components = []Component{{Name: "a", Start: func(context.Context) error { started = true; return nil }}}
		err := Run(t.Context(), opts)
		want := "writing " + kind + " " + path + ": no such file or directory"
		if err == nil || err.Error() != want || fault.Hint(err) == "" || started {
			t.Errorf("%s: got %v (hint %q), started: %v", kind, err, fault.Hint(err), started)
		}
	}
}

// TestForeignReadyFile checks that a mistyped path costs nobody a file.
func TestForeignReadyFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	diary := filepath.Join(dir, "diary")
	if err := os.WriteFile(diary, []byte("dear diary"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		diary: "ready-file " + diary + " holds something else than a pid",
		dir:   "reading ready-file: read " + dir + ": is a directory",
	} {
		err := Run(t.Context(), Options{ReadyFile: path, Signals: make(chan os.Signal)})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if text, err := os.ReadFile(diary); string(text) != "dear diary" {
		t.Errorf("afterwards: %q, %v", text, err)
	}
}
