package tui

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/aymanbagabas/go-osc52/v2"
	tea "github.com/charmbracelet/bubbletea"

	ktext "github.com/kapi-dev/kapi/internal/text"
	"github.com/kapi-dev/kapi/tui/page"
)

// clipboard is where copied text goes: a program of the desktop, the terminal
// itself (OSC 52, which works through ssh too), or a file.
type clipboard struct {
	getenv   func(string) string
	terminal io.Writer
	// look finds a program, run feeds it; for tests.
	look func(name string) (string, error)
	run  func(ctx context.Context, stdin string, name string, args ...string) error
}

func newClipboard(options Options) clipboard {
	return clipboard{getenv: options.Getenv, terminal: options.Out, look: exec.LookPath, run: feed}
}

func feed(ctx context.Context, stdin, name string, args ...string) error {
	command := exec.CommandContext(ctx, name, args...)
	command.Stdin = strings.NewReader(stdin)
	return command.Run()
}

// nativeClipboard is a program, and what must be set for it to work.
type nativeClipboard struct {
	system, variable string
	command          []string
}

var nativeClipboards = []nativeClipboard{
	{"darwin", "", []string{"pbcopy"}},
	{"", "WAYLAND_DISPLAY", []string{"wl-copy"}},
	{"", "DISPLAY", []string{"xclip", "-selection", "clipboard"}},
	{"", "DISPLAY", []string{"xsel", "--input", "--clipboard"}},
}

// The desktop's program gets this long; longer texts than what terminals take go
// to a file.
const (
	clipboardTime = 2 * time.Second
	longestOSC52  = 74_994
)

// harmless replaces what would steer a terminal when it is pasted: a name can hold
// the end of a bracketed paste, and a command after it.
func harmless(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = ktext.Clean(strings.ReplaceAll(line, "\t", "    "))
	}
	return strings.Join(lines, "\n")
}

// put puts a text there and says where that was.
func (c clipboard) put(ctx context.Context, text string) (where string, err error) {
	text = harmless(text)
	remote := c.getenv("SSH_CONNECTION") != "" || c.getenv("SSH_TTY") != "" // its desktop is another machine's
	for _, native := range nativeClipboards {
		if remote || native.system != "" && native.system != runtime.GOOS || native.variable != "" && c.getenv(native.variable) == "" {
			continue
		}
		path, err := c.look(native.command[0])
		if err != nil {
			continue
		}
		bounded, cancel := context.WithTimeout(ctx, clipboardTime)
		err = c.run(bounded, text, path, native.command[1:]...)
		cancel()
		if err == nil {
			return "copied", nil
		}
	}
	if kind := c.getenv("TERM"); c.terminal != nil && kind != "" && kind != "dumb" && kind != "linux" && len(text) <= longestOSC52 {
		sequence := osc52.New(text)
		if strings.HasPrefix(kind, "screen") && c.getenv("TMUX") == "" {
			sequence = sequence.Screen()
		}
		if _, err := sequence.WriteTo(c.terminal); err == nil {
			return "copied through the terminal", nil
		}
	}
	return c.file(text)
}

// file is where a text goes that no clipboard takes.
func (c clipboard) file(text string) (string, error) {
	dir := c.getenv("XDG_RUNTIME_DIR")
	if dir == "" {
		dir = os.TempDir()
	}
	file, err := os.CreateTemp(dir, "kapi-copied-*.txt")
	if err != nil {
		return "", fmt.Errorf("copying: no clipboard, and no file: %w", err)
	}
	_, err = file.WriteString(text)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return "", fmt.Errorf("copying to %s: %w", file.Name(), err)
	}
	return "there is no clipboard; written to " + file.Name(), nil
}

// copy puts a text into the clipboard; what names it.
func (a *app) copy(text, what string) tea.Cmd {
	c := a.clipboard
	return func() tea.Msg {
		where, err := c.put(context.Background(), text)
		if err != nil {
			return effectMsg(page.Effect{Toast: errorText(err), Bad: true})
		}
		return effectMsg(page.Effect{Toast: where + ": " + what})
	}
}
