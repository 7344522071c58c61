package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean makes text of unknown origin safe to print on one line of a terminal.
// Everything that a server sent goes through it. Line breaks and tabs become
// blanks. What would steer the terminal, or have a line read in another order than
// it was written, becomes U+FFFD: controls of C0 and C1, with them every escape
// sequence, overrides and isolates of the bidirectional algorithm, and bytes that
// are not UTF-8.
func Clean(text string) string {
	if isClean(text) {
		return text
	}
	return strings.Map(cleanRune, strings.ToValidUTF8(text, "\uFFFD"))
}

func isClean(text string) bool {
	for _, r := range text {
		if cleanRune(r) != r {
			return false
		}
	}
	return utf8.ValidString(text)
}

func cleanRune(r rune) rune {
	switch {
	case r == '\n', r == '\r', r == '\t', r == '\v', r == '\f', r == '\u0085', r == '\u2028', r == '\u2029':
		return ' '
	case unicode.IsControl(r), r >= '\u202A' && r <= '\u202E', r >= '\u2066' && r <= '\u2069':
		return '\uFFFD'
	default:
		return r
	}
}

// signs are those that kapi itself writes and ASCII has other ways for.
var signs = strings.NewReplacer("…", "...", "µ", "u", "→", "->", "·", "-", "–", "-", "\uFFFD", "?")

// Clean is the function of this name; where only ASCII is wanted it also replaces
// the signs that kapi writes itself ("µs" becomes "us"). The letters of a name
// stay as they are: it could not be found again under another.
func (s Screen) Clean(text string) string {
	text = Clean(text)
	if s.ASCII {
		return signs.Replace(text)
	}
	return text
}
