package hooks

import (
	"cmp"
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

func newHook(env page.Env, name string) page.Page {
	return kit.NewText(kit.TextConfig{
		Title: name,
		Needs: []data.Key{start.HookFeed, start.StepFeed},
		Render: func(frame data.Frame) doc.Render {
			s := newStory(frame)
			i := slices.IndexFunc(s.hooks, func(r start.Run) bool { return r.Name == name })
			if i < 0 {
				return nil
			}
			return func(paper ink.Paper) []doc.Line { return s.hook(paper, s.hooks[i]) }
		},
		Gone: "this server has no post-start hook of the name",
		Subject: func(frame data.Frame) (page.Subject, bool) {
			hook, ok := data.Find[*v1alpha1.PostStartHook](frame, start.HookFeed, name)
			if !ok {
				return page.Subject{}, false
			}
			return page.Subject{
				Kind: "post-start hook", Name: name, Inspect: "poststarthooks", Object: hook,
				Path:     "/apis/" + v1alpha1.SchemeGroupVersion.String() + "/poststarthooks/" + name,
				Commands: []string{env.Command + " inspect hooks " + name, "kubectl get poststarthook " + name + " -o yaml"},
			}, true
		},
	})
}

// hook is everything about a post-start hook.
func (s story) hook(paper ink.Paper, r start.Run) []doc.Line {
	lines := runVerdict(paper, r, "the server is not ready before it ends")
	lines = stack(lines, r)
	lines = kit.Section(lines, "Hook")
	lines = kit.Fact(lines, paper, "took", ink.L(ink.Text, s.rank(r)))
	lines = s.times(lines, paper, r)
	lines = kit.Fact(lines, paper, "layer", ink.L(ink.Text, r.Layer))
	if r.Layer != "" {
		lines[len(lines)-1].Open = page.At("chain", "layer/"+r.Layer)
	}
	lines = kit.Fact(lines, paper, "registered at", ink.L(ink.Text, r.RegisteredAt))
	lines = kit.Fact(lines, paper, "all hooks", ink.L(ink.Text, fmt.Sprintf("%d of %d done", start.Count(s.hooks, v1alpha1.RunDone), len(s.hooks))))
	lines[len(lines)-1].Open = page.At("hooks", "")
	return s.beside(lines, paper, r)
}

// runVerdict is how it went, in a sentence, and the error in full.
func runVerdict(paper ink.Paper, r start.Run, unless string) []doc.Line {
	look := lookOf(paper.Glyphs, r)
	said := look.word
	switch {
	case !r.Timed():
	case r.State == v1alpha1.RunRunning:
		said = fmt.Sprintf("%s: it runs for %s, and %s", look.word, kit.Took(r.Took()), unless)
	default:
		said = look.word + " after " + kit.Took(r.Took())
	}
	var lines []doc.Line
	for i, line := range paper.Wrap(look.token, look.sign+" "+said, max(1, paper.Width)) {
		lines = append(lines, doc.Line{Line: line, Key: fmt.Sprint("verdict ", i)})
	}
	for i, line := range paper.Wrap(ink.Bad, r.Error, max(1, paper.Width-2)) {
		if r.Error != "" {
			lines = append(lines, doc.Line{Line: append(ink.Line{ink.T(ink.Text, "  ")}, line...), Key: fmt.Sprint("error ", i), Copy: r.Error})
		}
	}
	return lines
}

// stack is where a hook that hangs is, innermost first.
func stack(lines []doc.Line, r start.Run) []doc.Line {
	if r.Stack == "" {
		return lines
	}
	lines = kit.Section(lines, "Where it is now, innermost first")
	n := 0
	for frame := range strings.Lines(r.Stack) {
		frame = strings.TrimSpace(frame)
		if frame == "" {
			continue
		}
		function, place, _ := strings.Cut(frame, " ")
		lines = append(lines, doc.Line{
			Level: 1, Key: fmt.Sprint("stack ", n), Copy: frame,
			Line: ink.Line{ink.T(ink.Text, "  "+function), ink.T(ink.Muted, " "+place)},
		})
		n++
	}
	return lines
}

// rank is how long it took, among all hooks.
func (s story) rank(r start.Run) string {
	if !r.Timed() {
		return ""
	}
	longer := 0
	for _, other := range s.hooks {
		if other.Took() > r.Took() {
			longer++
		}
	}
	said := kit.Took(r.Took())
	if longer == 0 {
		said += fmt.Sprintf(", the slowest of %d", len(s.hooks))
	} else {
		said += fmt.Sprintf(", number %d of %d", longer+1, len(s.hooks))
	}
	if last, ok := start.Last(s.hooks); ok && last.Name == r.Name && r.State == v1alpha1.RunDone {
		said += "; readiness waited for it"
	}
	return said
}

// times are when it began and ended, counted from the start of the process.
func (s story) times(lines []doc.Line, paper ink.Paper, r start.Run) []doc.Line {
	if !r.Timed() {
		return lines
	}
	since := "the first began"
	if len(s.starts) > 0 {
		since = "the process began"
	}
	moment := func(at time.Time) ink.Line {
		return ink.L(ink.Text, fmt.Sprintf("%s after %s (%s)", kit.Took(at.Sub(s.from)), since, at.In(paper.Now.Location()).Format("2006-01-02 15:04:05.000 MST")))
	}
	lines = kit.Fact(lines, paper, "began", moment(r.Begun))
	if r.State == v1alpha1.RunDone || r.State == v1alpha1.RunFailed {
		lines = kit.Fact(lines, paper, "ended", moment(r.Ended))
	}
	return lines
}

// around is how many of the slowest hooks are drawn beside one.
const around = 8

// beside is the hook among the slowest ones.
func (s story) beside(lines []doc.Line, paper ink.Paper, r start.Run) []doc.Line {
	if !r.Timed() {
		return lines
	}
	sorted := slices.SortedStableFunc(slices.Values(s.hooks), func(a, b start.Run) int { return cmp.Compare(b.Took(), a.Took()) })
	var shown []start.Run
	for _, other := range sorted {
		if other.Timed() && (len(shown) < around || other.Name == r.Name) {
			shown = append(shown, other)
		}
	}
	lines = kit.Section(lines, "Among the slowest hooks")
	stretches := make([]chart.Stretch, len(shown))
	for i, other := range shown {
		note := ""
		if other.Name == r.Name {
			note = "this one"
		}
		stretches[i] = s.stretch(paper, other, note)
	}
	for i, line := range chart.Timeline(paper, stretches, s.whole, max(0, paper.Width-3), 0) {
		row := doc.Line{Level: 1, Line: append(ink.Line{ink.T(ink.Text, "  ")}, line...), Key: fmt.Sprint("beside ", i)}
		if i > 0 {
			row.Open, row.Key = page.At("hooks", shown[i-1].Name), "beside "+shown[i-1].Name
		}
		lines = append(lines, row)
	}
	return lines
}
