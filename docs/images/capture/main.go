// Command capture draws a terminal as a picture: it reads what `tmux capture-pane
// -e -N -p` prints and writes an SVG. docs/images/make takes the pictures of the
// documentation with it.
//
// It is no terminal: a capture is lines of text with SGR sequences between them, and
// anything else in it is left out. It imports the standard library and go-runewidth.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "capture:", err)
		os.Exit(1)
	}
}

// mostBytes is far more than the largest screen.
const mostBytes = 16 << 20

func run(args []string, in io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("capture", flag.ContinueOnError)
	title := flags.String("title", "", "what stands above the picture")
	background := flags.String("background", "dark", "background of the terminal: dark or light")
	columns := flags.Int("columns", 0, "least width in cells; a capture may lack the blanks at its right")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("takes no argument, and %q is one: the capture comes from standard input", flags.Arg(0))
	}
	colors, ok := palettes[*background]
	if !ok {
		return fmt.Errorf("-background %q is neither dark nor light", *background)
	}
	raw, err := io.ReadAll(io.LimitReader(in, mostBytes))
	if err != nil {
		return fmt.Errorf("reading the capture: %w", err)
	}
	screen := parse(string(raw))
	screen.columns = max(screen.columns, *columns)
	if screen.columns == 0 {
		return errors.New("the capture is empty")
	}
	if _, err := out.Write(draw(screen, colors, *title)); err != nil {
		return fmt.Errorf("writing the picture: %w", err)
	}
	return nil
}
