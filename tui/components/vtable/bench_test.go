package vtable_test

import (
	"testing"

	ct "github.com/kapi-dev/kapi/tui/components/internal/componenttest"
	"github.com/kapi-dev/kapi/tui/page"
)

const many = 10000

func BenchmarkView(b *testing.B) {
	table, paper := table(many), ct.Paper(160, 50)
	b.ReportAllocs()
	for b.Loop() {
		table.View(paper)
	}
}

func BenchmarkMove(b *testing.B) {
	table, paper := table(many), ct.Paper(160, 50)
	b.ReportAllocs()
	for b.Loop() {
		do(table, page.Down)
		table.View(paper)
	}
}

func BenchmarkSetRows(b *testing.B) {
	for name, set := range map[string]struct {
		filter string
		sorts  int
	}{"plain": {}, "by-text": {sorts: 1}, "by-compare": {sorts: 4}, "filter": {filter: "failed"}, "filter-field": {filter: "count:>100"}} {
		b.Run(name, func(b *testing.B) {
			table, paper, rows := table(many), ct.Paper(160, 50), widgets(many)
			table.View(paper)
			for range set.sorts {
				do(table, page.Sort)
			}
			_ = table.Filter(set.filter)
			do(table, page.PageDown)
			b.ReportAllocs()
			for b.Loop() {
				table.SetRows(rows, nil)
				table.View(paper)
			}
		})
	}
}

// BenchmarkFilter types a filter, letter by letter.
func BenchmarkFilter(b *testing.B) {
	table, paper := table(many), ct.Paper(160, 50)
	table.View(paper)
	b.ReportAllocs()
	for b.Loop() {
		for _, typed := range []string{"f", "fa", "fai", "fail", ""} {
			_ = table.Filter(typed)
			table.View(paper)
		}
	}
}
