package etcd

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/text"
	"github.com/kapi-dev/kapi/tui/components/vtable"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/etcd/stored"
	"github.com/kapi-dev/kapi/tui/pages/kit"
	"github.com/kapi-dev/kapi/tui/pages/sheet"
)

// row is a resource with its share of what is stored.
type row struct {
	*v1alpha1.ResourceStorage
	// share is its part of all bytes; -1 where that is not known.
	share float64
}

// newOverview is the page of the store itself: members above, resources below,
// the largest first.
func newOverview(filter string) page.Page {
	signs := &sheet.Signs{}
	return sheet.NewList(signs, noNotes, kit.ListConfig[row]{
		Title:  "etcd",
		Needs:  []data.Key{storages, members},
		Rows:   rows,
		Head:   head,
		Filter: filter,
		Table: vtable.Config[row]{
			Columns:  columns(signs),
			Key:      func(r row) string { return r.Name },
			Severity: severity,
			Sort:     "BYTES",
			Reverse:  true,
			Empty:    "nothing is stored",
		},
		Subject: subject,
		Open:    func(r row) page.Location { return page.At("etcd", "", "prefix", prefix(r)+"/") },
		Detail:  detail,
		Extra: map[page.ActionID]func(row) page.Effect{
			page.EtcdKey: func(row) page.Effect { return page.Effect{Open: page.At("etcd", "", "prefix", "/")} },
		},
	})
}

// noNotes are none about single columns: those stand above the table.
var noNotes = map[string][]string{}

func rows(frame data.Frame) []row {
	all := data.Objects[*v1alpha1.ResourceStorage](frame, storages)
	var sum int64
	for _, each := range all {
		sum += max(0, each.Status.Bytes)
	}
	rows := make([]row, 0, len(all))
	for _, each := range all {
		r := row{ResourceStorage: each, share: -1}
		if each.Status.Bytes >= 0 && sum > 0 {
			r.share = float64(each.Status.Bytes) / float64(sum)
		}
		rows = append(rows, r)
	}
	return rows
}

// prefix is where the resource is in the store, by convention where the server does
// not say it.
func prefix(r row) string {
	if r.Spec.EtcdPrefix != "" {
		return strings.TrimSuffix(r.Spec.EtcdPrefix, "/")
	}
	return stored.Conventional(schema.GroupResource{Group: r.Spec.Group, Resource: r.Spec.Resource})
}

// column is a column of text; compare may be nil.
func column(title string, cell func(row) string, compare func(a, b row) int) vtable.Column[row] {
	return vtable.Column[row]{Title: title, Cell: func(r row, _ time.Time) ink.Span { return ink.T(ink.Text, cell(r)) }, Compare: compare}
}

// number is a column of numbers.
func number(title string, value func(row) int64, written func(int64) string) vtable.Column[row] {
	c := column(title, func(r row) string { return written(value(r)) }, func(a, b row) int { return cmp.Compare(value(a), value(b)) })
	c.Right = true
	return c
}

func columns(signs *sheet.Signs) []vtable.Column[row] {
	wide := func(c vtable.Column[row]) vtable.Column[row] {
		c.Wide = true
		return c
	}
	resource := column("RESOURCE", func(r row) string { return r.Name }, nil)
	resource.Grow, resource.Keep, resource.Middle, resource.Min = 1, true, true, 26
	bytes := number("BYTES", func(r row) int64 { return r.Status.Bytes }, kinds.Size)
	bytes.Keep = true
	share := column("SHARE", func(r row) string { return bar(signs.Glyphs(), r.share) }, func(a, b row) int { return cmp.Compare(a.share, b.share) })
	share.Keep = true
	cache := column("CACHE", cacheState, nil)
	cache.Cell = func(r row, _ time.Time) ink.Span { return cacheSpan(r) }
	return []vtable.Column[row]{
		resource, bytes, share,
		number("OBJECTS", func(r row) int64 { return r.Status.Objects }, counted),
		number("PER-HOUR", func(r row) int64 { return r.Status.BytesPerHour }, growth),
		number("WATCHERS", func(r row) int64 { return r.Status.Watchers }, counted),
		cache,
		number("ETCD-P99", func(r row) int64 { return int64(r.Status.EtcdLatency.P99.Duration) }, latencyOf),
		wide(number("LISTS", func(r row) int64 { return r.Status.ListRequests }, counted)),
		wide(number("LAG", lag, counted)),
		wide(column("ENCRYPTED-BY", func(r row) string { return cmp.Or(r.Spec.EncryptedBy, "nothing") }, nil)),
		wide(column("PREFIX", prefix, nil)),
	}
}

// bar is a share in figures and as a bar of ten cells.
func bar(glyphs *ink.Glyphs, share float64) string {
	if share < 0 {
		return "?"
	}
	full := int(share*10 + 0.5)
	return ink.PadLeft(text.Percent(share), 4) + " " + strings.Repeat(glyphs.Full, full) + strings.Repeat(glyphs.Empty, 10-full)
}

func counted(n int64) string {
	if n < 0 {
		return "?"
	}
	return strconv.FormatInt(n, 10)
}

// growth writes a change of size with its sign; none as a dash, so that what grows
// is seen.
func growth(bytesPerHour int64) string {
	switch {
	case bytesPerHour == 0:
		return "-"
	case bytesPerHour < 0:
		return "-" + kinds.Size(-bytesPerHour)
	default:
		return "+" + kinds.Size(bytesPerHour)
	}
}

// latencyOf writes nanoseconds; none as a dash.
func latencyOf(n int64) string {
	if n == 0 {
		return "-"
	}
	return kit.Took(time.Duration(n))
}

func cacheState(r row) string {
	switch c := r.Status.WatchCache; {
	case c == nil:
		return "none"
	case !c.Ready:
		return "! not ready"
	default:
		return "ready"
	}
}

func cacheSpan(r row) ink.Span {
	if severity(r) != vtable.Healthy {
		return ink.T(ink.Warning, cacheState(r))
	}
	return ink.T(ink.Text, cacheState(r))
}

// lag is how far the cache is behind; 0 without one.
func lag(r row) int64 {
	if r.Status.WatchCache == nil {
		return 0
	}
	return r.Status.WatchCache.ResourceVersionLag
}

func severity(r row) vtable.Severity {
	if c := r.Status.WatchCache; c != nil && !c.Ready {
		return vtable.Unsure
	}
	return vtable.Healthy
}

func subject(r row) page.Subject {
	return page.Subject{
		Kind: "stored resource", Name: r.Name, Inspect: "resourcestorages", Object: r.ResourceStorage,
		Path:     "/apis/inspect.kapi.dev/v1alpha1/resourcestorages/" + r.Name,
		Commands: []string{"kapi inspect storage " + r.Name, "kubectl get resourcestorage " + r.Name + " -o yaml", stored.List(prefix(r) + "/")},
	}
}
