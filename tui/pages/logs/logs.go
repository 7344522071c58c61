// Package logs is the page of the server's log, where the server runs in the same
// process: the newest line at the bottom, and it goes on. Of any other server there
// is no log to be had through its API, and the page says where it is.
//
// It may import the contract, data, the components and kit, and no other page.
package logs

import (
	"cmp"
	"strings"
	"time"

	"github.com/kapi-dev/kapi/tui/components/doc"
	"github.com/kapi-dev/kapi/tui/components/vtable"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/kit"
)

// New returns the page of the log, or of the one line that is named.
func New(env page.Env, at page.Location) (page.Page, error) {
	command := cmp.Or(env.Command, "kapi")
	if at.Name != "" {
		return newLine(at.Name, command), nil
	}
	l := &logs{command: command}
	l.List = kit.NewList(kit.ListConfig[*data.LogLine]{
		Title:   "logs",
		Needs:   []data.Key{data.Logs},
		Rows:    lines,
		Head:    l.head,
		Filter:  at.Get("filter"),
		Table:   table(),
		Subject: subject,
		Open:    func(l *data.LogLine) page.Location { return page.At("logs", l.Name) },
		Detail:  func(l *data.LogLine, _ data.Frame) doc.Render { return render(l) },
	})
	return l, nil
}

// logs is the page of the log.
type logs struct {
	*kit.List[*data.LogLine]
	command string
	// all, errors and warnings count the lines that are kept.
	all, errors, warnings int
}

// Update implements page.Page.
func (l *logs) Update(frame data.Frame) {
	l.all, l.errors, l.warnings = 0, 0, 0
	for _, line := range lines(frame) {
		l.all++
		switch line.Level {
		case "error":
			l.errors++
		case "warning":
			l.warnings++
		}
	}
	l.List.Update(frame)
}

// View implements page.Page.
func (l *logs) View(paper ink.Paper) []ink.Line {
	if view := l.Frame().View(data.Logs); view.State == data.Absent && len(view.Objects) == 0 {
		return elsewhere(paper, l.Frame(), l.command)
	}
	return l.List.View(paper)
}

// lines are those of a frame, but for nil ones.
func lines(frame data.Frame) []*data.LogLine {
	all := data.Objects[*data.LogLine](frame, data.Logs)
	kept := all[:0]
	for _, line := range all {
		if line != nil {
			kept = append(kept, line)
		}
	}
	return kept
}

func table() vtable.Config[*data.LogLine] {
	return vtable.Config[*data.LogLine]{
		Tail:     true,
		Key:      func(l *data.LogLine) string { return l.Name },
		Severity: func(l *data.LogLine) vtable.Severity { return levelOf(l).severity },
		Empty:    "nothing was logged yet",
		Columns: []vtable.Column[*data.LogLine]{
			{Title: "TIME", Min: len(clock), Cell: func(l *data.LogLine, _ time.Time) ink.Span { return ink.T(ink.Muted, when(l)) },
				Compare: func(a, b *data.LogLine) int { return a.At.Compare(b.At) }},
			{Title: "LEVEL", Keep: true, Cell: func(l *data.LogLine, _ time.Time) ink.Span { return levelOf(l).span() },
				Compare: func(a, b *data.LogLine) int { return cmp.Compare(levelOf(a).severity, levelOf(b).severity) }},
			{Title: "TEXT", Grow: 1, Keep: true, Cell: func(l *data.LogLine, _ time.Time) ink.Span { return ink.T(levelOf(l).text, oneLine(l.Text)) }},
		},
	}
}

// clock is how the time of a line is written: the day is that of the screen.
const clock = "15:04:05.000"

func when(l *data.LogLine) string {
	if l.At.IsZero() {
		return ""
	}
	return l.At.Format(clock)
}

// oneLine is what of a text is shown in the table: a stack goes on below its first line.
func oneLine(text string) string {
	first, rest, more := strings.Cut(strings.TrimRight(text, "\n"), "\n")
	if more && strings.TrimSpace(rest) != "" {
		return first + " …"
	}
	return first
}

// level is how a level of the log looks.
type level struct {
	mark     string
	word     string
	token    ink.Token
	text     ink.Token
	severity vtable.Severity
}

// levelOf is the level of a line; one without is plain.
func levelOf(l *data.LogLine) level {
	switch l.Level {
	case "error":
		return level{"x ", "error", ink.Bad, ink.Text, vtable.Unhealthy}
	case "warning":
		return level{"! ", "warning", ink.Warning, ink.Text, vtable.Unsure}
	case "debug":
		return level{"  ", "debug", ink.Muted, ink.Muted, vtable.Healthy}
	default:
		return level{"  ", l.Level, ink.Text, ink.Text, vtable.Healthy}
	}
}

func (l level) span() ink.Span { return ink.T(l.token, l.mark+l.word) }

func subject(l *data.LogLine) page.Subject {
	return page.Subject{Kind: "log line", Name: l.Text, Object: l}
}
