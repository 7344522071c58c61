package view

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kapi-dev/kapi/internal/text"
)

// update writes what is printed to the golden files instead of comparing it.
var update = flag.Bool("update", false, "write the golden files")

// screens are those that every view is printed for.
var screens = map[string]text.Screen{
	"80":       {Width: 80},
	"160":      {Width: 160},
	"free":     {},
	"80-color": {Width: 80, Color: true},
	"80-ascii": {Width: 80, ASCII: true},
}

// golden prints a view for each screen and compares it with testdata/NAME.SCREEN.txt.
// No line may be wider than its screen, at other widths neither.
func golden(t *testing.T, name string, show func(io.Writer, text.Screen) error) {
	t.Helper()
	for screen, s := range screens {
		got := printView(t, s, show)
		file := filepath.Join("testdata", name+"."+screen+".txt")
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s differs (go test -update writes it); got\n%s", file, got)
		}
	}
	for _, width := range []int{1, 7, 20, 40, 79, 100, 300} {
		for _, ascii := range []bool{false, true} {
			printView(t, text.Screen{Width: width, ASCII: ascii}, show)
		}
	}
	if err := show(failing{}, text.Screen{Width: 80}); !errors.Is(err, errFull) {
		t.Errorf("%s: the writer's error is lost: %v", name, err)
	}
}

func printView(t *testing.T, s text.Screen, show func(io.Writer, text.Screen) error) string {
	t.Helper()
	var out strings.Builder
	if err := show(&out, s); err != nil {
		t.Fatal(err)
	}
	if err := fits(out.String(), s); err != nil {
		t.Error(err)
	}
	return out.String()
}

// fits tells whether a text can be shown on a screen.
func fits(printed string, s text.Screen) error {
	for line := range strings.Lines(printed) {
		line = strings.TrimSuffix(line, "\n")
		if !s.Color && (strings.HasSuffix(line, " ") || text.Clean(line) != line) {
			return fmt.Errorf("on %+v: blanks at the end, or controls in it: %q", s, line)
		}
		if !s.Color && s.Width > 0 && text.Width(line) > s.Width {
			return fmt.Errorf("on %+v: %d columns: %q", s, text.Width(line), line)
		}
	}
	return nil
}

var errFull = errors.New("disk full")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFull }
