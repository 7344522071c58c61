package theme

import (
	"strings"
)

// Profile are the colours that a terminal has.
type Profile int

// The profiles.
const (
	// TrueColor are 24 bits.
	TrueColor Profile = iota
	// ANSI256 and ANSI16 are palettes of that many colours.
	ANSI256
	ANSI16
	// None is no colour; bold, reverse and the like there are.
	None
)

// String names the profile.
func (p Profile) String() string {
	names := [...]string{"truecolor", "256 colours", "16 colours", "no colours"}
	if p < 0 || int(p) >= len(names) {
		return "unknown"
	}
	return names[p]
}

// trueColorTerms are terminals that have 24 bits and, over ssh, no COLORTERM to say so.
var trueColorTerms = []string{"alacritty", "contour", "foot", "rio", "wezterm", "xterm-ghostty", "xterm-kitty", "direct"}

// DetectProfile tells from the environment which colours the terminal has. NO_COLOR
// is the strongest (https://no-color.org), then CLICOLOR=0, unless CLICOLOR_FORCE
// says otherwise (https://bixense.com/clicolors); then what COLORTERM and TERM name.
// Under screen, which has 256 at most, COLORTERM is that of another terminal.
func DetectProfile(getenv func(string) string) Profile {
	forced := getenv("CLICOLOR_FORCE") != "" && getenv("CLICOLOR_FORCE") != "0"
	if getenv("NO_COLOR") != "" || getenv("CLICOLOR") == "0" && !forced {
		return None
	}
	p := named(strings.ToLower(getenv("COLORTERM")), strings.ToLower(getenv("TERM")), getenv("TERM_PROGRAM") == "tmux")
	if forced && p == None {
		return ANSI16
	}
	return p
}

func named(colorTerm, term string, tmux bool) Profile {
	contains := func(parts ...string) bool {
		for _, part := range parts {
			if strings.Contains(term, part) {
				return true
			}
		}
		return false
	}
	full := colorTerm == "truecolor" || colorTerm == "24bit"
	switch {
	case term == "" || term == "dumb" || strings.HasPrefix(term, "vt"):
		return None
	case full && strings.HasPrefix(term, "screen") && !tmux:
		return ANSI256
	case full, contains(trueColorTerms...):
		return TrueColor
	case contains("256color"), colorTerm == "yes" || colorTerm == "true":
		return ANSI256
	default: // the last terminals without colours were called vt
		return ANSI16
	}
}
