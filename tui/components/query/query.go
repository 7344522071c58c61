// Package query is the filter that is typed after a slash.
//
//	text          rows that hold it, in any column, without regard to case
//	!text         rows that do not
//	field:value   rows whose column holds it; field:>3 and the like compare numbers, durations and sizes
//	-l key=value  rows with these labels (any label selector)
//
// Terms are separated by blanks and all must hold; quotes keep blanks together.
//
// Comparisons are > >= < <= = and !=; a field is the column's title, with dashes for
// blanks. A term that begins with a quote is a text, whatever is in it: "a:b". The
// package may import apimachinery, the kinds and ink.
package query

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
)

// Row is what a filter looks at.
type Row struct {
	// Cell returns a column's text by its lower-case title.
	Cell func(title string) (text string, ok bool)
	// Text is everything, in lower case.
	Text func() string
	// Labels may be nil.
	Labels map[string]string
}

// Query is a compiled filter. The zero Query lets everything through.
type Query struct {
	terms []term
	words []string
	// labels says that a term is about labels.
	labels bool
}

// term is one condition.
type term struct {
	not   bool
	holds func(row Row) bool
	// word is what to mark.
	word   string
	labels bool
}

// Match tells whether a row passes.
func (q Query) Match(row Row) bool {
	for _, term := range q.terms {
		if term.holds(row) == term.not {
			return false
		}
	}
	return true
}

// Zero tells whether everything passes.
func (q Query) Zero() bool { return len(q.terms) == 0 }

// Words are the texts that were searched for, to mark them.
func (q Query) Words() []string { return q.words }

// Labels tells whether any term is about labels: rows need none for others.
func (q Query) Labels() bool { return q.labels }

// compile makes the query of terms.
func compile(terms []term) Query {
	q := Query{terms: terms}
	for _, term := range terms {
		q.labels = q.labels || term.labels
		if term.word != "" && !term.not && !slices.Contains(q.words, term.word) {
			q.words = append(q.words, term.word)
		}
	}
	return q
}

func textTerm(text string, not bool) term {
	word := strings.ToLower(text)
	return term{not: not, word: word, holds: func(row Row) bool {
		return row.Text != nil && strings.Contains(row.Text(), word)
	}}
}

func labelTerm(selector labels.Selector) term {
	return term{labels: true, holds: func(row Row) bool { return selector.Matches(labels.Set(row.Labels)) }}
}

func fieldTerm(title, value string, not bool) term {
	word := strings.ToLower(value)
	return term{not: not, word: word, holds: func(row Row) bool {
		text, ok := row.cell(title)
		return ok && strings.Contains(strings.ToLower(text), word)
	}}
}

func compareTerm(title string, c comparison, not bool) term {
	return term{not: not, holds: func(row Row) bool {
		text, ok := row.cell(title)
		return ok && c.holds(text)
	}}
}

func (r Row) cell(title string) (text string, ok bool) {
	if r.Cell == nil {
		return "", false
	}
	return r.Cell(title)
}
