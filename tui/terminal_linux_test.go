package tui

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Sequences that a program must take back before it goes.
const (
	altScreenOn, altScreenOff = "\x1b[?1049h", "\x1b[?1049l"
	cursorOff, cursorOn       = "\x1b[?25l", "\x1b[?25h"
	mouseOn, mouseOff         = "\x1b[?1002h", "\x1b[?1002l"
	pasteOn, pasteOff         = "\x1b[?2004h", "\x1b[?2004l"
)

// TestTerminal: however the program ends, the terminal is as it was, and it is gone;
// where it stops it comes back.
func TestTerminal(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		mode string
		end  func(*tty)
		code int
		says string
	}{
		"q": {mode: "run", end: func(w *tty) { w.write("q") }},
		// The second must come soon: two at once, of which one may be the first again.
		"ctrl-c twice":       {mode: "run", end: func(w *tty) { w.write("\x03"); w.sees("once more"); w.write("\x03\x03") }},
		":q":                 {mode: "run", end: func(w *tty) { w.write(":q\r") }},
		"SIGTERM":            {mode: "run", end: func(w *tty) { w.signal(syscall.SIGTERM) }, code: 143},
		"SIGHUP":             {mode: "run", end: func(w *tty) { w.signal(syscall.SIGHUP) }, code: 129},
		"SIGINT":             {mode: "run", end: func(w *tty) { w.signal(syscall.SIGINT) }, code: 130},
		"SIGTERM in a panel": {mode: "run", end: func(w *tty) { w.write(":crd"); w.sees(":crd"); w.signal(syscall.SIGTERM) }, code: 143},
		"a page panics": {mode: "page", end: func(w *tty) {
			w.write("x")
			w.sees("this page failed")
			w.write("q")
			w.write("q")
		}, says: "tui-crash.txt"},
		"the program panics":  {mode: "update", end: func(w *tty) { w.write("x") }, code: 1, says: "the terminal UI failed: boom"},
		"the screen panics":   {mode: "view", end: func(w *tty) { w.write("x") }, code: 1, says: "the terminal UI failed: boom"},
		"the context is over": {mode: "context", end: func(w *tty) { w.write("x") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTTY(t, test.mode)
			w.begins()
			test.end(w)
			if got := w.exit(); got != test.code {
				t.Errorf("it ends with %d, want %d; it wrote %q", got, test.code, w.tail())
			}
			w.inOrder()
			if !strings.Contains(w.afterScreen(), test.says) {
				t.Errorf("nothing says %q after the end: %q", test.says, w.afterScreen())
			}
		})
	}
}

// A terminal that is gone, as after kill -9 of its window, ends the program.
func TestTerminalIsKilled(t *testing.T) {
	t.Parallel()
	w := newTTY(t, "run")
	w.begins()
	w.slave.Close()
	w.master.Close()
	if got := w.exit(); got != 129 && got != 1 {
		t.Errorf("it ends with %d", got)
	}
}

// A stopped program leaves the terminal to the shell, and comes back with its screen.
func TestTerminalSuspend(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(w *tty, pid int){
		"ctrl-z": func(w *tty, _ int) { w.write("\x1a") },
		"signal": func(w *tty, pid int) { _ = syscall.Kill(pid, syscall.SIGTSTP) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTTY(t, "shell")
			pid, err := strconv.Atoi(w.report())
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				w.begins()
				stop(w, pid)
				if got := w.report(); got != "stopped" {
					t.Fatalf("the program has not stopped: %s", got)
				}
				w.inOrder()
				w.forget()
				fmt.Fprintln(w.orders, "go on")
			}
			w.begins()
			w.write("q")
			if got := w.report(); got != "ended 0" {
				t.Errorf("the program %s", got)
			}
			w.orders.Close()
			w.exit()
			w.inOrder()
		})
	}
}

// tty is a pseudo-terminal, and a program on it.
type tty struct {
	t             *testing.T
	master, slave *os.File
	before        unix.Termios
	command       *exec.Cmd
	// orders go to the program, reports come from it: of the shell.
	orders  *os.File
	reports *bufio.Reader

	lock   sync.Mutex
	got    []byte
	all    []byte
	news   chan struct{}
	reader sync.WaitGroup
}

// ttyTime is how long anything may take: it only ends what hangs.
const ttyTime = 2 * time.Minute

func newTTY(t *testing.T, mode string) *tty {
	t.Helper()
	w := &tty{t: t, news: make(chan struct{}, 1)}
	w.open()
	orders, toProgram := pipe(t)
	fromProgram, reports := pipe(t)
	w.orders, w.reports = toProgram, bufio.NewReader(fromProgram)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w.command = exec.Command(program)
	// The program's libraries ask the terminal when they are linked in, unless it is dumb.
	w.command.Env = append(os.Environ(), childVariable+"="+mode, "TERM=dumb", "XDG_STATE_HOME="+t.TempDir())
	w.command.Stdin, w.command.Stdout, w.command.Stderr = w.slave, w.slave, w.slave
	w.command.ExtraFiles = []*os.File{orders, reports}
	w.command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := w.command.Start(); err != nil {
		t.Fatal(err)
	}
	orders.Close()
	reports.Close()
	w.reader.Go(w.read)
	t.Cleanup(func() {
		_ = syscall.Kill(-w.command.Process.Pid, syscall.SIGKILL) // its own session
		w.slave.Close()
		w.master.Close()
		w.reader.Wait()
	})
	return w
}

func pipe(t *testing.T) (read, write *os.File) {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { read.Close(); write.Close() })
	return read, write
}

// open makes a terminal of 80x24.
func (w *tty) open() {
	w.t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		w.t.Skipf("there are no pseudo-terminals here: %v", err)
	}
	w.master = master
	var number uint32
	w.control(master, func(fd int) (err error) {
		if err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
			return err
		}
		if err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}); err != nil {
			return err
		}
		number, err = unix.IoctlGetUint32(fd, unix.TIOCGPTN)
		return err
	})
	if w.slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		w.t.Fatal(err)
	}
	w.before = w.mode()
}

func (w *tty) control(file *os.File, do func(fd int) error) {
	w.t.Helper()
	raw, err := file.SyscallConn()
	if err != nil {
		w.t.Fatal(err)
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = do(int(fd)) }); errors.Join(err, failed) != nil {
		w.t.Fatal(errors.Join(err, failed))
	}
}

// mode is how the terminal is set.
func (w *tty) mode() unix.Termios {
	w.t.Helper()
	var mode unix.Termios
	w.control(w.slave, func(fd int) error {
		got, err := unix.IoctlGetTermios(fd, unix.TCGETS)
		if err == nil {
			mode = *got
		}
		return err
	})
	return mode
}

func (w *tty) read() {
	buffer := make([]byte, 64<<10)
	for {
		n, err := w.master.Read(buffer)
		w.lock.Lock()
		w.got, w.all = append(w.got, buffer[:n]...), append(w.all, buffer[:n]...)
		w.lock.Unlock()
		select {
		case w.news <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

func (w *tty) write(text string) {
	w.t.Helper()
	if _, err := io.WriteString(w.master, text); err != nil {
		w.t.Fatal(err)
	}
}

func (w *tty) signal(signal syscall.Signal) {
	w.t.Helper()
	if err := w.command.Process.Signal(signal); err != nil {
		w.t.Fatal(err)
	}
}

// forget makes what was written so far count no more.
func (w *tty) forget() {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.got = nil
}

func (w *tty) written() string {
	w.lock.Lock()
	defer w.lock.Unlock()
	return string(w.got)
}

// sees waits until the program has written a text.
func (w *tty) sees(text string) {
	w.t.Helper()
	w.until(text, func(written string) bool { return strings.Contains(plain(written), text) })
}

// until waits until something holds of what the program has written.
func (w *tty) until(text string, holds func(written string) bool) {
	w.t.Helper()
	late := time.After(ttyTime)
	for !holds(w.written()) {
		select {
		case <-w.news:
		case <-late:
			w.t.Fatalf("it never writes %q, but %q", text, w.tail())
		}
	}
}

// begins waits until the program is on the screen, with all that it turns on. Where
// it comes back, the first screen may be drawn before the last of them.
func (w *tty) begins() {
	w.t.Helper()
	w.sees("q quit")
	for _, on := range []string{altScreenOn, cursorOff, mouseOn, pasteOn} {
		w.until(on, func(written string) bool { return strings.Contains(written, on) })
	}
	if w.mode() == w.before {
		w.t.Error("the terminal is not in raw mode: this test has nothing to look at")
	}
}

// inOrder fails where something of the terminal is not as it was.
func (w *tty) inOrder() {
	w.t.Helper()
	w.drained()
	if after := w.mode(); after != w.before {
		w.t.Errorf("the terminal is set to %+v, before %+v", after, w.before)
	}
	written := w.written()
	for _, pair := range [][2]string{{altScreenOn, altScreenOff}, {cursorOff, cursorOn}, {mouseOn, mouseOff}, {pasteOn, pasteOff}} {
		if on, off := strings.LastIndex(written, pair[0]), strings.LastIndex(written, pair[1]); on > off {
			w.t.Errorf("%q is not taken back by %q: …%q", pair[0], pair[1], w.tail())
		}
	}
}

// drained waits until what the program wrote has been read: a mark of our own comes
// through the terminal behind it.
func (w *tty) drained() {
	w.t.Helper()
	const mark = "<drained>"
	if _, err := w.slave.WriteString(mark); err != nil {
		w.t.Fatal(err)
	}
	w.sees(mark)
}

// exit waits for the end of the program and returns its code.
func (w *tty) exit() int {
	w.t.Helper()
	timer := time.AfterFunc(ttyTime, func() { _ = w.command.Process.Kill() })
	defer timer.Stop()
	err := w.command.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return 0
}

// report is the next line of the shell.
func (w *tty) report() string {
	w.t.Helper()
	timer := time.AfterFunc(ttyTime, func() { _ = w.command.Process.Kill() })
	defer timer.Stop()
	line, err := w.reports.ReadString('\n')
	if err != nil {
		w.t.Fatalf("the shell says no more: %v; the terminal got %q", err, w.tail())
	}
	return strings.TrimSpace(line)
}

// tail is the end of what was written.
func (w *tty) tail() string {
	w.lock.Lock()
	defer w.lock.Unlock()
	return string(w.all[max(0, len(w.all)-600):])
}

// afterScreen is what was written after the screen was left.
func (w *tty) afterScreen() string {
	written := w.written()
	return written[strings.LastIndex(written, altScreenOff)+1:]
}

var sequence = regexp.MustCompile(`\x1b\[[0-9;?]*[a-zA-Z]`)

// plain is a text without sequences.
func plain(text string) string { return sequence.ReplaceAllString(text, "") }
