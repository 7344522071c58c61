package auth

import (
	"fmt"
	"strconv"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined"
	"github.com/kapi-dev/kapi/tui/components/doc"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/kit"
	"github.com/kapi-dev/kapi/tui/pages/sheet"
)

// filters are the filters of the handler chain that ask the parts.
var filters = map[string]string{"authenticators": "authentication", "authorizers": "authorization"}

// lines are everything about one of them.
func (p part) lines(r row, frame data.Frame, paper ink.Paper) []doc.Line {
	state := kit.Mark(paper.Glyphs, joined.OK, "on")
	switch {
	case !r.enabled:
		state = ink.T(ink.Muted, paper.Glyphs.Off+" "+r.configured())
	case r.severity() != joined.OK:
		state = kit.Mark(paper.Glyphs, joined.Warning, "could not decide all")
	}
	lines := []doc.Line{{Key: "state", Copy: r.name, Line: ink.Line{
		state, ink.T(ink.Text, "  "), ink.T(ink.Title, r.name), ink.T(ink.Muted, "  "+p.kind),
	}}}
	lines = sheet.Body(sheet.Section(lines, "Decided since the start"), r.table(paper))
	lines = sheet.Para(lines, paper, 1, ink.Muted, r.counted)
	lines = sheet.Section(lines, "What it is")
	fact := func(label, value string) {
		lines = kit.Fact(lines, paper, label, ink.L(ink.Text, value))
	}
	if !r.gaps["Order"] {
		fact("order", strconv.Itoa(int(r.order))+", of all "+p.kind+"s")
	}
	fact("type", r.what)
	fact("configured by", r.configured())
	if !r.gaps["Source"] {
		fact("reads", r.source)
	}
	fact("refused last", sheet.At(r.refused, frame.Now))
	if r.latency.Count > 0 && !r.gaps["P99"] {
		fact("took", fmt.Sprintf("p50 %s, p90 %s, p99 %s, longest %s", kinds.Took(r.latency.P50), kinds.Took(r.latency.P90),
			kinds.Took(r.latency.P99), kinds.Took(r.latency.Max)))
	}
	if filter := filters[p.resource]; filter != "" {
		lines = sheet.Section(lines, "Go to")
		lines = sheet.Link(lines, paper, "filter", ink.T(ink.Value, filter), page.At("chain", filter))
	}
	var missing []joined.Missing
	for _, gap := range frame.View(data.Of(p.resource)).Gaps {
		missing = append(missing, joined.Missing{Part: gap.Column, Reason: gap.Reason})
	}
	return sheet.NotShown(lines, paper, missing)
}

// table is what it has decided, how often and how fast.
func (r row) table(paper ink.Paper) []ink.Line {
	rows := make([][]ink.Span, 0, len(r.decisions))
	for _, d := range r.decisions {
		count, perSecond := strconv.FormatInt(d.count, 10), "-"
		if d.rated {
			perSecond = rate(d.perSecond) + "/s"
		}
		token := ink.Text
		if d.bad && d.count > 0 {
			token = ink.Warning
		}
		if r.gaps[d.gap] {
			count, perSecond, token = "-", "-", ink.Muted
		}
		rows = append(rows, []ink.Span{ink.T(token, ink.PadLeft(count, 9)), ink.T(ink.Muted, ink.PadLeft(perSecond, 7)), ink.T(ink.Text, d.says)})
	}
	return sheet.Grid(paper, rows)
}
