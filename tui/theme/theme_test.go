package theme_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/theme"
)

var profiles = []theme.Profile{theme.TrueColor, theme.ANSI256, theme.ANSI16, theme.None}

// TestEveryTheme loads each built-in theme for each kind of terminal. What stands
// for a state must differ from plain text, and the row of the cursor from others.
func TestEveryTheme(t *testing.T) {
	for _, name := range theme.Names("") {
		for _, profile := range profiles {
			t.Run(fmt.Sprintf("%s/%s", name, profile), func(t *testing.T) {
				th, err := theme.Load(theme.Options{Name: name, Profile: profile})
				if err != nil {
					t.Fatal(err)
				}
				if th.Name != name || th.Glyphs == nil {
					t.Errorf("the theme is %q with the glyphs %v", th.Name, th.Glyphs)
				}
				plain, _ := th.Sequences(ink.Text, false)
				for token := range ink.Tokens {
					own, after := th.Sequences(token, false)
					selected, _ := th.Sequences(token, true)
					// A match, or what is bad, may have a background that it keeps.
					if own == selected && token != ink.Match && token != ink.Bad {
						t.Errorf("token %d looks selected where it is not: %q", token, own)
					}
					if (own == "") != (after == "") {
						t.Errorf("token %d begins with %q and ends with %q", token, own, after)
					}
					checkSGR(t, own, profile)
					checkSGR(t, selected, profile)
					if slices.Contains(states, token) && own == plain {
						t.Errorf("state token %d looks like plain text: %q", token, own)
					}
				}
			})
		}
	}
}

// states are the tokens that stand for one.
var states = []ink.Token{ink.Good, ink.Warning, ink.Bad, ink.Changed, ink.Match}

// checkSGR tells whether a sequence is one that sets how text looks, in no more
// colours than there are.
func checkSGR(t *testing.T, sequence string, profile theme.Profile) {
	t.Helper()
	if sequence == "" {
		return
	}
	inner, ok := strings.CutPrefix(sequence, "\x1b[")
	inner, end := strings.CutSuffix(inner, "m")
	if !ok || !end || strings.Trim(inner, "0123456789;") != "" {
		t.Errorf("%q is not one SGR sequence", sequence)
	}
	full, indexed := strings.Contains(inner, "8;2;"), strings.Contains(inner, "8;5;")
	basic := false
	for _, part := range strings.Split(inner, ";") {
		basic = basic || len(part) == 2 && part[0] >= '3' && part != "38" && part != "48" || len(part) == 3 && part < "108"
	}
	switch {
	case profile == theme.None && (full || indexed || basic):
		t.Errorf("%q has colours", sequence)
	case profile == theme.ANSI16 && (full || indexed):
		t.Errorf("%q has more than 16 colours", sequence)
	case profile == theme.ANSI256 && full:
		t.Errorf("%q has more than 256 colours", sequence)
	}
}
