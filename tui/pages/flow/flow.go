// Package flow is the page of priority and fairness: the levels with their seats and
// queues, who fills them and who is refused; and the page of one level. It may import
// what pages may.
package flow

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/tui/components/vtable"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/chain/rates"
	"github.com/kapi-dev/kapi/tui/pages/kit"
	"github.com/kapi-dev/kapi/tui/pages/requests/trace"
)

// Feed is the feed of levels.
var Feed = data.Of("flowstates")

// level is a priority level and what it does now.
type level struct {
	*v1alpha1.FlowState
	dispatched, rejected rates.Rate
}

// exempt tells whether the level has no limit.
func (l level) exempt() bool { return l.Spec.Type == "Exempt" }

// use is the part of its seats that is taken.
func (l level) use() float64 {
	if l.exempt() || l.Status.SeatsLimit <= 0 {
		return 0
	}
	return float64(l.Status.SeatsInUse) / float64(l.Status.SeatsLimit)
}

// state is how it does, in a word, and how bad that is: 2 refuses, 1 queues, 0 is well.
func (l level) state() (word string, bad int) {
	switch {
	case l.rejected.PerSecond > 0:
		return "refusing", 2
	case l.Status.Queued > 0:
		return "queueing", 1
	case l.use() >= 0.9:
		return "nearly full", 1
	case l.Status.Executing > 0 || l.Status.SeatsInUse > 0:
		return "busy", 0
	}
	return "idle", 0
}

// New returns the page of all levels, or of the one that the location names.
func New(env page.Env, at page.Location) (page.Page, error) {
	if env.Command == "" {
		env.Command = "kapi"
	}
	if at.Name != "" {
		return newDetail(env, at.Name), nil
	}
	return &levels{List: kit.NewList(kit.ListConfig[level]{
		Title:   "flow",
		Needs:   []data.Key{Feed, trace.Feed},
		Rows:    rows,
		Table:   table(),
		Subject: func(l level) page.Subject { return subject(env, l.FlowState) },
		Open:    func(l level) page.Location { return page.At("flow", l.Name) },
		Detail:  render,
		Extra: map[page.ActionID]func(level) page.Effect{
			page.Requests: func(l level) page.Effect { return page.Effect{Open: requestsOf(l.Name)} },
		},
		Filter: at.Get("filter"),
	})}, nil
}

func requestsOf(level string) page.Location { return page.At("requests", "", "filter", "flow:"+level) }

// rows are the levels, those with trouble first, then those with the most use.
func rows(frame data.Frame) []level {
	objects := data.Objects[*v1alpha1.FlowState](frame, Feed)
	levels := make([]level, len(objects))
	for i, f := range objects {
		count := func(of func(*v1alpha1.FlowStateStatus) int64) rates.Rate {
			rate, ok := frame.PerSecond(func(frame data.Frame) (int64, bool) {
				found, ok := data.Find[*v1alpha1.FlowState](frame, Feed, f.Name)
				if !ok {
					return 0, false
				}
				return of(&found.Status), true
			})
			return rates.Rate{PerSecond: rate, Known: ok}
		}
		levels[i] = level{
			FlowState:  f,
			dispatched: count(func(s *v1alpha1.FlowStateStatus) int64 { return s.Dispatched }),
			rejected:   count(func(s *v1alpha1.FlowStateStatus) int64 { return s.Rejected }),
		}
	}
	slices.SortStableFunc(levels, func(a, b level) int {
		_, x := a.state()
		_, y := b.state()
		return cmp.Or(
			cmp.Compare(y, x), cmp.Compare(b.use(), a.use()), cmp.Compare(b.dispatched.PerSecond, a.dispatched.PerSecond),
			cmp.Compare(b.Status.Rejected, a.Status.Rejected), cmp.Compare(b.Status.Dispatched, a.Status.Dispatched), strings.Compare(a.Name, b.Name),
		)
	})
	return levels
}

func table() vtable.Config[level] {
	count := func(title string, of func(level) int64, token func(level) ink.Token) vtable.Column[level] {
		return vtable.Column[level]{
			Title: title, Right: true,
			Cell:    func(l level, _ time.Time) ink.Span { return ink.T(token(l), strconv.FormatInt(of(l), 10)) },
			Compare: func(a, b level) int { return cmp.Compare(of(a), of(b)) },
		}
	}
	plain := func(level) ink.Token { return ink.Text }
	rate := func(title string, of func(level) rates.Rate, token ink.Token) vtable.Column[level] {
		return vtable.Column[level]{
			Title: title, Right: true,
			Cell: func(l level, _ time.Time) ink.Span {
				if r := of(l); r.PerSecond > 0 {
					return ink.T(token, r.String())
				}
				return ink.T(ink.Muted, of(l).String())
			},
			Compare: func(a, b level) int { return cmp.Compare(of(a).PerSecond, of(b).PerSecond) },
		}
	}
	queued := count("QUEUED", func(l level) int64 { return l.Status.Queued }, func(l level) ink.Token {
		if l.Status.Queued > 0 {
			return ink.Warning
		}
		return ink.Text
	})
	queued.Keep = true
	executing := count("RUNNING", func(l level) int64 { return l.Status.Executing }, plain)
	executing.Wide = true
	queues := count("QUEUES", func(l level) int64 { return int64(l.Spec.Queues) }, plain)
	queues.Wide = true
	return vtable.Config[level]{
		Columns: []vtable.Column[level]{
			{Title: "LEVEL", Keep: true, Min: 10, Cell: func(l level, _ time.Time) ink.Span { return ink.T(ink.Text, l.Name) }},
			{Title: "STATE", Keep: true, Cell: stateCell, Compare: func(a, b level) int {
				_, x := a.state()
				_, y := b.state()
				return cmp.Compare(x, y)
			}},
			{
				Title: "SEATS", Right: true, Keep: true,
				Cell:    func(l level, _ time.Time) ink.Span { return ink.T(useToken(l), seats(l)) },
				Compare: func(a, b level) int { return cmp.Compare(a.Status.SeatsInUse, b.Status.SeatsInUse) },
			},
			{
				Title: "USE", Cell: func(l level, _ time.Time) ink.Span { return ink.T(useToken(l), gauge(l)) },
				Compare: func(a, b level) int { return cmp.Compare(a.use(), b.use()) },
			},
			queued,
			rate("REFUSED", func(l level) rates.Rate { return l.rejected }, ink.Bad),
			count("SO-FAR", func(l level) int64 { return l.Status.Rejected }, func(l level) ink.Token {
				if l.Status.Rejected > 0 {
					return ink.Warning
				}
				return ink.Text
			}),
			rate("LET-RUN", func(l level) rates.Rate { return l.dispatched }, ink.Text),
			{Title: "MOST-FROM", Grow: 1, Min: 10, Middle: true, Cell: func(l level, _ time.Time) ink.Span {
				if len(l.Status.Users) == 0 {
					return ink.Span{}
				}
				return ink.T(ink.Text, topUser(l).Name)
			}},
			executing, queues,
			{Title: "SCHEMAS", Wide: true, Grow: 1, Cell: func(l level, _ time.Time) ink.Span {
				return ink.T(ink.Muted, strings.Join(l.Spec.FlowSchemas, ","))
			}},
		},
		Key: func(l level) string { return l.Name },
		Severity: func(l level) vtable.Severity {
			_, bad := l.state()
			return vtable.Severity(bad)
		},
		Empty: "this server has no priority levels: priority and fairness is off",
	}
}

func stateCell(l level, _ time.Time) ink.Span {
	word, bad := l.state()
	token := [...]ink.Token{ink.Good, ink.Warning, ink.Bad}[bad]
	if word == "idle" {
		token = ink.Muted
	}
	return ink.T(token, word)
}

func useToken(l level) ink.Token {
	switch use := l.use(); {
	case use >= 0.9:
		return ink.Bad
	case use >= 0.6:
		return ink.Warning
	}
	return ink.Text
}

// seats are those in use, of how many.
func seats(l level) string {
	if l.exempt() {
		return fmt.Sprintf("%d of any", l.Status.SeatsInUse)
	}
	return fmt.Sprintf("%d of %d", l.Status.SeatsInUse, l.Status.SeatsLimit)
}

// gauge is the use as a bar of signs that every terminal has.
func gauge(l level) string {
	const width = 6
	if l.exempt() {
		return "no limit"
	}
	filled := int(max(0, min(1, l.use()))*width + 0.5)
	if l.Status.SeatsInUse > 0 {
		filled = max(1, filled)
	}
	filled = min(width, max(0, filled))
	return "[" + strings.Repeat("#", filled) + strings.Repeat(".", width-filled) + "]"
}

// topUser is the one with the most requests.
func topUser(l level) v1alpha1.FlowUser {
	return slices.MaxFunc(l.Status.Users, func(a, b v1alpha1.FlowUser) int { return cmp.Compare(a.Requests, b.Requests) })
}

func subject(env page.Env, f *v1alpha1.FlowState) page.Subject {
	return page.Subject{
		Kind: "priority level", Name: f.Name, Inspect: "flowstates", Object: f,
		Path: "/apis/" + v1alpha1.SchemeGroupVersion.String() + "/flowstates/" + f.Name,
		Commands: []string{
			env.Command + " inspect flow " + f.Name, "kubectl get flowstate " + f.Name + " -o yaml",
			"kubectl get prioritylevelconfiguration " + f.Name + " -o yaml",
		},
	}
}

// levels is the table with what is to be said of the selected level below it, where
// there is no room beside it.
type levels struct {
	*kit.List[level]
}

// least is the height from which there is room below the table.
const least = 18

// View implements page.Page.
func (l *levels) View(paper ink.Paper) []ink.Line {
	row, ok := l.Table().Selected()
	height := len(l.Table().Rows()) + 2
	if !ok || paper.Width >= kit.SideAt || paper.Height < least || paper.Height-height < 6 {
		return l.List.View(paper)
	}
	lines := l.List.View(paper.Sized(paper.Width, height))
	head := ink.Line{ink.T(ink.Border, strings.Repeat(paper.Glyphs.Horizontal, 2)+" "), ink.T(ink.Heading, row.Name+" ")}
	head = append(head, ink.T(ink.Border, strings.Repeat(paper.Glyphs.Horizontal, max(0, paper.Width-ink.Width(paper.Clean(row.Name))-4))))
	lines = append(lines, head)
	for _, line := range render(row, l.Frame())(paper.Sized(paper.Width-2, paper.Height)) {
		lines = append(lines, append(ink.Line{ink.T(ink.Text, "  ")}, line.Line...))
	}
	return ink.Fill(lines, paper.Height)
}
