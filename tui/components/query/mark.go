package query

import (
	"unicode"
	"unicode/utf8"

	"github.com/kapi-dev/kapi/tui/ink"
)

// Mark appends a text to a line, with the words in it as matches. Words are in
// lower case, the text is clean.
func Mark(line ink.Line, span ink.Span, words []string) ink.Line {
	if len(words) == 0 || span.Text == "" {
		return append(line, span)
	}
	return append(line, MarkLine(ink.Line{span}, words)...)
}

// MarkLine returns a line of clean texts with the words in it as matches, also where
// a word goes across several texts.
func MarkLine(line ink.Line, words []string) ink.Line {
	found := matches(line.String(), words)
	if len(found) == 0 {
		return line
	}
	marked, begin := make(ink.Line, 0, len(line)+2*len(found)), 0
	for _, span := range line {
		marked = cut(marked, span, begin, found)
		begin += len(span.Text)
	}
	// Where a word ends within a letter of several runes, its parts take other
	// room than the whole: such a line stays as it is.
	if marked.Width() != line.Width() {
		return line
	}
	return marked
}

// stretch is a part of a text, in bytes.
type stretch struct{ from, to int }

// matches are the stretches of a text that are words.
func matches(text string, words []string) []stretch {
	var found []stretch
	for at := 0; at < len(text); {
		if size := longest(text[at:], words); size > 0 {
			found = append(found, stretch{at, at + size})
			at += size
			continue
		}
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return found
}

// cut appends a span to a line, cut where matches begin and end. The span begins at
// a place of the text in which they were found.
func cut(line ink.Line, span ink.Span, begin int, found []stretch) ink.Line {
	part := func(token ink.Token, from, to int) {
		if from < to {
			line = append(line, ink.Span{Token: token, Selected: span.Selected, Text: span.Text[from:to]})
		}
	}
	done := 0
	for _, match := range found {
		from, to := max(done, match.from-begin), min(len(span.Text), match.to-begin)
		if from < to {
			part(span.Token, done, from)
			part(ink.Match, from, to)
			done = to
		}
	}
	part(span.Token, done, len(span.Text))
	return line
}

// longest is the size of the longest word that text begins with, with the combining
// signs after it.
func longest(text string, words []string) int {
	size := 0
	for _, word := range words {
		size = max(size, beginning(text, word))
	}
	for size > 0 {
		r, more := utf8.DecodeRuneInString(text[size:])
		if !unicode.Is(unicode.Mn, r) {
			break
		}
		size += more
	}
	return size
}

// beginning is how many bytes of text are the word in any case; 0 if it begins
// with something else. Letters may have another size in the other case.
func beginning(text, word string) int {
	rest := text
	for _, want := range word {
		got, size := utf8.DecodeRuneInString(rest)
		if size == 0 || unicode.ToLower(got) != want {
			return 0
		}
		rest = rest[size:]
	}
	return len(text) - len(rest)
}
