package theme

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

const attributes = "\x1b[?62;22c"

// TestTerminalAnswers asks terminals of all manners. Each sends its parts in turn,
// and begins when it has been asked. The time for one that does not answer ends when
// what it does send has been read.
func TestTerminalAnswers(t *testing.T) {
	for _, test := range []struct {
		name    string
		parts   []string
		want    Background
		typed   string
		pending bool
	}{
		{name: "dark", parts: []string{"\x1b]11;rgb:1c1c/1c1c/1c1c\x1b\\" + attributes}, want: Dark},
		{name: "light, ended by a bell", parts: []string{"\x1b]11;rgb:fdfd/f6f6/e3e3\a" + attributes}, want: Light},
		{name: "few digits", parts: []string{"\x1b]11;rgb:f/f/e\a" + attributes}, want: Light},
		{name: "with alpha", parts: []string{"\x1b]11;rgba:00/00/00/ff\a" + attributes}, want: Dark},
		{name: "does not know the question", parts: []string{attributes}},
		{name: "answers garbage", parts: []string{"\x1b]11;#nothing\a" + attributes}},
		{name: "in two parts", parts: []string{"\x1b]11;rgb:ffff/ff", "ff/ffff\x1b\\" + attributes}, want: Light},
		{name: "byte by byte", parts: strings.Split("\x1b]11;rgb:0/0/0\x1b\\"+attributes, ""), want: Dark},
		{name: "keys between", parts: []string{"jj\x1b[A\x1b]11;rgb:0/0/0\aq" + "\x1b" + attributes}, want: Dark, typed: "jj\x1b[Aq\x1b"},
		{name: "interrupt", parts: []string{"\x03" + attributes}, typed: "\x03"},
		{name: "only keys", parts: []string{"4/é"}, typed: "4/é", pending: true},
		{name: "only escape", parts: []string{"\x1b"}, typed: "\x1b", pending: true},
		{name: "half an answer", parts: []string{"x\x1b]11;rgb:ffff"}, typed: "x", pending: true},
		{name: "silent", pending: true},
		{name: "noise without end", parts: []string{"\x1b]11;" + strings.Repeat("z", 500)}, typed: "\x1b]11;" + strings.Repeat("z", 500), pending: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			master, slave := openTerminal(t)
			before := settings(t, slave)
			// A terminal that answers ends the waiting itself.
			limited, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			ctx, begin := limited, func() {}
			if test.pending {
				p := &unanswered{Context: limited, t: t, slave: slave, asked: make(chan struct{}), looked: make(chan struct{}), sent: len(strings.Join(test.parts, ""))}
				ctx, begin = p, p.begin
			}
			var terminal sync.WaitGroup
			terminal.Go(func() { answer(t, master, begin, test.parts) })
			got := ask(ctx, slave, slave)
			terminal.Wait()
			if got.Background != test.want || string(got.Typed) != test.typed || got.Pending != test.pending {
				t.Errorf("got %v, typed %q, pending %v\nwant %v, %q, %v",
					got.Background, got.Typed, got.Pending, test.want, test.typed, test.pending)
			}
			if after := settings(t, slave); after != before {
				t.Errorf("the terminal was left as %+v, and had been %+v", after, before)
			}
		})
	}
}

// unanswered is the time for a terminal that does not answer. It ends at the second look
// at it after the question: by then all that the terminal sends has been read.
type unanswered struct {
	context.Context
	t     *testing.T
	slave *os.File
	// asked is closed when the terminal has got the question, looked when nothing is
	// read until it has sent what it sends: so many bytes.
	asked, looked chan struct{}
	sent          int
	over          bool
}

// begin returns when the terminal may send.
func (p *unanswered) begin() {
	close(p.asked)
	select {
	case <-p.looked:
	case <-p.Done():
	}
}

// Err implements context.Context: whoever reads looks at it before each part.
func (p *unanswered) Err() error {
	select {
	case <-p.asked:
	default:
		return p.Context.Err()
	}
	if p.over {
		return context.DeadlineExceeded
	}
	p.over = true
	close(p.looked)
	// The system hands over in its own time what was written at the other side.
	for there := -1; there < p.sent && p.Context.Err() == nil; {
		var err error
		if there, err = unix.IoctlGetInt(int(p.slave.Fd()), unix.TIOCINQ); err != nil {
			p.t.Error(err)
			break
		}
		time.Sleep(time.Millisecond)
	}
	return p.Context.Err()
}

// TestNothingGoesOnReading types after a terminal has been asked, and must be able
// to read it.
func TestNothingGoesOnReading(t *testing.T) {
	master, slave := openTerminal(t)
	before := runtime.NumGoroutine()
	DetectBackground(t.Context(), slave, slave, env{"TERM": "xterm"}.get)
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines were left", after-before)
	}
	typeIn(t, master, "typed\n")
	buf := make([]byte, 16)
	n, err := slave.Read(buf)
	if err != nil || string(buf[:n]) != "typed\n" {
		t.Errorf("read %q, %v", buf[:n], err)
	}
}

// TestLateAnswer comes when nobody waits for it any more: it is not read as keys.
func TestLateAnswer(t *testing.T) {
	master, slave := openTerminal(t)
	if _, err := term.MakeRaw(int(slave.Fd())); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	d := DetectBackground(ended, slave, slave, env{"TERM": "xterm"}.get)
	if d.Pending {
		t.Fatal("it was asked after the end")
	}
	d = Detected{Typed: []byte("ab"), Pending: true, rest: []byte("\x1b]11;rgb:ffff/")}
	input := d.Input(slave)
	var got strings.Builder
	for _, part := range []string{"ffff/ffff\x1b\\c", "\x1b[A", "\x1b", "d" + attributes[:5], attributes[5:] + "e", attributes + "f"} {
		typeIn(t, master, part)
		buf := make([]byte, 64)
		if got.Len() == 0 {
			n, _ := input.Read(buf[:1]) // what had been typed is read first
			m, _ := input.Read(buf[n:])
			got.Write(buf[:n+m])
		}
		n, err := input.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		got.Write(buf[:n])
	}
	if want := "abc\x1b[A\x1bde" + attributes + "f"; got.String() != want {
		t.Errorf("read %q\nwant %q", got.String(), want)
	}
}

// TestAskingEndsWithItsContext does not wait for the terminal to be patient with.
func TestAskingEndsWithItsContext(t *testing.T) {
	_, slave := openTerminal(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan Detected)
	go func() { done <- ask(ctx, slave, slave) }() // without a limit of its own
	cancel()
	if d := <-done; d.Background != Unknown || len(d.Typed) > 0 {
		t.Errorf("got %+v", d)
	}
}

// TestStoppedTerminal takes no output (ctrl-s): it is not waited for either.
func TestStoppedTerminal(t *testing.T) {
	_, slave := openTerminal(t)
	if err := unix.IoctlSetInt(int(slave.Fd()), unix.TCXONC, unix.TCOOFF); err != nil {
		t.Fatal(err)
	}
	if d := DetectBackground(t.Context(), slave, slave, env{"TERM": "xterm"}.get); d.Pending || d.Background != Unknown {
		t.Errorf("got %+v", d)
	}
}

// TestNoTerminal asks nothing where there is none.
func TestNoTerminal(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	closed, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	for _, f := range []*os.File{nil, file, closed} {
		if d := DetectBackground(t.Context(), f, f, env{"TERM": "xterm"}.get); d.Background != Unknown || d.Pending {
			t.Errorf("got %+v", d)
		}
	}
	if content, _ := os.ReadFile(file.Name()); len(content) > 0 {
		t.Errorf("%q was written to a file", content)
	}
}

// answer is a terminal: it waits for the whole question, then sends its parts as soon
// as begin returns.
func answer(t *testing.T, master *os.File, begin func(), parts []string) {
	var asked strings.Builder
	buf := make([]byte, 64)
	for !strings.HasSuffix(asked.String(), question) {
		n, err := master.Read(buf)
		if err != nil && !errors.Is(err, io.EOF) {
			t.Errorf("reading the question: %v", err)
			return
		}
		asked.Write(buf[:n])
	}
	begin()
	for _, part := range parts {
		typeIn(t, master, part)
	}
}

func typeIn(t *testing.T, f *os.File, text string) {
	t.Helper()
	if _, err := f.WriteString(text); err != nil {
		t.Errorf("writing to the terminal: %v", err)
	}
}

func settings(t *testing.T, f *os.File) unix.Termios {
	t.Helper()
	s, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return *s
}

// openTerminal returns both sides of a new pseudo-terminal.
func openTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetUint32(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { slave.Close() })
	return master, slave
}
