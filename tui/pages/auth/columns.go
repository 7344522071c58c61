package auth

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined"
	"github.com/kapi-dev/kapi/tui/components/vtable"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/pages/kit"
	"github.com/kapi-dev/kapi/tui/pages/sheet"
)

func authenticatorColumns(*sheet.Signs) []vtable.Column[row] {
	return []vtable.Column[row]{
		nameColumn(), countColumn("AUTHENTICATED"), rateColumn("AUTHENTICATED"), countColumn("REFUSED"), latencyColumn(),
		configuredColumn(), wide(countColumn("NO-OPINION")), wide(typeColumn()), sourceColumn(),
	}
}

func authorizerColumns(*sheet.Signs) []vtable.Column[row] {
	return []vtable.Column[row]{
		nameColumn(), countColumn("ALLOWED"), rateColumn("ALLOWED"), countColumn("DENIED"), countColumn("NO-OPINION"), latencyColumn(),
		configuredColumn(), countColumn("ERRORS"), wide(typeColumn()), sourceColumn(),
	}
}

func pluginColumns(signs *sheet.Signs) []vtable.Column[row] {
	return []vtable.Column[row]{
		nameColumn(),
		{Title: "PHASE", Min: 16, Cell: func(r row, _ time.Time) ink.Span {
			if r.enabled {
				return signs.Mark(joined.OK, cmp.Or(r.what, "on"))
			}
			return signs.Off(r.configured())
		}, Compare: func(a, b row) int { return cmp.Or(boolean(b.enabled)-boolean(a.enabled), cmp.Compare(a.what, b.what)) }},
		countColumn("ADMITTED"), rateColumn("ADMITTED"), countColumn("REJECTED"),
		{Title: "REFUSED", Right: true, Cell: refused, Compare: func(a, b row) int { return b.refused.Compare(a.refused) }},
		latencyColumn(), configuredColumn(), sourceColumn(),
	}
}

func boolean(is bool) int {
	if is {
		return 1
	}
	return 0
}

// plain is the token of what belongs to a row that may be off.
func plain(r row) ink.Token {
	if r.enabled {
		return ink.Text
	}
	return ink.Muted
}

func wide(column vtable.Column[row]) vtable.Column[row] {
	column.Wide = true
	return column
}

func nameColumn() vtable.Column[row] {
	return vtable.Column[row]{Title: "NAME", Keep: true, Middle: true, Min: 20, Cell: func(r row, _ time.Time) ink.Span {
		return ink.T(plain(r), r.name)
	}}
}

func countColumn(name string) vtable.Column[row] {
	return vtable.Column[row]{Title: name, Right: true, Cell: func(r row, _ time.Time) ink.Span {
		d := r.find(name)
		token := ink.Text
		switch {
		case d.count == 0 || !r.enabled:
			token = ink.Muted
		case d.bad:
			token = ink.Warning
		}
		if !r.enabled && d.count == 0 {
			return ink.T(ink.Muted, "-")
		}
		return r.gaps.Cell(d.gap, ink.T(token, strconv.FormatInt(d.count, 10)))
	}, Compare: func(a, b row) int { return cmp.Compare(a.find(name).count, b.find(name).count) }}
}

func rateColumn(name string) vtable.Column[row] {
	return vtable.Column[row]{Title: "/S", Right: true, Cell: func(r row, _ time.Time) ink.Span {
		d := r.find(name)
		if !d.rated || !r.enabled {
			return ink.T(ink.Muted, "-")
		}
		token := ink.Text
		if d.perSecond == 0 {
			token = ink.Muted
		}
		return r.gaps.Cell(d.gap, ink.T(token, rate(d.perSecond)))
	}, Compare: func(a, b row) int { return cmp.Compare(a.find(name).perSecond, b.find(name).perSecond) }}
}

// rate writes how often something happens in a second.
func rate(perSecond float64) string {
	switch {
	case perSecond == 0:
		return "0"
	case perSecond < 0.1:
		return "<0.1"
	case perSecond < 10:
		return strconv.FormatFloat(perSecond, 'f', 1, 64)
	}
	return strconv.FormatFloat(perSecond, 'f', 0, 64)
}

func latencyColumn() vtable.Column[row] {
	return vtable.Column[row]{Title: "P99", Right: true, Cell: func(r row, _ time.Time) ink.Span {
		if r.latency.Count == 0 {
			return ink.T(ink.Muted, "-")
		}
		return r.gaps.Cell("P99", ink.T(ink.Text, kinds.Took(r.latency.P99)))
	}, Compare: func(a, b row) int { return cmp.Compare(a.latency.P99.Duration, b.latency.P99.Duration) }}
}

func typeColumn() vtable.Column[row] {
	return vtable.Column[row]{Title: "TYPE", Cell: func(r row, _ time.Time) ink.Span { return sheet.Or(plain(r), r.what) }}
}

func refused(r row, now time.Time) ink.Span {
	ago := kit.Ago(r.refused, now)
	if ago != "" {
		ago += " ago"
	}
	return r.gaps.Cell("Last-Rejection", ink.T(ink.Text, ago))
}

// configured is what turned it on, or off.
func (r row) configured() string {
	switch {
	case r.enabled || r.configuredBy == "":
		return r.configuredBy
	case r.configuredBy == "default":
		return "off by default"
	}
	return "off by " + strings.TrimPrefix(r.configuredBy, "off by ")
}

func configuredColumn() vtable.Column[row] {
	return vtable.Column[row]{Title: "CONFIGURED-BY", Min: 13, Grow: 1, Cell: func(r row, _ time.Time) ink.Span {
		token := plain(r)
		if r.configuredBy == "default" {
			token = ink.Muted
		}
		return sheet.Or(token, r.configured())
	}}
}

func sourceColumn() vtable.Column[row] {
	return vtable.Column[row]{Title: "SOURCE", Wide: true, Middle: true, Min: 12, Grow: 1, Cell: func(r row, _ time.Time) ink.Span {
		return r.gaps.Cell("Source", ink.T(plain(r), r.source))
	}}
}
