// Package discovery is the page of discovery and OpenAPI: what they know of each
// group version, how fresh that is, and why it is not. It may import kit, sheet, the
// contract, data, the components and what is joined.
package discovery

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined"
	"github.com/kapi-dev/kapi/tui/components/doc"
	"github.com/kapi-dev/kapi/tui/components/vtable"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/kit"
	"github.com/kapi-dev/kapi/tui/pages/sheet"
)

// Name is the page's in the table of pages.
const Name = "discovery"

// feed is what the page shows.
var feed = data.Of("discoverystates")

// row is a group version on one line.
type row struct {
	*v1alpha1.DiscoveryState
	gaps sheet.Gaps
}

// severity is how bad the freshness is, word what it is called.
func (r row) severity() joined.Severity {
	switch r.Status.Freshness {
	case v1alpha1.DiscoveryCurrent:
		return joined.OK
	case v1alpha1.DiscoveryMissing:
		return joined.Bad
	default:
		return joined.Warning
	}
}

func (r row) word() string {
	switch r.Status.Freshness {
	case v1alpha1.DiscoveryCurrent:
		return "current"
	case v1alpha1.DiscoveryStale:
		return "stale"
	case v1alpha1.DiscoveryMissing:
		return "missing"
	}
	return "unknown"
}

// groupVersion is how it is written in an object.
func (r row) groupVersion() string {
	if r.Spec.Group == "" {
		return r.Spec.Version
	}
	return r.Spec.Group + "/" + r.Spec.Version
}

// local says that no aggregated server is asked.
func (r row) local() bool { return r.Spec.Source == "local" || r.Spec.Source == "" }

// New returns the list, or the detail of one group version.
func New(env page.Env, at page.Location) (page.Page, error) {
	if at.Name != "" {
		return detail(env, at.Name), nil
	}
	signs := &sheet.Signs{}
	return sheet.NewList(signs, nil, kit.ListConfig[row]{
		Title: "discovery",
		Needs: []data.Key{feed},
		Rows:  rows,
		Table: vtable.Config[row]{
			Columns:  columns(signs),
			Key:      func(r row) string { return r.Name },
			Severity: func(r row) vtable.Severity { return kit.Severity(r.severity()) },
			Empty:    "Discovery has no group versions.",
		},
		Subject: func(r row) page.Subject { return subject(env, r.DiscoveryState) },
		Open:    func(r row) page.Location { return page.At(Name, r.Name) },
		Detail: func(r row, frame data.Frame) doc.Render {
			return func(paper ink.Paper) []doc.Line { return lines(r, frame.Now, paper) }
		},
		Head:   head,
		Filter: at.Get("filter"),
	}), nil
}

// rows are the group versions, those that are not current first.
func rows(frame data.Frame) []row {
	gaps := sheet.GapsOf(frame.View(feed))
	states := data.Objects[*v1alpha1.DiscoveryState](frame, feed)
	rows := make([]row, 0, len(states))
	for _, state := range states {
		rows = append(rows, row{state, gaps})
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(b.severity(), a.severity()) })
	return rows
}

func columns(signs *sheet.Signs) []vtable.Column[row] {
	return []vtable.Column[row]{
		{Title: "GROUP-VERSION", Keep: true, Middle: true, Min: 24, Cell: func(r row, _ time.Time) ink.Span { return ink.T(ink.Text, r.groupVersion()) }},
		{Title: "STATE", Keep: true, Min: 9, Cell: func(r row, _ time.Time) ink.Span { return signs.Mark(r.severity(), r.word()) },
			Compare: func(a, b row) int { return cmp.Compare(b.severity(), a.severity()) }},
		{Title: "RESOURCES", Right: true, Cell: func(r row, _ time.Time) ink.Span {
			return ink.T(ink.Text, strconv.Itoa(int(r.Status.Resources)))
		}, Compare: func(a, b row) int { return cmp.Compare(a.Status.Resources, b.Status.Resources) }},
		{Title: "FETCHED", Right: true, Cell: func(r row, now time.Time) ink.Span {
			return r.gaps.Cell("Last-Fetch", ink.T(ink.Text, kit.Ago(fetched(r.DiscoveryState), now)))
		}, Compare: func(a, b row) int { return fetched(b.DiscoveryState).Compare(fetched(a.DiscoveryState)) }},
		{Title: "OPENAPI", Min: 8, Cell: func(r row, _ time.Time) ink.Span { return openAPI(signs, r) }},
		{Title: "ERROR", Min: 16, Grow: 1, Cell: func(r row, _ time.Time) ink.Span { return sheet.Or(ink.Bad, r.Status.Error) }},
		{Title: "SOURCE", Middle: true, Min: 12, Cell: func(r row, _ time.Time) ink.Span {
			if r.local() {
				return ink.T(ink.Muted, "local")
			}
			return ink.T(ink.Text, r.Spec.Source)
		}},
		{Title: "BUILT", Right: true, Wide: true, Cell: func(r row, now time.Time) ink.Span {
			if r.Status.OpenAPIV3.LastBuild == nil {
				return ink.T(ink.Muted, "-")
			}
			return ink.T(ink.Text, kit.Ago(r.Status.OpenAPIV3.LastBuild.Time, now))
		}},
		{Title: "COST", Right: true, Wide: true, Cell: func(r row, _ time.Time) ink.Span {
			if r.Status.OpenAPIV3.Cost == nil {
				return ink.T(ink.Muted, "-")
			}
			return ink.T(ink.Text, kinds.Took(*r.Status.OpenAPIV3.Cost))
		}},
		{Title: "V2", Wide: true, Cell: func(r row, _ time.Time) ink.Span { return r.gaps.Cell("V2", listed(r.Status.OpenAPIV2)) }},
	}
}

func fetched(d *v1alpha1.DiscoveryState) time.Time {
	if d.Status.LastFetch == nil {
		return time.Time{}
	}
	return d.Status.LastFetch.Time
}

// openAPI is the state of the OpenAPI v3 document: its size where that is known.
func openAPI(signs *sheet.Signs, r row) ink.Span {
	v3 := r.Status.OpenAPIV3
	switch {
	case v3.Error != "":
		return signs.Mark(joined.Warning, "failed")
	case !v3.Listed:
		return signs.Off("none")
	case v3.Bytes > 0:
		return ink.T(ink.Text, kinds.Size(v3.Bytes))
	}
	return signs.Mark(joined.OK, "listed")
}

func listed(state v1alpha1.OpenAPIState) ink.Span {
	switch {
	case state.Error != "":
		return ink.T(ink.Muted, "?")
	case state.Listed:
		return ink.T(ink.Text, "yes")
	}
	return ink.T(ink.Muted, "no")
}

// head sums the page up on one line.
func head(frame data.Frame, paper ink.Paper) []ink.Line {
	all := rows(frame)
	if len(all) == 0 {
		return nil
	}
	counts := map[joined.Severity]int{}
	for _, r := range all {
		counts[r.severity()]++
	}
	mark := kit.Mark(paper.Glyphs, joined.OK, fmt.Sprintf("all %d current", len(all)))
	switch {
	case counts[joined.Bad] > 0:
		mark = kit.Mark(paper.Glyphs, joined.Bad, fmt.Sprintf("%d of %d missing in discovery", counts[joined.Bad], len(all)))
	case counts[joined.Warning] > 0:
		mark = kit.Mark(paper.Glyphs, joined.Warning, fmt.Sprintf("%d of %d stale: clients see what was, not what is", counts[joined.Warning], len(all)))
	}
	return []ink.Line{{mark}, nil}
}

func subject(env page.Env, d *v1alpha1.DiscoveryState) page.Subject {
	path := "/apis/" + d.Spec.Group + "/" + d.Spec.Version
	if d.Spec.Group == "" {
		path = "/api/" + d.Spec.Version
	}
	subject := page.Subject{
		Kind: "group version", Name: d.Name, Inspect: "discoverystates", Object: d,
		Path: "/apis/inspect.kapi.dev/v1alpha1/discoverystates/" + d.Name,
		Commands: []string{
			cmp.Or(env.Command, "kapi") + " inspect discovery " + d.Name,
			"kubectl get --raw " + path,
		},
	}
	if d.Status.OpenAPIV3.Listed {
		subject.Commands = append(subject.Commands, "kubectl get --raw /openapi/v3"+path)
	}
	return subject
}
