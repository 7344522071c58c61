package dashboard

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined"
	"github.com/kapi-dev/kapi/internal/text"
	"github.com/kapi-dev/kapi/tui/components/chart"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/hooks/start"
	"github.com/kapi-dev/kapi/tui/pages/kit"
)

// state are the parts of the server, a line each.
func (f *facts) state(paper ink.Paper) []item {
	var items []item
	items = append(items, f.health(paper)...)
	items = append(items, f.serves(paper)...)
	items = append(items, f.start(paper)...)
	return append(items, f.etcd(paper)...)
}

// health counts health checks and hooks.
func (f *facts) health(paper ink.Paper) []item {
	if items := f.notShown("health", partHealth); items != nil {
		return items
	}
	h := f.overview.Health
	all := h.OK + h.Failed + h.Unknown
	span := ink.T(ink.Good, fmt.Sprintf("%s %d of %d checks ok", paper.Glyphs.Good, h.OK, all))
	if h.Failed > 0 {
		span = ink.T(ink.Bad, fmt.Sprintf("%s %d of %d checks fail: %s", paper.Glyphs.Bad, h.Failed, all, strings.Join(h.Failing, ", ")))
	}
	return []item{{key: "health", open: page.At("health", ""), line: labelled("health", span)}}
}

// serves counts what the server serves: definitions, APIServices, groups, each a line
// of its own, since each leads elsewhere.
func (f *facts) serves(paper ink.Paper) []item {
	var items []item
	for _, c := range []struct {
		label, part, page, noun string
		count                   joined.Count
	}{
		{"crds", partDefinitions, "crds", "CRDs", f.overview.Definitions},
		{"apis", partServices, "apiservices", "APIServices", f.overview.APIServices},
	} {
		if missing := f.notShown(c.label, c.part); missing != nil {
			items = append(items, missing...)
			continue
		}
		span := ink.T(ink.Good, fmt.Sprintf("%s %d of %d %s ok", paper.Glyphs.Good, c.count.OK, c.count.Total, c.noun))
		switch {
		case c.count.Total == 0:
			span = ink.T(ink.Muted, "no "+c.noun)
		case c.count.OK < c.count.Total:
			span = ink.T(ink.Bad, fmt.Sprintf("%s %d of %d %s not ok", paper.Glyphs.Bad, c.count.Total-c.count.OK, c.count.Total, c.noun))
		}
		items = append(items, item{key: c.label, open: page.At(c.page, ""), line: labelled(c.label, span)})
	}
	if f.overview.GroupVersions > 0 && len(items) > 1 {
		said := fmt.Sprintf("  %s, %s", plural(f.overview.Groups, "group"), plural(f.overview.GroupVersions, "version"))
		last := &items[len(items)-1]
		last.line = append(last.line, ink.T(ink.Muted, said))
	}
	return items
}

// start is how long the server took to be ready, and the hook that took longest.
func (f *facts) start(paper ink.Paper) []item {
	if items := f.notShown("start", partHooks); items != nil {
		return items
	}
	h := f.overview.Hooks
	span := ink.T(ink.Good, fmt.Sprintf("%s %d of %d hooks done", paper.Glyphs.Good, h.Done, h.All()))
	switch {
	case h.Failed > 0:
		span = ink.T(ink.Bad, fmt.Sprintf("%s %d of %d hooks failed", paper.Glyphs.Bad, h.Failed, h.All()))
	case h.Done < h.All():
		span = ink.T(ink.Warning, fmt.Sprintf("%s %d of %d hooks done", paper.Glyphs.Running, h.Done, h.All()))
	}
	line := labelled("start", span)
	if len(f.starts) > 0 && f.starts[0].Whole.State == v1alpha1.RunDone {
		line = append(line, ink.T(ink.Text, ", ready after "), ink.T(ink.Accent, kit.Took(f.starts[0].Lasted())))
	}
	open := page.At("hooks", "")
	if slowest, ok := start.Slowest(f.hooks); ok {
		line = append(line, ink.T(ink.Muted, ", slowest "+slowest.Name+" "+kit.Took(slowest.Took())))
	}
	return []item{{key: "start", open: open, line: line}}
}

// etcd are the members of the store: how full they are, and when they will be.
func (f *facts) etcd(paper ink.Paper) []item {
	if items := f.notShown("etcd", partEtcd); items != nil {
		return items
	}
	var items []item
	for _, m := range f.overview.Etcd {
		items = append(items, item{key: "etcd " + m.Name, open: page.At("etcd", ""), line: labelled("etcd", f.member(paper, m)...)})
	}
	return items
}

// member shows how full a member is, and what is more important than that first.
func (f *facts) member(paper ink.Paper, m joined.EtcdLine) ink.Line {
	s := &m.Status
	var line ink.Line
	if len(f.overview.Etcd) > 1 {
		line = append(line, ink.T(ink.Text, m.Name+" "))
	}
	if s.Error != "" {
		return append(line, ink.T(ink.Bad, paper.Glyphs.Bad+" can't be asked: "+s.Error))
	}
	if len(s.Alarms) > 0 {
		line = append(line, ink.T(ink.Bad, paper.Glyphs.Bad+" "+strings.Join(s.Alarms, " ")+" "))
	}
	size := "size not known"
	if s.DBSize >= 0 {
		size = kinds.Size(s.DBSize)
	}
	if s.Quota > 0 {
		part := float64(s.DBSize) / float64(s.Quota)
		line = append(line, chart.Bar(paper, fullToken(part), float64(s.DBSize), float64(s.Quota), 8)...)
		line = append(line, ink.T(fullToken(part), " "+text.Percent(part)+" "))
		size += " of " + kinds.Size(s.Quota)
	}
	line = append(line, ink.T(ink.Text, size))
	if s.DBSizeInUse > 0 {
		line = append(line, ink.T(ink.Muted, ", "+kinds.Size(s.DBSizeInUse)+" in use"))
	}
	switch {
	case s.NoSpaceAt != nil:
		left := s.NoSpaceAt.Sub(f.frame.Now)
		token := ink.Muted
		if left < day {
			token = ink.Warning
		}
		line = append(line, ink.T(token, ", full in "+duration.HumanDuration(max(0, left))))
	case s.Quota > 0:
		line = append(line, ink.T(ink.Muted, ", not filling up"))
	}
	return line
}

const day = 24 * 60 * 60 * 1e9

// fullToken warns where the quota comes near.
func fullToken(part float64) ink.Token {
	switch {
	case part >= 0.95:
		return ink.Bad
	case part >= 0.80:
		return ink.Warning
	}
	return ink.Good
}

// stored is what fills the store.
func (f *facts) stored(paper ink.Paper) block {
	b := block{least: 1, rank: 7, apart: 5}
	var whole int64
	for _, s := range f.storages {
		whole += s.Status.Bytes
	}
	label := "stored"
	one := labelled(label)
	for i, s := range f.storages[:min(3, len(f.storages))] {
		name := s.Spec.Resource
		if s.Spec.Group != "" {
			name += "." + s.Spec.Group
		}
		line := labelled(label)
		line = append(line, chart.Bar(paper, ink.Series3, float64(s.Status.Bytes), float64(max(1, whole)), 8)...)
		line = append(line, ink.T(ink.Accent, " "+ink.PadLeft(kinds.Size(s.Status.Bytes), 6)), ink.T(ink.Text, "  "+name))
		if s.Status.Objects >= 0 {
			line = append(line, ink.T(ink.Muted, fmt.Sprintf("  %s", plural(int(s.Status.Objects), "object"))))
		}
		open := page.At("etcd", "")
		if s.Spec.EtcdPrefix != "" {
			open = page.At("etcd", "", "prefix", s.Spec.EtcdPrefix)
		}
		b.items = append(b.items, item{key: "stored " + name, open: open, line: line})
		if i > 0 {
			one = append(one, ink.T(ink.Muted, " "+paper.Glyphs.Dot+" "))
		}
		one = append(one, ink.T(ink.Text, paper.Glyphs.Shorten(paper.Clean(s.Spec.Resource), 24)+" "), ink.T(ink.Accent, kinds.Size(s.Status.Bytes)))
		label = ""
	}
	if len(b.items) > 0 {
		b.short = []item{{key: "stored", open: page.At("etcd", ""), line: one}}
	}
	return b
}
