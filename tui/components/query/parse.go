package query

import (
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kapi-dev/kapi/internal/fault"
)

// Parse compiles a filter; titles are the columns that there are. The error names
// the term and what would be right.
func Parse(text string, titles []string) (Query, error) {
	words, err := split(text)
	if err != nil {
		return Query{}, err
	}
	var terms []term
	for i := 0; i < len(words); i++ {
		if words[i].text == "-l" && !words[i].quotedFrom(0) {
			i++
			if i == len(words) {
				return Query{}, fault.WithHint(fault.Usagef("-l has no labels after it"), "as in -l app=web, or -l \"app in (web, db)\"")
			}
			selector, err := labels.Parse(words[i].text)
			if err != nil {
				return Query{}, fault.WithHint(fault.Usagef("-l %s is no label selector: %w", words[i].text, err), "as in -l app=web, or -l \"app in (web, db)\"")
			}
			terms = append(terms, labelTerm(selector))
			continue
		}
		term, err := parseTerm(words[i], titles)
		if err != nil {
			return Query{}, err
		}
		if term.holds != nil {
			terms = append(terms, term)
		}
	}
	return compile(terms), nil
}

// parseTerm compiles a term; there is nothing to hold where it says nothing yet.
func parseTerm(w word, titles []string) (term, error) {
	not := strings.HasPrefix(w.text, "!") && !w.quotedFrom(0)
	if not {
		w = w.from(1)
	}
	name, value, isField := strings.Cut(w.text, ":")
	switch {
	case w.text == "":
		return term{}, nil
	case !isField || name == "" || w.quotedFrom(len(name)):
		return textTerm(w.text, not), nil
	}
	at := slices.IndexFunc(titles, func(title string) bool { return strings.EqualFold(fieldOf(title), name) })
	if at < 0 {
		return term{}, unknownField(w.text, name, titles)
	}
	if w.quotedFrom(len(name) + 1) {
		return fieldTerm(titles[at], value, not), nil
	}
	operator, operand := cutOperator(value)
	if operator == "" {
		return fieldTerm(titles[at], value, not), nil
	}
	c, err := newComparison(operator, operand)
	if err != nil {
		return term{}, fault.WithHint(fault.Usagef("%s: %w", w.text, err), "as in %s:>3, %s:>=1.5s or %s:<10Mi", name, name, name)
	}
	return compareTerm(titles[at], c, not), nil
}

// fieldOf is how a title is typed.
func fieldOf(title string) string { return strings.ReplaceAll(strings.ToLower(title), " ", "-") }

func unknownField(text, name string, titles []string) error {
	fields := make([]string, len(titles))
	for i, title := range titles {
		fields[i] = fieldOf(title)
	}
	err := fault.Usagef("%s: there is no column %s; columns are %s", text, name, strings.Join(fields, ", "))
	if len(titles) == 0 {
		err = fault.Usagef("%s: there is no column %s, and no other", text, name)
	}
	return fault.WithHint(err, "in quotes it is a text: %q", text)
}

// word is a part of a filter between blanks.
type word struct {
	text string
	// quoted are the places of text at which a quoted part begins.
	quoted []int
}

// quotedFrom tells whether a quoted part begins at a place, or before it.
func (w word) quotedFrom(place int) bool {
	return len(w.quoted) > 0 && w.quoted[0] <= place
}

// from is the word without its beginning.
func (w word) from(place int) word {
	rest := word{text: w.text[place:]}
	for _, at := range w.quoted {
		rest.quoted = append(rest.quoted, max(0, at-place))
	}
	return rest
}

// split divides a filter at its blanks, and takes the quotes off.
func split(text string) ([]word, error) {
	var (
		words  []word
		now    word
		b      strings.Builder
		inside bool
		opened int
	)
	end := func() {
		if now.text = b.String(); now.text != "" || len(now.quoted) > 0 {
			words = append(words, now)
		}
		now = word{}
		b.Reset()
	}
	for at, r := range text {
		switch {
		case r == '"':
			if inside = !inside; inside {
				opened = at
				now.quoted = append(now.quoted, b.Len())
			}
		case unicode.IsSpace(r) && !inside:
			end()
		default:
			b.WriteRune(r)
		}
	}
	if inside {
		return nil, fault.WithHint(fault.Usagef("the quote before %q is not closed", text[opened+1:]), "end it with another quote")
	}
	end()
	return words, nil
}
