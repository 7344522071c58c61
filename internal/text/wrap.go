package text

import (
	"strings"
	"unicode/utf8"
)

// Wrap breaks cleaned text into lines of at most width columns: at blanks, and
// within a word that is longer than a line. No width is one line; no text none.
func Wrap(text string, width int) []string {
	words := strings.Fields(text)
	if width <= 0 {
		if len(words) == 0 {
			return nil
		}
		return []string{strings.Join(words, " ")}
	}
	var lines []string
	line, used := "", 0
	for _, word := range words {
		head, rest := cut(word, width)
		if size := Width(head); rest == "" && line != "" && used+1+size <= width {
			line, used = line+" "+head, used+1+size
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		for rest != "" {
			lines = append(lines, head)
			head, rest = cut(rest, width)
		}
		line, used = head, Width(head)
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// cut divides text behind what fits in width columns, which is never nothing: a
// letter that is wider than that becomes a question mark. It looks at little more
// than it needs, so that long words take no longer than as many short ones.
func cut(text string, width int) (head, rest string) {
	for size := 64 + 16*width; ; size *= 2 {
		begin := text
		if size < len(text) {
			for size > 0 && !utf8.RuneStart(text[size]) {
				size--
			}
			begin = text[:size]
		}
		head = fit(begin, width, "")
		switch {
		case head == "" && begin != "":
			letter := firstLetter(begin)
			return "?", text[len(letter):]
		case head != begin || len(begin) == len(text):
			return head, text[len(head):]
		}
	}
}

// firstLetter is the shortest beginning of text that can be seen.
func firstLetter(text string) string {
	for width := 1; ; width++ {
		if head := fit(text, width, ""); head != "" {
			return head
		}
	}
}

// room is the width that is left beside an indent; 0 is no limit.
func (s Screen) room(indent int) int {
	if s.Width <= 0 {
		return 0
	}
	return max(1, s.Width-indent)
}
