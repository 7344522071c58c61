package e2e_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"github.com/kapi-dev/kapi/internal/cli"
	"github.com/kapi-dev/kapi/internal/kapitest"
)

// TestExamplesAreThree: each command has three examples, a comment and a line each.
func TestExamplesAreThree(t *testing.T) {
	t.Parallel()
	for _, cmd := range commandTree(cli.NewRootCmd()) {
		var comments, lines int
		for line := range strings.Lines(cmd.Example) {
			switch line = strings.TrimSpace(line); {
			case line == "":
			case strings.HasPrefix(line, "# "):
				if comments++; comments != lines+1 {
					t.Errorf("%s: two comments in a row: %s", cmd.CommandPath(), line)
				}
			default:
				if lines++; comments != lines {
					t.Errorf("%s: two lines below one comment: %s", cmd.CommandPath(), line)
				}
			}
		}
		if comments != 3 || lines != 3 {
			t.Errorf("%s has %d examples with %d comments, want 3", cmd.CommandPath(), lines, comments)
		}
	}
}

// TestExamples runs every example of every command as it stands in the help, in
// a directory that has what the examples speak of. Those of one command run one
// after the other: the second may need what the first has made.
func TestExamples(t *testing.T) {
	t.Parallel()
	server := kapitest.Start(t) // of its own: all in it must be well
	stage := newStage(t, server)
	for _, cmd := range commandTree(cli.NewRootCmd()) {
		t.Run(strings.ReplaceAll(cmd.CommandPath(), " ", "-"), func(t *testing.T) {
			dir := stage.copy(t)
			for line := range strings.Lines(cmd.Example) {
				if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
					continue
				}
				runExample(t, server, dir, line)
			}
		})
	}
}

// commandTree returns a command and all below it that are not hidden.
func commandTree(cmd *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{cmd}
	for _, each := range cmd.Commands() {
		if !each.Hidden && each.Name() != "help" {
			all = append(all, commandTree(each)...)
		}
	}
	return all
}

// stage is a directory with the files of the examples.
type stage string

func newStage(t *testing.T, server *kapitest.Server) stage {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("crds/widgets.yaml", widgets)
	write("kapi.yaml", server.Run(t, "config", "view"))
	write("before.json", server.Run(t, "inspect", "snapshot"))
	server.Run(t, "kubectl", "apply", "-f", filepath.Join(dir, "crds"))
	server.Run(t, "inspect", "crds", "widgets.example.com", "--for=condition=Established", "--timeout=60s")
	eventually(t, func(context.Context) error {
		_, _, err := server.Try(t, widget, "kubectl", "apply", "-f", "-")
		return err
	})
	write("after.json", server.Run(t, "inspect", "snapshot"))
	return stage(dir)
}

// copy returns a directory of a test with the files.
func (s stage) copy(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "work")
	if err := os.CopyFS(dir, os.DirFS(string(s))); err != nil {
		t.Fatal(err)
	}
	return dir
}

const widgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}
`

const widget = `
apiVersion: example.com/v1
kind: Widget
metadata: {name: one, namespace: default}
`

// exampleShells are the shells that are no bash, by a word of the example.
var exampleShells = []struct{ word, program, before string }{
	{"completion zsh", "zsh", `autoload -U compinit && compinit -u -d "$HOME/dump"; `},
	{"completion fish", "fish", ""},
	{"completion powershell", "pwsh", ""},
}

// runExample runs one line. What is said of its exit code stands in the line.
func runExample(t *testing.T, server *kapitest.Server, dir, line string) {
	t.Helper()
	program, script := "bash", "set -o pipefail; "+line
	for _, shell := range exampleShells {
		if strings.Contains(line, shell.word) {
			program, script = shell.program, shell.before+line
		}
	}
	for _, needed := range []string{program, "jq", "timeout", "tar"} {
		if needed != program && !regexp.MustCompile(`\b`+needed+` -`).MatchString(line) {
			continue
		}
		if _, err := exec.LookPath(needed); err != nil {
			t.Logf("NOT RUN, %s is not installed here: %s", needed, line)
			return
		}
	}
	cmd := inShell(t, server, program, "-c", script)
	cmd.Dir = dir
	home := filepath.Join(filepath.Dir(dir), "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(cmd.Env, "HOME="+home)
	if strings.HasPrefix(line, "kapi tui") && !strings.Contains(line, "--plain") {
		screenExample(t, cmd, line)
		return
	}
	if strings.Contains(line, "kapi serve") {
		serveExample(t, cmd, line)
		return
	}
	end := runToEnd(t, cmd)
	t.Logf("$ %s\n%s%s", line, head(end.stdout), head(end.stderr))
	allowed := []int{0}
	if strings.Contains(line, "--exit-status") {
		allowed = append(allowed, 3)
	}
	if strings.Contains(line, "timeout -s INT") {
		allowed = []int{124, 130}
	}
	if !slices.Contains(allowed, end.code) {
		t.Errorf("%s\nexits with %d, want one of %v", line, end.code, allowed)
	}
}

// serveExample runs an example that goes on: on a data directory and a port of
// its own, until it is ready and then to its end.
func serveExample(t *testing.T, cmd *exec.Cmd, line string) {
	t.Helper()
	own := t.TempDir()
	pidFile, ready := filepath.Join(own, "pid"), []string{filepath.Join(own, "ready"), filepath.Join(cmd.Dir, "ready")}
	cmd.Env = append(cmd.Env, "KAPI_DATADIR="+filepath.Join(own, "data"), "KAPI_SERVER_SECUREPORT=0", "KAPI_ETCD_UNSAFENOFSYNC=true",
		"KAPI_LIFECYCLE_READYFILE="+ready[0], "KAPI_LIFECYCLE_PIDFILE="+pidFile)
	var printed output
	cmd.Stdout, cmd.Stderr = &printed, &printed
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	eventually(t, func(context.Context) error {
		if len(ended) > 0 {
			return nil
		}
		for _, file := range ready {
			if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		return errors.New("not ready:\n" + printed.String())
	})
	if len(ended) == 0 {
		// The shell may be its parent, and passes no signals on.
		text, err := os.ReadFile(pidFile)
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
	}
	err := <-ended
	t.Logf("$ %s\n%s", line, head(printed.String()))
	if err != nil {
		t.Errorf("%s\nends with %v\n%s", line, err, printed.String())
	}
}

// head is the beginning of a text, enough to see what it is.
func head(text string) string {
	const most = 12
	lines := slices.Collect(strings.Lines(text))
	if len(lines) <= most {
		return text
	}
	return strings.Join(lines[:most], "") + "...\n"
}
