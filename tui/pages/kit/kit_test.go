package kit

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/tui/components/doc"
	"github.com/kapi-dev/kapi/tui/components/vtable"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
)

var (
	glyphs = &ink.Glyphs{Good: "+", Warning: "!", Bad: "x", Unknown: "?", Running: "*", Off: "o", Cursor: ">", Changed: "d", Ellipsis: "~", Vertical: "|", Horizontal: "-", Open: "v", Closed: ">", Ascending: "^", Descending: "v"}
	needed = data.Of("filters")
	now    = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
)

func paper(width, height int) ink.Paper {
	return ink.Paper{Width: width, Height: height, Glyphs: glyphs, Now: now}
}

// frame has filters of these names, in a state.
func frame(state data.State, err error, names ...string) data.Frame {
	view := data.View{Key: needed, State: state, Err: err, Revision: 1}
	for _, name := range names {
		f := &v1alpha1.Filter{}
		f.Name = name
		view.Objects = append(view.Objects, f)
	}
	return data.Frame{Now: now, State: data.Live}.With(view)
}

func list(change ...func(*ListConfig[*v1alpha1.Filter])) *List[*v1alpha1.Filter] {
	config := ListConfig[*v1alpha1.Filter]{
		Title: "filters", Needs: []data.Key{needed},
		Rows: func(f data.Frame) []*v1alpha1.Filter { return data.Objects[*v1alpha1.Filter](f, needed) },
		Table: vtable.Config[*v1alpha1.Filter]{
			Key:     func(f *v1alpha1.Filter) string { return f.Name },
			Columns: []vtable.Column[*v1alpha1.Filter]{{Title: "NAME", Grow: 1, Cell: func(f *v1alpha1.Filter, _ time.Time) ink.Span { return ink.T(ink.Text, f.Name) }}},
			Empty:   "no filters at all",
		},
		Subject: func(f *v1alpha1.Filter) page.Subject { return page.Subject{Kind: "filter", Name: f.Name} },
		Open:    func(f *v1alpha1.Filter) page.Location { return page.At("chain", f.Name) },
	}
	for _, each := range change {
		each(&config)
	}
	return NewList(config)
}

func text(p page.Page, width, height int) string {
	var lines []string
	for _, line := range p.View(paper(width, height)) {
		lines = append(lines, strings.TrimRight(paper(width, height).Fit(line, width).String(), " "))
	}
	return strings.Join(lines, "\n")
}

func act(p page.Page, id page.ActionID) page.Effect { return p.Act(page.Action{ID: id, Count: 1}) }

// In every state a list says how it is, with what it has and without.
func TestListStates(t *testing.T) {
	t.Parallel()
	why := fault.WithHint(errors.New("it says no"), "ask somebody")
	for _, test := range []struct {
		state data.State
		err   error
		names []string
		want  []string
	}{
		{data.Loading, nil, nil, []string{"* loading"}},
		{data.Live, nil, nil, []string{"no filters at all"}},
		{data.Live, nil, []string{"花子"}, []string{"> 花子"}},
		{data.Forbidden, why, nil, []string{"! forbidden", "it says no", "ask somebody"}},
		{data.Forbidden, why, []string{"a"}, []string{"! forbidden  it says no", "> a"}},
		{data.Failed, why, nil, []string{"x error", "it says no", "ask somebody"}},
		{data.Failed, why, []string{"a"}, []string{"x error  it says no", "> a"}},
		{data.Absent, nil, nil, []string{"o not on this server"}},
		{data.Stale, why, nil, []string{"! stale", "it says no"}},
		{data.Stale, why, []string{"a"}, []string{"> a"}},
	} {
		l := list()
		l.Update(frame(test.state, test.err, test.names...))
		got := text(l, 60, 12)
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("%v with %q: %q is not in\n%s", test.state, test.names, want, got)
			}
		}
	}
	if _, blocked := Blocked(data.View{State: data.Live, Gaps: []inspection.Gap{{Column: "RATE", Reason: "no metric"}}}, paper(60, 9)); !blocked {
		t.Error("why there is nothing is not said")
	}
}

// Whatever is drawn has as many lines as the paper.
func TestHeights(t *testing.T) {
	t.Parallel()
	for _, p := range []page.Page{
		list(), list(func(c *ListConfig[*v1alpha1.Filter]) {
			c.Head = func(data.Frame, ink.Paper) []ink.Line { return make([]ink.Line, 9) }
			c.Detail = func(f *v1alpha1.Filter, _ data.Frame) doc.Render { return doc.Text(f.Name + "\nשלום") }
		}),
		NewText(TextConfig{Title: "text", Needs: []data.Key{needed}, Render: func(data.Frame) doc.Render { return doc.Text("a\n花子\x1b[2J") }}),
		NewText(TextConfig{Title: "none", Needs: []data.Key{needed}, Render: func(data.Frame) doc.Render { return nil }}),
		NewParts("parts", Part{Page: list(), Share: 2, Least: 3}, Part{Page: list(), Share: 1, Least: 3}, Part{Page: list(), Least: 5}),
	} {
		for _, f := range []data.Frame{{}, frame(data.Live, nil, "a", "花子", "e\u0301"), frame(data.Forbidden, errors.New(strings.Repeat("no ", 99)))} {
			p.Update(f)
			for _, size := range [][2]int{{0, 0}, {1, 1}, {2, 9}, {40, 10}, {80, 20}, {200, 50}} {
				for _, id := range []page.ActionID{page.Down, page.NextPart} {
					act(p, id)
					if got := len(p.View(paper(size[0], size[1]))); got != size[1] {
						t.Errorf("%s at %v: %d lines", p.Title(), size, got)
					}
				}
			}
		}
	}
}

func TestListActs(t *testing.T) {
	t.Parallel()
	l := list(func(c *ListConfig[*v1alpha1.Filter]) {
		c.Filter = "a"
		c.Extra = map[page.ActionID]func(*v1alpha1.Filter) page.Effect{page.Requests: func(f *v1alpha1.Filter) page.Effect { return page.Effect{Toast: f.Name} }}
	})
	l.Update(frame(data.Live, nil, "aa", "ab", "c"))
	if l.Filtered() != "a" || strings.Contains(text(l, 40, 9), " c") {
		t.Errorf("the first filter is not used:\n%s", text(l, 40, 9))
	}
	act(l, page.Down)
	if got := act(l, page.Enter).Open.String(); got != "chain/ab" {
		t.Errorf("enter leads to %s", got)
	}
	if got := act(l, page.Requests).Toast; got != "ab" || !l.Offers(page.Requests) || !l.Offers(page.Enter) {
		t.Errorf("the further action says %q", got)
	}
	if s, ok := l.Selected(); !ok || s.Name != "ab" {
		t.Errorf("selected is %+v", s)
	}
	l.Update(frame(data.Live, nil))
	if _, ok := l.Selected(); ok || l.Offers(page.Enter) || l.Offers(page.Requests) || act(l, page.Enter).Open.Page != "" {
		t.Error("something is selected on an empty page")
	}
}

// What differs from the frame before is marked in the past.
func TestListMarks(t *testing.T) {
	t.Parallel()
	l := list()
	before, after := frame(data.Live, nil, "same", "old"), frame(data.Live, nil, "same", "fresh")
	after.Against = &before
	l.Update(after)
	got := text(l, 40, 9)
	if !strings.Contains(got, "d fresh") || strings.Contains(got, "d same") {
		t.Errorf("marked is\n%s", got)
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	there := true
	p := NewText(TextConfig{
		Title: "x", Needs: []data.Key{needed}, Gone: "it has gone",
		Render: func(data.Frame) doc.Render {
			if !there {
				return nil
			}
			return func(ink.Paper) []doc.Line {
				return []doc.Line{{Line: ink.L(ink.Text, "one"), Open: page.At("chain", "")}, {Line: ink.L(ink.Text, "two")}}
			}
		},
		Extra: map[page.ActionID]func(data.Frame) page.Effect{page.Refresh: func(data.Frame) page.Effect { return page.Effect{Toast: "again"} }},
	})
	p.Update(frame(data.Live, nil, "a"))
	text(p, 40, 5)
	if got := act(p, page.Enter).Open.Page; got != "chain" || !p.Offers(page.Enter) {
		t.Errorf("enter leads to %q", got)
	}
	if got := act(p, page.Refresh).Toast; got != "again" || !p.Offers(page.Refresh) {
		t.Errorf("the further action says %q", got)
	}
	if _, ok := p.Selected(); ok {
		t.Error("something is selected without a subject")
	}
	there = false
	p.Update(frame(data.Live, nil, "a"))
	if got := text(p, 40, 5); !strings.Contains(got, "it has gone") {
		t.Errorf("got\n%s", got)
	}
	p.Update(frame(data.Loading, nil))
	if got := text(p, 40, 5); !strings.Contains(got, "loading") {
		t.Errorf("got\n%s", got)
	}
}

// Parts share the keys: the one with the focus has them, and all their memory is kept
// apart.
func TestParts(t *testing.T) {
	t.Parallel()
	titled := func(title string) *List[*v1alpha1.Filter] {
		return list(func(c *ListConfig[*v1alpha1.Filter]) { c.Title = title })
	}
	first, second := titled("first"), titled("first two")
	p := NewParts("both", Part{Page: first, Least: 4}, Part{Page: second, Least: 4})
	p.Update(frame(data.Live, nil, "a", "b"))
	if len(p.Needs()) != 1 {
		t.Errorf("it needs %v", p.Needs())
	}
	act(p, page.NextPart)
	act(p, page.Down)
	if err := p.Filter("b"); err != nil || first.Filtered() != "" || second.Filtered() != "b" || p.Filtered() != "b" {
		t.Errorf("filters %q and %q (%v)", first.Filtered(), second.Filtered(), err)
	}
	act(p, page.Reverse)
	memory := p.Memory()
	again := NewParts("both", Part{Page: titled("first")}, Part{Page: titled("first two")})
	again.Restore(memory)
	if got := again.Memory(); fmt.Sprint(got) != fmt.Sprint(memory) || memory["first two.reverse"] == memory["first.reverse"] {
		t.Errorf("kept %v of %v", got, memory)
	}
	again.Restore(nil)
	again.Restore(map[string]string{"": "x", "first": "x", "first.": "x", "花.sort": "x"})
	act(p, page.PreviousPart)
	if p.Focused() != page.Page(first) {
		t.Error("the focus is not back")
	}
	if got := text(p, 40, 6); !strings.Contains(got, "> first") {
		t.Errorf("on a small screen the part with the focus is not there:\n%s", got)
	}
}

func TestFacts(t *testing.T) {
	t.Parallel()
	lines := Section(nil, "What it is")
	lines = Fact(lines, paper(30, 9), "nothing", nil)
	lines = Fact(lines, paper(40, 9), "long", ink.L(ink.Text, strings.Repeat("花子 ", 20)))
	lines = Section(lines, "More")
	if len(lines) < 5 || lines[0].Level != 0 || lines[1].Level != 1 || !strings.Contains(lines[1].String(), "long") || strings.Contains(lines[2].String(), "long") {
		t.Errorf("got %+v", lines)
	}
	for _, test := range []struct {
		at   time.Time
		want string
	}{{time.Time{}, ""}, {now, "0s"}, {now.Add(time.Hour), "0s"}, {now.Add(-90 * time.Second), "90s"}, {now.Add(-26 * time.Hour), "26h"}} {
		if got := Ago(test.at, now); got != test.want {
			t.Errorf("%v: %q, want %q", test.at, got, test.want)
		}
	}
	for state := data.Loading; state <= data.Absent; state++ {
		if mark := StateMark(glyphs, state).Text; len(strings.Fields(mark)) < 2 {
			t.Errorf("state %d is %q: no glyph and no word", state, mark)
		}
	}
	if got := Failure(paper(20, 9), errors.New("x"), ""); len(got) != 2 {
		t.Errorf("a failure without a hint: %q", got)
	}
}

var _ kinds.Object = &v1alpha1.Filter{}
