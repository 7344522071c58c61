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

func newComponent(env page.Env, name string) page.Page {
	return kit.NewText(kit.TextConfig{
		Title: name,
		Needs: []data.Key{start.StepFeed, start.HookFeed},
		Render: func(frame data.Frame) doc.Render {
			s := newStory(frame)
			if len(s.starts) == 0 {
				return nil
			}
			r, ok := s.starts[0].Component(name)
			if !ok {
				return nil
			}
			return func(paper ink.Paper) []doc.Line { return s.component(paper, r) }
		},
		Gone: "the newest start has no component of the name",
		Subject: func(frame data.Frame) (page.Subject, bool) {
			for _, step := range data.Objects[*v1alpha1.BootStep](frame, start.StepFeed) {
				if step.Spec.Component == name {
					return page.Subject{
						Kind: "boot step", Name: step.Name, Inspect: "bootsteps", Object: step,
						Path:     "/apis/" + v1alpha1.SchemeGroupVersion.String() + "/bootsteps/" + step.Name,
						Commands: []string{env.Command + " inspect boot", "kubectl get bootstep " + step.Name + " -o yaml"},
					}, true
				}
			}
			return page.Subject{}, false
		},
	})
}

// component is everything about a component of the newest start.
func (s story) component(paper ink.Paper, r start.Run) []doc.Line {
	newest := s.starts[0]
	lines := runVerdict(paper, r, "what waits for it does not start before it is ready")
	lines = kit.Section(lines, fmt.Sprintf("Component of start %d", newest.Boot))
	if slices.Contains(s.path, r.Name) {
		lines = kit.Fact(lines, paper, "critical path", ink.L(ink.Text, "it is on it: "+strings.Join(s.path, " "+paper.Glyphs.Arrow+" ")))
	} else {
		lines = kit.Fact(lines, paper, "critical path", ink.L(ink.Muted, "it is not on it: the start would not be faster without it"))
	}
	lines = s.times(lines, paper, r)
	for _, name := range newest.WaitedFor(r) {
		before, _ := newest.Component(name)
		lines = kit.Fact(lines, paper, "waited for", ink.L(ink.Text, name+", "+kit.Took(before.Took())))
		lines[len(lines)-1].Open = page.At("hooks", componentPrefix+name)
	}
	for _, other := range newest.Components {
		if slices.Contains(newest.WaitedFor(other), r.Name) {
			lines = kit.Fact(lines, paper, "waited for by", ink.L(ink.Text, other.Name+", "+kit.Took(other.Took())))
			lines[len(lines)-1].Open = page.At("hooks", componentPrefix+other.Name)
		}
	}
	if r.Name == "post-start hooks" || r.Name == "server chain" {
		if slowest, ok := start.Slowest(s.hooks); ok {
			lines = kit.Fact(lines, paper, "slowest hook", ink.L(ink.Text, slowest.Name+", "+kit.Took(slowest.Took())))
			lines[len(lines)-1].Open = page.At("hooks", slowest.Name)
		}
	}
	return s.history(lines, paper, r.Name)
}

// history is the component in all starts that are remembered, the newest first.
func (s story) history(lines []doc.Line, paper ink.Paper, name string) []doc.Line {
	var longest time.Duration
	for _, one := range s.starts {
		r, _ := one.Component(name)
		longest = max(longest, r.Took())
	}
	lines = kit.Section(lines, "In all starts, the newest first")
	for _, one := range s.starts {
		r, ok := one.Component(name)
		line := ink.Line{ink.T(ink.Muted, fmt.Sprintf("  %3d  %6s ago  ", one.Boot, kit.Ago(one.At, paper.Now)))}
		if !ok {
			line = append(line, ink.T(ink.Muted, "there was none"))
		} else {
			look := lookOf(paper.Glyphs, r)
			line = append(line, chart.Bar(paper, look.fill, float64(r.Took()), float64(max(1, longest)), min(24, max(0, paper.Width/4)))...)
			line = append(line, ink.T(ink.Text, "  "+ink.PadLeft(kit.Took(r.Took()), 7)+" "), ink.T(look.token, look.sign+" "+look.word))
			if r.Error != "" {
				line = append(line, ink.T(ink.Muted, ": "+r.Error))
			}
		}
		lines = append(lines, doc.Line{Level: 1, Line: line, Key: fmt.Sprint("boot ", one.Boot)})
	}
	return lines
}
