package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kapi-dev/kapi/internal/fault"
)

// tuiKubeconfig leads to a server that nobody runs: nothing here may ask it.
const tuiKubeconfig = `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {token: secret}}]
contexts: [{name: here, context: {cluster: c, user: u}}]
current-context: here
`

// tuiDir has the files that the tests name, and is the user's home.
func tuiDir(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, value := range map[string]string{
		"HOME": dir, "XDG_CONFIG_HOME": "", "XDG_STATE_HOME": "", "KUBECONFIG": filepath.Join(dir, "kubeconfig"), "TERM": "xterm",
	} {
		t.Setenv(name, value)
	}
	return dir
}

// runMain runs a command line of which no stream is a terminal.
func runMain(t *testing.T, args ...string) (code int, out string) {
	t.Helper()
	in, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	to, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	var stderr bytes.Buffer
	code = Main(t.Context(), args, in, to, &stderr)
	if info, err := to.Stat(); err != nil || info.Size() != 0 {
		t.Errorf("something went to stdout: %v, %v", info, err)
	}
	return code, stderr.String()
}

// Bad input is exit code 2, names what is wrong and says the way out. DIR in an
// argument is the directory of the test.
func TestTUIRefuses(t *testing.T) {
	const recording = "left as it is"
	files := map[string]string{
		"kubeconfig": tuiKubeconfig, "garbage": "garbage", "existing": recording, "broken": "{", "empty": "",
		"one.yaml": "apiVersion: v1\nkind: Pod\n",
	}
	for _, test := range []struct {
		name     string
		args     []string
		settings string
		says     []string
	}{
		{"two pages", []string{"health", "etcd"}, "", []string{`"etcd"`, "PAGE/NAME"}},
		{"no page", []string{"/x"}, "", []string{`"/x"`, "pages are dashboard"}},
		{"unknown flag", []string{"--them=dark"}, "", []string{"--them", "--theme"}},
		{"refresh too short", []string{"--refresh", "1ms"}, "", []string{"--refresh", "1ms", "100ms", "200ms"}},
		{"refresh too long", []string{"--refresh", "2h"}, "", []string{"--refresh", "2h0m0s", "1m0s"}},
		{"refresh of no duration", []string{"--refresh", "often"}, "", []string{"--refresh", `"often"`}},
		{"no recording", []string{"--replay", "DIR/none"}, "", []string{"DIR/none"}},
		{"garbage for a recording", []string{"--replay", "DIR/garbage"}, "", []string{"DIR/garbage", "--record"}},
		{"an empty recording", []string{"--replay", "DIR/empty"}, "", []string{"DIR/empty"}},
		{"another file for a recording", []string{"--replay", "DIR/one.yaml"}, "", []string{"DIR/one.yaml"}},
		{"a directory for a recording", []string{"--replay", "DIR"}, "", []string{"DIR"}},
		{"record over a file", []string{"--plain", "--record", "DIR/existing"}, "", []string{"DIR/existing"}},
		{"record nowhere", []string{"--plain", "--record", "DIR/none/file"}, "", []string{"DIR/none/file"}},
		{"record and replay", []string{"--record", "DIR/new", "--replay", "DIR/existing"}, "", []string{"--record", "--replay", "keep one"}},
		{"changes and read-only", []string{"--allow-changes", "--read-only"}, "", []string{"--allow-changes", "--read-only", "keep one"}},
		{"changes of a recording", []string{"--allow-changes", "--replay", "DIR/existing"}, "", []string{"--allow-changes", "--replay"}},
		{"not read-only", []string{"--read-only=false"}, "", []string{"--read-only=false", "--allow-changes"}},
		{"settings that are no YAML", nil, "theme: [", []string{"DIR/.config/kapi/tui.yaml"}},
		{"a key of the settings", nil, "thme: dark", []string{"DIR/.config/kapi/tui.yaml", "thme", "did you mean theme"}},
		{"refresh of the settings", nil, "refresh: 1ms", []string{"DIR/.config/kapi/tui.yaml", "refresh", "1ms", "100ms"}},
		{"unknown context", []string{"--context", "there"}, "", []string{`"there"`, "here"}},
		{"no kubeconfig", []string{"--kubeconfig", "DIR/none"}, "", []string{"DIR/none"}},
		{"a broken kubeconfig", []string{"--kubeconfig", "DIR/broken"}, "", []string{"DIR/broken"}},
		{"no terminal", nil, "", []string{"standard input is no terminal", "--plain"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := tuiDir(t, files)
			if test.settings != "" {
				if err := os.MkdirAll(filepath.Join(dir, ".config", "kapi"), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, ".config", "kapi", "tui.yaml"), []byte(test.settings), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			args := []string{"tui"}
			for _, arg := range test.args {
				args = append(args, strings.ReplaceAll(arg, "DIR", dir))
			}
			code, out := runMain(t, args...)
			if code != fault.CodeUsage || !strings.HasPrefix(out, "error: ") || strings.Count(out, "\n") > 2 {
				t.Errorf("exit code %d, want %d\n%s", code, fault.CodeUsage, out)
			}
			for _, text := range test.says {
				if text = strings.ReplaceAll(text, "DIR", dir); !strings.Contains(out, text) {
					t.Errorf("%q is not in\n%s", text, out)
				}
			}
			if kept, err := os.ReadFile(filepath.Join(dir, "existing")); err != nil || string(kept) != recording {
				t.Errorf("the file that was there is %q, %v", kept, err)
			}
		})
	}
}

// What was refused leaves no recording behind that would be in the way the next time.
func TestTUIRefusedRecordsNothing(t *testing.T) {
	dir := tuiDir(t, map[string]string{"kubeconfig": tuiKubeconfig})
	file := filepath.Join(dir, "recording")
	for range 2 {
		if code, out := runMain(t, "tui", "--record", file); code != fault.CodeUsage || !strings.Contains(out, "no terminal") {
			t.Errorf("exit code %d\n%s", code, out)
		}
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("there is a recording: %v", err)
	}
}

// A server whose screen can't be drawn is not started.
func TestServeTUIWithoutTerminal(t *testing.T) {
	dir := tuiDir(t, nil)
	data := filepath.Join(dir, "data")
	code, out := runMain(t, "serve", "--tui", "--data-dir", data, "--secure-port", "0")
	if code != fault.CodeUsage || !strings.Contains(out, "standard input is no terminal") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if _, err := os.Stat(data); !os.IsNotExist(err) {
		t.Errorf("there is a data directory: %v", err)
	}
}
