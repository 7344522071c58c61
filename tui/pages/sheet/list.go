package sheet

import (
	"slices"

	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/pages/kit"
)

// List is a list with notes below it about what the server does not show, where
// there is room for them.
type List[T any] struct {
	*kit.List[T]
	signs *Signs
	used  map[string][]string
}

// NewList returns a list. signs are what its columns make their marks with, used are
// the columns of each feed whose gaps are worth a note; nil is all of all feeds.
func NewList[T any](signs *Signs, used map[string][]string, config kit.ListConfig[T]) *List[T] {
	return &List[T]{List: kit.NewList(config), signs: signs, used: used}
}

// gaps are those of what the list shows.
func (l *List[T]) gaps() []inspection.Gap {
	var gaps []inspection.Gap
	for _, key := range l.Needs() {
		for _, gap := range l.Frame().View(key).Gaps {
			if l.used == nil || gap.Column == "" || slices.Contains(l.used[key.Inspect], gap.Column) {
				gaps = append(gaps, gap)
			}
		}
	}
	return gaps
}

// spare are the lines of a list besides its rows: headings and what stands above.
const spare = 4

// View implements page.Page.
func (l *List[T]) View(paper ink.Paper) []ink.Line {
	if l.signs != nil {
		l.signs.On(paper)
	}
	room := paper.Height - spare - len(l.Table().Rows())
	if len(l.Table().Rows()) == 0 || room < 2 {
		return l.List.View(paper)
	}
	notes := Notes(l.gaps(), paper)
	if len(notes) == 0 {
		return l.List.View(paper)
	}
	notes = notes[:min(len(notes), room-1)]
	lines := l.List.View(paper.Sized(paper.Width, paper.Height-len(notes)-1))
	return ink.Fill(append(append(lines, nil), notes...), paper.Height)
}
