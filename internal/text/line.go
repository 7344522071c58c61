package text

import "strings"

// lineBuilder collects what stands on one line. Blanks are held back until something
// follows them, so that none is at the end, and nothing goes beyond the screen.
type lineBuilder struct {
	screen  Screen
	built   strings.Builder
	used    int
	blanks  int
	crowded bool
}

// pad adds blanks.
func (l *lineBuilder) pad(blanks int) { l.blanks += blanks }

// put adds cleaned text. Once something had to be cut, nothing more is added.
func (l *lineBuilder) put(tone Tone, text string) {
	inner := strings.TrimLeft(text, " ")
	l.blanks += len(text) - len(inner)
	trimmed := strings.TrimRight(inner, " ")
	trailing := len(inner) - len(trimmed)
	if trimmed == "" || l.crowded {
		return
	}
	if limit := l.screen.Width; limit > 0 {
		whole := Width(trimmed)
		left := limit - l.used - l.blanks
		if whole > left {
			l.crowded = true
			trimmed = strings.TrimRight(l.screen.Fit(trimmed, left), " ")
			if trimmed == "" {
				return
			}
		}
		l.used += l.blanks + Width(trimmed)
	}
	l.built.WriteString(strings.Repeat(" ", l.blanks))
	l.built.WriteString(l.screen.Paint(tone, trimmed))
	l.blanks = trailing
}

func (l *lineBuilder) String() string { return l.built.String() }
