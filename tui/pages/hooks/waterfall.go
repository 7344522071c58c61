package hooks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/tui/components/chart"
	"github.com/kapi-dev/kapi/tui/components/doc"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/hooks/start"
	"github.com/kapi-dev/kapi/tui/pages/kit"
)

// waterfall draws components and hooks under one axis.
func (s story) waterfall(paper ink.Paper) []doc.Line {
	var components []start.Run
	if len(s.starts) > 0 {
		components = s.starts[0].Components
	}
	slowest, _ := start.Slowest(s.hooks)
	var stretches []chart.Stretch
	for _, r := range components {
		note := ""
		if slices.Contains(s.path, r.Name) {
			note = "critical"
		}
		stretches = append(stretches, s.stretch(paper, r, note))
	}
	for _, r := range s.hooks {
		note := ""
		if slowest.Name == r.Name {
			note = "slowest"
		}
		stretches = append(stretches, s.stretch(paper, r, note))
	}
	drawn := chart.Timeline(paper, stretches, s.whole, max(0, paper.Width-1), labelWidth(paper, stretches))
	if s.whole <= 0 && len(drawn) > 0 {
		drawn[0] = ink.L(ink.Muted, "when each began and ended is not known")
	}
	lines := []doc.Line{{Key: "space"}}
	if len(drawn) > 0 {
		lines = append(lines, doc.Line{Line: drawn[0], Key: "axis"})
		drawn = drawn[1:]
	}
	row := func(r start.Run, open page.Location) {
		if len(drawn) > 0 {
			lines = append(lines, doc.Line{Level: 1, Line: drawn[0], Key: open.Name, Open: open, Copy: r.Name})
			drawn = drawn[1:]
		}
	}
	if len(components) > 0 {
		lines = append(lines, heading("Components"))
	}
	for _, r := range components {
		row(r, page.At("hooks", componentPrefix+r.Name))
	}
	if len(s.hooks) > 0 {
		lines = append(lines, heading(fmt.Sprintf("Post-start hooks: %d of %d done", start.Count(s.hooks, v1alpha1.RunDone), len(s.hooks))))
	}
	for _, r := range s.hooks {
		row(r, page.At("hooks", r.Name))
	}
	return lines
}

// labelWidth is that of the names: what they need, at most somewhat less than half of
// the screen, since a bar says little without its name.
func labelWidth(paper ink.Paper, stretches []chart.Stretch) int {
	widest := 0
	for _, s := range stretches {
		width := 0
		for _, span := range s.Label {
			width += ink.Width(paper.Clean(span.Text))
		}
		widest = max(widest, width)
	}
	return min(widest, paper.Width*19/40)
}

func heading(title string) doc.Line {
	return doc.Line{Line: ink.L(ink.Heading, title), Key: "section " + strings.SplitN(title, ":", 2)[0]}
}

// stretch is a run on the axis, with its state as a sign and, unless it is done, a word.
func (s story) stretch(paper ink.Paper, r start.Run, note string) chart.Stretch {
	look := lookOf(paper.Glyphs, r)
	label := ink.Line{ink.T(look.token, look.sign+" "), ink.T(look.name, r.Name)}
	if !r.Timed() {
		return chart.Stretch{Label: label, Note: ink.L(look.token, look.word)}
	}
	said := ink.Line{ink.T(ink.Text, kit.Took(r.Took()))}
	if r.State != v1alpha1.RunDone {
		said = append(said, ink.T(look.token, " "+look.word))
	}
	if note != "" {
		said = append(said, ink.T(ink.Accent, " "+note))
	}
	return chart.Stretch{
		Label: label, Note: said, Token: look.fill, Open: r.State == v1alpha1.RunRunning,
		From: r.Begun.Sub(s.from), Took: r.Took(),
	}
}

// look is how a state is shown.
type look struct {
	sign, word        string
	token, name, fill ink.Token
}

func lookOf(glyphs *ink.Glyphs, r start.Run) look {
	fill := ink.Series2
	if r.Layer == "" && r.RegisteredAt == "" {
		fill = ink.Series1
	}
	switch r.State {
	case v1alpha1.RunDone:
		return look{glyphs.Good, "done", ink.Good, ink.Text, fill}
	case v1alpha1.RunFailed:
		return look{glyphs.Bad, "failed", ink.Bad, ink.Bad, ink.Bad}
	case v1alpha1.RunRunning:
		if r.Hangs() {
			return look{glyphs.Bad, "hangs", ink.Bad, ink.Bad, ink.Bad}
		}
		return look{glyphs.Running, "running", ink.Warning, ink.Text, ink.Warning}
	case v1alpha1.RunPending:
		return look{glyphs.Off, "pending", ink.Muted, ink.Muted, ink.Muted}
	}
	return look{glyphs.Unknown, "unknown", ink.Muted, ink.Muted, ink.Muted}
}
