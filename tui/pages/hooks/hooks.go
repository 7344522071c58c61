// Package hooks is the page of the start: components and post-start hooks under one
// axis, and which of them made it slow; and the pages of one hook and of one
// component. It may import what pages may.
package hooks

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/tui/components/chart"
	"github.com/kapi-dev/kapi/tui/components/doc"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/hooks/start"
	"github.com/kapi-dev/kapi/tui/pages/kit"
)

// componentPrefix stands before the name of a component in a location.
const componentPrefix = "component/"

// New returns the page of the start, of the hook that the location names, or of the
// component ("component/NAME").
func New(env page.Env, at page.Location) (page.Page, error) {
	if env.Command == "" {
		env.Command = "kapi"
	}
	if name, ok := strings.CutPrefix(at.Name, componentPrefix); ok {
		return newComponent(env, name), nil
	}
	if at.Name != "" {
		return newHook(env, at.Name), nil
	}
	text := kit.NewText(kit.TextConfig{
		Title: "hooks",
		Needs: []data.Key{start.HookFeed, start.StepFeed},
		Render: func(frame data.Frame) doc.Render {
			whole := newStory(frame)
			if len(whole.hooks) == 0 && len(whole.starts) == 0 {
				return nil
			}
			return whole.lines
		},
		Gone: "this server has no post-start hooks, and does not say how it started",
		Subject: func(frame data.Frame) (page.Subject, bool) {
			return page.Subject{
				Kind: "start", Name: "boot", Inspect: "poststarthooks",
				Path:     "/apis/" + v1alpha1.SchemeGroupVersion.String() + "/poststarthooks",
				Commands: []string{env.Command + " inspect boot", env.Command + " inspect hooks", "kubectl get poststarthooks"},
			}, true
		},
	})
	if filter := at.Get("filter"); filter != "" {
		_ = text.Filter(filter)
	}
	return text, nil
}

// story is all that is known of the start.
type story struct {
	starts []start.Start
	hooks  []start.Run
	path   []string
	// from is the beginning of the axis, whole its length.
	from  time.Time
	whole time.Duration
}

func newStory(frame data.Frame) story {
	s := story{starts: start.Starts(frame), hooks: start.Hooks(frame)}
	runs := s.hooks
	if len(s.starts) > 0 {
		newest := s.starts[0]
		s.path = newest.CriticalPath()
		runs = slices.Concat(runs, newest.Components)
		if !newest.At.IsZero() {
			runs = append(runs, start.Run{Begun: newest.At, Ended: newest.At})
		}
	}
	s.from, s.whole = start.Span(runs)
	return s
}

// lines are the page: what is wrong or was slow, then the waterfall, then the starts
// before.
func (s story) lines(paper ink.Paper) []doc.Line {
	lines := s.verdict(paper)
	lines = append(lines, s.waterfall(paper)...)
	return s.earlier(lines, paper)
}

// verdict is whether the server is ready and since when, and the hook that matters
// most, in words.
func (s story) verdict(paper ink.Paper) []doc.Line {
	var lines []doc.Line
	for _, r := range start.Troubled(s.hooks) {
		said := "has failed"
		if r.Hangs() {
			said = "hangs: it runs for " + kit.Took(r.Took()) + ", and the server is not ready before it ends"
		} else if r.Error != "" {
			said += ": " + r.Error
		}
		lines = append(lines, doc.Line{
			Key: "trouble " + r.Name, Open: page.At("hooks", r.Name),
			Line: ink.Line{ink.T(ink.Bad, paper.Glyphs.Bad+" hook "+r.Name), ink.T(ink.Text, " "+said)},
		})
	}
	slowest, timed := start.Slowest(s.hooks)
	switch {
	case len(s.starts) > 0:
		line := startLine(paper, s.starts[0], "Start")
		if line.Open.Zero() && timed {
			line.Open = page.At("hooks", slowest.Name)
		}
		lines = append(lines, line)
	case len(s.hooks) > 0:
		lines = append(lines, s.counted(paper))
	}
	return append(lines, s.slowest(paper)...)
}

// counted says how many hooks are done, where nothing is known of the start.
func (s story) counted(paper ink.Paper) doc.Line {
	done := start.Count(s.hooks, v1alpha1.RunDone)
	mark := ink.T(ink.Good, fmt.Sprintf("%s %d of %d hooks done", paper.Glyphs.Good, done, len(s.hooks)))
	if done < len(s.hooks) {
		mark = ink.T(ink.Warning, fmt.Sprintf("%s %d of %d hooks done; the server is not ready before all are", paper.Glyphs.Running, done, len(s.hooks)))
	}
	return doc.Line{Key: "counted", Line: ink.Line{mark}, Open: page.At("hooks", s.hooks[0].Name)}
}

// startLine says how a start went; it leads to the component that matters.
func startLine(paper ink.Paper, one start.Start, noun string) doc.Line {
	said, token, open := outcome(one)
	sign := map[ink.Token]string{ink.Good: paper.Glyphs.Good, ink.Warning: paper.Glyphs.Running, ink.Bad: paper.Glyphs.Bad}[token]
	line := ink.Line{
		ink.T(token, sign+" "+said),
		ink.T(ink.Muted, fmt.Sprintf("  %s %d, %s ago", strings.ToLower(noun), one.Boot, kit.Ago(one.At, paper.Now))),
	}
	return doc.Line{Key: fmt.Sprint(noun, one.Boot), Line: line, Open: open}
}

func outcome(one start.Start) (said string, token ink.Token, open page.Location) {
	lasted := kit.Took(one.Lasted())
	if failed, ok := one.Failed(); ok {
		return "failed in " + failed.Name + " after " + lasted, ink.Bad, page.At("hooks", componentPrefix+failed.Name)
	}
	if one.Whole.State == v1alpha1.RunFailed {
		return "failed after " + lasted, ink.Bad, page.Location{}
	}
	if running, ok := one.Running(); ok {
		return "not ready after " + lasted + ": " + running.Name + " still runs", ink.Warning, page.At("hooks", componentPrefix+running.Name)
	}
	if one.Whole.Name != "" && one.Whole.State != v1alpha1.RunDone {
		return "not ready after " + lasted, ink.Warning, page.Location{}
	}
	return "ready after " + lasted, ink.Good, page.Location{}
}

// slowest says which hook took longest, which was waited for, and which components
// decided.
func (s story) slowest(paper ink.Paper) []doc.Line {
	var lines []doc.Line
	fact := func(label string, value ink.Line, open page.Location) {
		before := len(lines)
		lines = kit.Fact(lines, paper, label, value)
		for i := before; i < len(lines); i++ {
			lines[i].Level, lines[i].Open = 0, open
		}
	}
	slowest, timed := start.Slowest(s.hooks)
	last, _ := start.Last(s.hooks)
	if timed {
		fact("slowest hook", ink.L(ink.Text, slowest.Name+", "+kit.Took(slowest.Took())), page.At("hooks", slowest.Name))
	}
	if timed && last.Name != slowest.Name && start.Count(s.hooks, v1alpha1.RunDone) == len(s.hooks) {
		fact("waited longest for", ink.L(ink.Text, last.Name+", the last to be done"), page.At("hooks", last.Name))
	}
	if len(s.starts) == 0 {
		return lines
	}
	var parts []string
	var longest start.Run
	for _, name := range s.path {
		r, _ := s.starts[0].Component(name)
		if r.Took()*100 >= s.starts[0].Lasted() { // the others are marked in the waterfall
			parts = append(parts, name+" "+kit.Took(r.Took()))
		}
		if r.Took() > longest.Took() {
			longest = r
		}
	}
	if longest.Name != "" {
		said := strings.Join(parts, " "+paper.Glyphs.Arrow+" ")
		fact("critical path", ink.L(ink.Text, said), page.At("hooks", componentPrefix+longest.Name))
	}
	return lines
}

// earlier are the starts before the newest, with bars to compare them.
func (s story) earlier(lines []doc.Line, paper ink.Paper) []doc.Line {
	if len(s.starts) < 2 {
		return lines
	}
	var longest time.Duration
	for _, one := range s.starts {
		longest = max(longest, one.Lasted())
	}
	lines = kit.Section(lines, "All starts, the newest first")
	for _, one := range s.starts {
		line := startLine(paper, one, "start")
		bar := chart.Bar(paper, ink.Series1, float64(one.Lasted()), float64(max(1, longest)), min(20, max(0, paper.Width/5)))
		ago := fmt.Sprintf("  %3d  %6s ago  ", one.Boot, kit.Ago(one.At, paper.Now))
		line.Line = append(append(ink.Line{ink.T(ink.Muted, ago)}, bar...), ink.T(ink.Text, "  "), line.Line[0])
		if why := whyOf(one); why != "" {
			line.Line = append(line.Line, ink.T(ink.Muted, ": "+why))
		}
		line.Level, line.Key = 1, fmt.Sprint("boot ", one.Boot)
		lines = append(lines, line)
	}
	return lines
}

// whyOf is the error of a start that failed.
func whyOf(one start.Start) string {
	if failed, ok := one.Failed(); ok && failed.Error != "" {
		return failed.Error
	}
	return one.Whole.Error
}
