package doc

import (
	"strings"

	"github.com/kapi-dev/kapi/tui/ink"
)

// Text is a document of plain text, as it is.
func Text(text string) Render {
	return func(paper ink.Paper) []Line {
		text := strings.TrimSuffix(text, "\n")
		if text == "" {
			return nil
		}
		parts := strings.Split(text, "\n")
		lines := make([]Line, len(parts))
		for i, part := range parts {
			lines[i] = Line{Line: ink.L(ink.Text, expand(strings.TrimSuffix(part, "\r")))}
		}
		return lines
	}
}

// expand replaces tabs by blanks up to the next eighth cell.
func expand(line string) string {
	if !strings.Contains(line, "\t") {
		return line
	}
	var b strings.Builder
	column := 0
	for i, part := range strings.Split(line, "\t") {
		if i > 0 {
			blanks := 8 - column%8
			b.WriteString(strings.Repeat(" ", blanks))
			column += blanks
		}
		b.WriteString(part)
		column += ink.Width(part)
	}
	return b.String()
}
