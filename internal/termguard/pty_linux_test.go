package termguard_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// What Bubble Tea's initialiser writes: "what is your background colour", then
// "where is the cursor". Either of them is a query.
const (
	queryBackground = "\x1b]11;?"
	queryCursor     = "\x1b[6n"
)

// TestSilentTerminal runs both programs on a terminal that takes everything and
// answers nothing. The unguarded one must ask, or this test would pass with no
// guard at all; the guarded one must write its own two lines only. Nothing here
// looks at a clock: how long the unguarded program would wait does not matter.
func TestSilentTerminal(t *testing.T) {
	dir := buildProbes(t)
	env := []string{"TERM=xterm-256color", "COLORTERM=truecolor"}

	t.Run("unguarded asks", func(t *testing.T) {
		got := runOnTerminal(t, filepath.Join(dir, "unguarded"), env, func(seen string) bool {
			return strings.Contains(seen, queryBackground) || strings.Contains(seen, queryCursor)
		})
		if !strings.Contains(got, queryBackground) && !strings.Contains(got, queryCursor) {
			t.Errorf("the unguarded program asked the terminal nothing, so the guard is not tested; it wrote %q", got)
		}
	})

	t.Run("guarded is silent", func(t *testing.T) {
		got := runOnTerminal(t, filepath.Join(dir, "guarded"), env, nil)
		const want = `before: TERM="dumb" set=true NO_COLOR="" COLORTERM="truecolor"` + "\r\n" +
			`after: TERM="xterm-256color" set=true NO_COLOR="" COLORTERM="truecolor"` + "\r\n"
		if got != want {
			t.Errorf("the guarded program wrote %q\nwant %q", got, want)
		}
	})
}

// runOnTerminal runs program with a terminal of its own as its controlling
// terminal, in the foreground: a program in the background does not query. It
// returns what the program wrote, up to its end or until enough says so; then
// the program is killed.
func runOnTerminal(t *testing.T, program string, env []string, enough func(string) bool) string {
	t.Helper()
	master, slave, err := openTerminal()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()

	// A bound for a program that hangs without a word, far above any wait; its
	// death ends the reading below.
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program)
	cmd.Env = env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatalf("starting %s: %v", filepath.Base(program), err)
	}
	// The child holds the only open slave now, so its end is the end of reading.
	if err := slave.Close(); err != nil {
		t.Fatalf("closing the slave side: %v", err)
	}

	got, stopped, err := readTerminal(master, enough)
	if err != nil {
		t.Errorf("reading the terminal: %v", err)
	}
	if stopped {
		cancel()
	}
	if err := cmd.Wait(); err != nil && !stopped {
		t.Errorf("running %s: %v", filepath.Base(program), err)
	}
	return got
}

// readTerminal reads until the slave side is closed, which Linux reports as
// EIO, or until enough is true of what has been read; stopped says which.
func readTerminal(master io.Reader, enough func(string) bool) (got string, stopped bool, err error) {
	var seen strings.Builder
	buf := make([]byte, 4096)
	for {
		n, err := master.Read(buf)
		seen.Write(buf[:n])
		if enough != nil && enough(seen.String()) {
			return seen.String(), true, nil
		}
		if errors.Is(err, syscall.EIO) || errors.Is(err, io.EOF) {
			return seen.String(), false, nil
		}
		if err != nil {
			return seen.String(), false, err
		}
	}
}

// openTerminal returns both sides of a new pseudo-terminal.
func openTerminal() (master, slave *os.File, err error) {
	master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("opening a terminal: %w", err)
	}
	number, err := unlock(master)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("preparing a terminal: %w", err), master.Close())
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("opening the slave side: %w", err), master.Close())
	}
	return master, slave, nil
}

// unlock makes the slave side usable and returns its number.
func unlock(master *os.File) (number uint32, err error) {
	raw, err := master.SyscallConn()
	if err != nil {
		return 0, err
	}
	ctlErr := raw.Control(func(fd uintptr) {
		if err = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); err != nil {
			return
		}
		number, err = unix.IoctlGetUint32(int(fd), unix.TIOCGPTN)
	})
	return number, errors.Join(err, ctlErr)
}
