package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"golang.org/x/term"

	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/theme"
)

// framesPerSecond is how often the screen is drawn at most: a person sees no more,
// and each costs an idle terminal something.
const framesPerSecond = 20

// Run shows the server until the user has enough. It returns an error of bad input
// before anything was drawn or written, and afterwards one where it could not go on.
func Run(ctx context.Context, options Options) (outcome Outcome, err error) {
	keys, err := newKeymap(options.Settings.Keys)
	if err != nil {
		return outcome, err
	}
	// What is wrong with a theme is said although --plain uses none.
	_, err = theme.Load(theme.Options{Name: firstTheme(options), Dir: options.Dirs.Themes(), Glyphs: glyphs(options)})
	if err == nil && !options.Plain {
		err = CheckTerminal(options)
	}
	if err != nil {
		return outcome, err
	}
	if options.Record != "" {
		if options.recorder, err = data.CreateRecording(options.Record); err != nil {
			return outcome, err
		}
		defer func() { err = errors.Join(err, options.recorder.Close()) }()
	}
	if options.Plain {
		return outcome, runPlain(ctx, options)
	}
	return runScreen(ctx, options, keys)
}

// runScreen finds out what the terminal is, and runs the program on it.
func runScreen(ctx context.Context, options Options, keys *keymap) (Outcome, error) {
	profile := theme.DetectProfile(options.Getenv)
	detected := theme.DetectBackground(ctx, options.In, options.Out, options.Getenv)
	themes := func(name string) (*theme.Theme, error) {
		return theme.Load(theme.Options{Name: name, Dir: options.Dirs.Themes(), Glyphs: glyphs(options), Profile: profile, Background: detected.Background})
	}
	first, err := themes(firstTheme(options))
	if err != nil {
		return Outcome{}, err
	}
	return runProgram(ctx, options, newApp(options, keys, themes, first), detected)
}

// CheckTerminal refuses what no screen can be drawn on; bad input.
func CheckTerminal(options Options) error {
	switch {
	case options.In == nil || !term.IsTerminal(int(options.In.Fd())):
		return fault.WithHint(fault.Usagef("standard input is no terminal"), "run it in a terminal, or with --plain for lines that need none")
	case options.Out == nil || !term.IsTerminal(int(options.Out.Fd())):
		return fault.WithHint(fault.Usagef("standard output is no terminal"), "run it in a terminal, or with --plain for lines that need none")
	case options.Getenv("TERM") == "dumb" || options.Getenv("TERM") == "":
		return fault.WithHint(fault.Usagef("TERM=%q is a terminal that can't draw", options.Getenv("TERM")), "set TERM to what it is (xterm-256color), or use --plain")
	}
	return nil
}

// firstTheme is the one of the command line, of the settings, of the last time.
func firstTheme(options Options) string {
	switch {
	case options.Theme != "":
		return options.Theme
	case options.Settings.Theme != "":
		return options.Settings.Theme
	case options.State != nil && options.State.Theme != "" && options.Getenv("NO_COLOR") == "":
		// A theme that is no longer there is no reason not to start.
		if _, err := theme.Load(theme.Options{Name: options.State.Theme, Dir: options.Dirs.Themes()}); err == nil {
			return options.State.Theme
		}
	}
	return "auto"
}

func glyphs(options Options) string {
	if set := options.Settings.Glyphs; set != "" && set != "auto" {
		return set
	}
	return theme.DetectGlyphs(options.Getenv)
}

// themeNames are those that there are, the built-in ones and the user's.
func (a *app) themeNames() []string { return theme.Names(a.options.Dirs.Themes()) }

// runProgram runs the model on the terminal. While the screen is up nothing else
// may write to it: what goes to standard error is caught.
func runProgram(ctx context.Context, options Options, model *app, detected theme.Detected) (Outcome, error) {
	crashes := newCrashes(options)
	model.crashed = crashes.add
	restore, err := crashes.catch(options)
	if err != nil {
		return Outcome{}, err
	}
	program := tea.NewProgram(model, programOptions(ctx, options, detected)...)
	signals := watchSignals(program, crashes.add)
	model.stopProcess = signals.suspend
	_, err = program.Run()
	signal := signals.stop()
	restore()
	if model.session != nil {
		model.session.close()
	}
	return model.outcome, crashes.ended(model, ignoreEnd(ctx, err, signal), signal, saveState(options))
}

func programOptions(ctx context.Context, options Options, detected theme.Detected) []tea.ProgramOption {
	list := []tea.ProgramOption{
		tea.WithContext(ctx), tea.WithAltScreen(), tea.WithFPS(framesPerSecond), tea.WithOutput(options.Out),
		tea.WithoutSignalHandler(), tea.WithInput(options.In),
	}
	if detected.Pending || len(detected.Typed) > 0 {
		list = append(list, tea.WithInput(detected.Input(options.In)))
	}
	if options.Mouse {
		list = append(list, tea.WithMouseCellMotion())
	}
	return list
}

// ignoreEnd drops the errors of an end that was asked for, and of a terminal that
// has gone.
func ignoreEnd(ctx context.Context, err error, signal os.Signal) error {
	if err != nil && ctx.Err() == nil && signal == nil && !errors.Is(err, tea.ErrInterrupted) {
		return fmt.Errorf("running the terminal UI: %w", err)
	}
	return nil
}

func saveState(options Options) error {
	if options.State == nil {
		return nil
	}
	return options.State.Save()
}

// crashes keeps what a failure leaves, for a bug report: never on the screen.
type crashes struct {
	file string
	kept bool
	tail tailBuffer
}

func newCrashes(options Options) *crashes {
	c := &crashes{}
	if options.Dirs.State != "" {
		c.file = filepath.Join(options.Dirs.State, "tui-crash.txt")
	}
	return c
}

// catch keeps standard error off the screen, where it is one. The log of a server in
// this process goes to its page.
func (c *crashes) catch(options Options) (restore func(), err error) {
	to := io.Writer(&c.tail)
	switch {
	case options.Logs != nil:
		to = options.Logs
	case !term.IsTerminal(int(os.Stderr.Fd())):
		return func() {}, nil // somebody wants it elsewhere
	}
	caught, err := catchStderr(to)
	if err != nil {
		return nil, err
	}
	return caught.restore, nil
}

// add writes a failure with its stack to the file.
func (c *crashes) add(what string, value any, stack []byte) {
	if c.file == "" {
		return
	}
	if err := os.MkdirAll(filepath.Dir(c.file), 0o700); err != nil {
		return
	}
	flags := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	if !c.kept {
		flags |= os.O_TRUNC // those of earlier runs
	}
	file, err := os.OpenFile(c.file, flags, 0o600)
	if err != nil {
		return
	}
	defer file.Close() // nothing is lost that could still be told
	if _, err := fmt.Fprintf(file, "%s %s: %v\n%s\n", time.Now().Format(time.RFC3339), what, value, stack); err == nil {
		c.kept = true
	}
}

// ended is the error of the whole run.
func (c *crashes) ended(model *app, err error, signal os.Signal, saving error) error {
	if model.broken != nil {
		err = model.broken
	}
	if err != nil && c.kept {
		return fault.WithHint(err, "please report it: the details are in %s", c.file)
	}
	if err == nil && c.kept {
		fmt.Fprintf(os.Stderr, "a page failed: the details are in %s\n", c.file)
	}
	if err == nil && signal != nil {
		return signalError(signal)
	}
	if err == nil {
		return saving
	}
	return err
}

// tailBuffer keeps the end of what is written to it.
type tailBuffer struct{ kept []byte }

// mostTail is how much.
const mostTail = 16 << 10

func (t *tailBuffer) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	t.kept = t.kept[max(0, len(t.kept)-mostTail):]
	return len(p), nil
}
