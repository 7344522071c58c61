package kapitest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/kapi-dev/kapi/internal/cli"
	"github.com/kapi-dev/kapi/internal/kapitest/parentdeath"
	"github.com/kapi-dev/kapi/internal/kapitest/peer"
)

// commandName is what makes a test binary kapi: being started by this name.
const commandName = "kapi"

// Main runs the tests of a package, or kapi itself where this binary was
// started under its name (Command, Link). It stops the shared server, and does
// not return.
func Main(m *testing.M) {
	if filepath.Base(os.Args[0]) == commandName {
		code := cli.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
		if err := writePeak(os.Getenv(PeakVariable)); err != nil {
			fmt.Fprintln(os.Stderr, "writing how much memory was used:", err)
		}
		os.Exit(code)
	}
	code := m.Run()
	if err := shared.close(code != 0); err != nil {
		fmt.Fprintln(os.Stderr, "stopping the shared server:", err)
		code = max(code, 1)
	}
	if err := faulty.close(); err != nil {
		fmt.Fprintln(os.Stderr, "removing the binary with faults:", err)
	}
	if err := peer.Clean(); err != nil {
		fmt.Fprintln(os.Stderr, "removing the peer's binaries:", err)
	}
	os.Exit(code)
}

// PeakVariable names a file into which a Command writes, at its end, how much memory
// it has had at most, as Linux tells it: "1234 kB". What the system tells the parent of
// a child is no less than the parent's own memory when it started the child.
const PeakVariable = "KAPITEST_PEAK_FILE"

// writePeak does that, where there is a file to write.
func writePeak(file string) error {
	if file == "" {
		return nil
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	_, rest, _ := strings.Cut(string(status), "\nVmHWM:")
	peak, _, _ := strings.Cut(rest, "\n")
	return os.WriteFile(file, []byte(strings.TrimSpace(peak)), 0o600)
}

// ParentDeath is what makes a process die with the test binary that starts it.
func ParentDeath() *syscall.SysProcAttr { return parentdeath.Attributes() }

// Command returns kapi with args, as a process that is still to be started. Its
// environment is the test's, without KAPI_* and KUBECONFIG, and with a home
// directory of its own. It is killed when the test binary ends.
func Command(ctx context.Context, home string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, binary(), args...)
	cmd.Args[0] = commandName
	cmd.Env = append(slices.DeleteFunc(os.Environ(), ofKapi),
		"HOME="+home, "XDG_STATE_HOME=", "XDG_CONFIG_HOME=", "GOCOVERDIR="+home)
	cmd.SysProcAttr = ParentDeath()
	return cmd
}

// ofKapi tells whether an entry of the environment would change what kapi does.
func ofKapi(entry string) bool {
	return strings.HasPrefix(entry, "KAPI_") || strings.HasPrefix(entry, "KUBECONFIG=")
}

// Link returns a directory that holds a command "kapi", to be put into PATH.
func Link(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Symlink(binary(), filepath.Join(dir, commandName)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// binary is the path of the test binary.
func binary() string {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}

// lockedBuffer is written by the process while the test reads it.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
