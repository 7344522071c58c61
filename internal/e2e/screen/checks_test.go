package screen_test

import (
	"fmt"
	"slices"
	"strings"
)

// screen is what is seen at a moment.
type screen string

func (s screen) lines() []string { return strings.Split(string(s), "\n") }

func (s screen) String() string { return string(s) }

// check says what is wrong with a screen.
type check func(screen) error

func (s screen) passes(checks []check) error {
	for _, check := range checks {
		if err := check(s); err != nil {
			return err
		}
	}
	return nil
}

// has wants texts on the screen.
func has(texts ...string) check {
	return func(s screen) error {
		for _, text := range texts {
			if !strings.Contains(string(s), text) {
				return fmt.Errorf("%q is not on the screen", text)
			}
		}
		return nil
	}
}

// lacks wants texts not to be on the screen.
func lacks(texts ...string) check {
	return func(s screen) error {
		for _, text := range texts {
			if strings.Contains(string(s), text) {
				return fmt.Errorf("%q is on the screen", text)
			}
		}
		return nil
	}
}

// full wants as many lines as the terminal has, the head on the first one, once, and
// the foot on the last one: a screen that is too tall loses lines at its top, one that
// is too low leaves those of the screen before.
func full(at size) check {
	return func(s screen) error {
		lines := s.lines()
		isHead := func(line string) bool { return strings.HasPrefix(line, " kapi ") }
		heads := len(slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return !isHead(line) }))
		switch last := lines[len(lines)-1]; {
		case len(lines) != at.height:
			return fmt.Errorf("the screen has %d lines, the terminal %d", len(lines), at.height)
		case !isHead(lines[0]) || heads != 1:
			return fmt.Errorf("the first line is %q, and there are %d heads", lines[0], heads)
		case !strings.Contains(last, "? help") || !strings.HasSuffix(last, "q quit"):
			return fmt.Errorf("the last line is %q", last)
		}
		return nil
	}
}

// head wants a text on the first line.
func head(text string) check {
	return func(s screen) error {
		if first := s.lines()[0]; !strings.Contains(first, text) {
			return fmt.Errorf("the head is %q, without %q", first, text)
		}
		return nil
	}
}
