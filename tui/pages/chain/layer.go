package chain

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/tui/components/doc"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/chain/rates"
	"github.com/kapi-dev/kapi/tui/pages/kit"
	"github.com/kapi-dev/kapi/tui/pages/requests/trace"
)

func newLayer(env page.Env, name string) page.Page {
	find := func(frame data.Frame) (rates.Layer, bool) {
		for _, l := range rates.Layers(frame) {
			if l.Name == name {
				return l, true
			}
		}
		return rates.Layer{}, false
	}
	return kit.NewText(kit.TextConfig{
		Title: name,
		Needs: []data.Key{rates.LayerFeed, trace.Feed},
		Render: func(frame data.Frame) doc.Render {
			l, ok := find(frame)
			if !ok {
				return nil
			}
			return layerRender(l, frame)
		},
		Gone: "this server has no layer of the name",
		Subject: func(frame data.Frame) (page.Subject, bool) {
			l, ok := find(frame)
			if !ok {
				return page.Subject{}, false
			}
			return layerSubject(env, l.ServerLayer), true
		},
		Extra: map[page.ActionID]func(data.Frame) page.Effect{
			page.Requests: func(data.Frame) page.Effect { return page.Effect{Open: requestsOf(name)} },
		},
	})
}

// layerRender is everything about a layer.
func layerRender(l rates.Layer, frame data.Frame) doc.Render {
	troubled := trace.Newest(frame, lastRequests, func(t *v1alpha1.RequestTrace) bool {
		return t.Status.TerminatedBy.Kind == v1alpha1.EndedByLayer && t.Status.TerminatedBy.Name == l.Name && trace.Troubled(t)
	})
	traces := frame.View(trace.Feed)
	return func(paper ink.Paper) []doc.Line {
		lines := []doc.Line{layerVerdict(paper, l.ServerLayer)}
		if last := l.Status.LastError; last != nil {
			line := doc.Line{Key: "last error", Line: ink.Line{ink.T(ink.Name, "  last answer of 500 or more: "), lastError(last, paper.Now)}}
			if last.AuditID != "" {
				line.Open = page.At("requests", last.AuditID)
			}
			lines = append(lines, line)
		}
		lines = endedByCode(lines, paper, "Answers", l.Name, l.Status.Answers, l.Status.RequestsAnswered)
		lines = requestLines(lines, paper, "Answers of 400 or more, failed or slow", troubled, traces)
		lines = layerCounts(lines, paper, l)
		lines = kit.Section(lines, fmt.Sprintf("Place %d of the layers", l.Spec.Order))
		lines = kit.Fact(lines, paper, "passes on to", ink.L(ink.Text, l.Spec.Delegate))
		if l.Spec.Delegate != "" {
			lines[len(lines)-1].Open = page.At("chain", layerPrefix+l.Spec.Delegate)
		}
		lines = listed(lines, "Group versions that it serves itself", l.Spec.GroupVersions)
		lines = listed(lines, "REST services", l.Spec.WebServices)
		return listed(lines, "Paths that it lists", l.Spec.ListedPaths)
	}
}

func layerVerdict(paper ink.Paper, l *v1alpha1.ServerLayer) doc.Line {
	for _, c := range l.Status.Conditions {
		if c.Type == v1alpha1.ConditionHealthy && c.Status == "False" {
			said := strings.Trim(c.Reason+": "+c.Message, ": ")
			return doc.Line{Key: "verdict", Open: page.At("hooks", ""), Line: ink.Line{ink.T(ink.Bad, paper.Glyphs.Bad+" not healthy: "), ink.T(ink.Text, said)}}
		}
	}
	return doc.Line{Key: "verdict", Line: ink.Line{
		ink.T(ink.Good, paper.Glyphs.Good+" works"),
		ink.T(ink.Text, fmt.Sprintf("; it has answered %d of %d requests, and passed on %d", l.Status.RequestsAnswered, l.Status.RequestsReceived, l.Status.RequestsPassedOn)),
	}}
}

func layerCounts(lines []doc.Line, paper ink.Paper, l rates.Layer) []doc.Line {
	lines = kit.Section(lines, "Since the start")
	for _, count := range []struct {
		label string
		n     int64
		rate  rates.Rate
	}{
		{"received", l.Status.RequestsReceived, l.Received},
		{"answered", l.Status.RequestsAnswered, l.Answers},
		{"of them proxied", l.Status.RequestsProxied, rates.Rate{}},
		{"passed on", l.Status.RequestsPassedOn, rates.Rate{}},
		{"abandoned", l.Status.RequestsAbandoned, rates.Rate{}},
		{"in it now", l.Status.RequestsInFlight, rates.Rate{}},
	} {
		said := strconv.FormatInt(count.n, 10)
		if count.rate.Known {
			said += ", now " + count.rate.String()
		}
		lines = kit.Fact(lines, paper, count.label, ink.L(ink.Text, said))
	}
	return lines
}

// listed are names below a heading, folded where there are many.
func listed(lines []doc.Line, title string, names []string) []doc.Line {
	if len(names) == 0 {
		return lines
	}
	lines = kit.Section(lines, fmt.Sprintf("%s (%d)", title, len(names)))
	lines[len(lines)-1].Folded = len(names) > 8
	for _, name := range names {
		lines = append(lines, doc.Line{Level: 1, Line: ink.L(ink.Text, "  "+name), Key: title + " " + name, Copy: name})
	}
	return lines
}
