package vtable_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	ct "github.com/kapi-dev/kapi/tui/components/internal/componenttest"
	"github.com/kapi-dev/kapi/tui/components/vtable"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
)

type widget struct {
	name, state string
	count       int
	born        time.Time
	note        string
}

func config() vtable.Config[*widget] {
	text := func(text func(*widget) string) func(*widget, time.Time) ink.Span {
		return func(w *widget, _ time.Time) ink.Span { return ink.T(ink.Text, text(w)) }
	}
	return vtable.Config[*widget]{
		Columns: []vtable.Column[*widget]{
			{Title: "NAME", Cell: text(func(w *widget) string { return w.name }), Keep: true, Middle: true},
			{Title: "STATE", Cell: text(func(w *widget) string { return w.state }), Keep: true},
			{Title: "COUNT", Cell: text(func(w *widget) string { return fmt.Sprint(w.count) }), Right: true},
			{Title: "AGE", Right: true, Compare: func(a, b *widget) int { return b.born.Compare(a.born) },
				Cell: func(w *widget, now time.Time) ink.Span {
					return ink.T(ink.Muted, duration.HumanDuration(now.Sub(w.born)))
				}},
			{Title: "ID", Cell: text(func(w *widget) string { return "id-" + w.name }), Wide: true},
			{Title: "NOTE", Cell: text(func(w *widget) string { return w.note }), Grow: 1},
		},
		Key: func(w *widget) string { return w.name },
		Severity: func(w *widget) vtable.Severity {
			if w.state == "ready" {
				return vtable.Healthy
			}
			return vtable.Unhealthy
		},
		Labels: func(w *widget) map[string]string { return map[string]string{"state": w.state} },
		Empty:  "No widgets.",
	}
}

func widgets(count int) []*widget {
	all := make([]*widget, count)
	for i := range all {
		w := &widget{name: fmt.Sprintf("widget-%d", i), state: "ready", count: i * i, born: ct.Now().Add(-time.Duration(i) * time.Minute)}
		if i%4 == 3 {
			w.state, w.note = "failed", "the service has no endpoints that are ready"
		}
		all[i] = w
	}
	return all
}

func table(count int) *vtable.Table[*widget] {
	t := vtable.New(config())
	t.SetRows(widgets(count), nil)
	return t
}

func do(t *vtable.Table[*widget], ids ...page.ActionID) {
	for _, id := range ids {
		t.Act(page.Action{ID: id})
	}
}

func selected(t *testing.T, table *vtable.Table[*widget]) string {
	t.Helper()
	w, ok := table.Selected()
	if !ok {
		return ""
	}
	return w.name
}

func filter(t *testing.T, table *vtable.Table[*widget], text string) {
	t.Helper()
	if err := table.Filter(text); err != nil {
		t.Fatal(err)
	}
}

// listed are the names of all rows of the list.
func listed(table *vtable.Table[*widget]) []string {
	var names []string
	lines := table.View(ct.Paper(200, 1000))
	for _, line := range lines[1:] {
		if fields := strings.Fields(strings.TrimLeft(line.String(), "❯Δ ")); len(fields) > 0 {
			names = append(names, fields[0])
		}
	}
	return names
}

func TestPictures(t *testing.T) {
	for _, size := range [][2]int{{40, 12}, {80, 8}, {120, 8}} {
		paper := ct.Paper(size[0], size[1])
		var b strings.Builder
		show := func(what string, table *vtable.Table[*widget]) {
			lines := table.View(paper)
			ct.Check(t, paper, lines)
			fmt.Fprintf(&b, "# %s\n%s= %s\n\n", what, ct.Plain(paper, lines), table.Status())
		}
		table := table(30)
		show("at first", table)
		do(table, page.Down, page.Down)
		show("two down", table)
		do(table, page.Wide)
		show("wide", table)
		do(table, page.Wide, page.Sort, page.Sort, page.Sort, page.Reverse)
		show("by COUNT, down", table)
		filter(t, table, "widget-1 !ready")
		show("filtered", table)
		filter(t, table, "nowhere")
		show("nothing left", table)
		filter(t, table, "")
		do(table, page.Unhealthy)
		show("only unhealthy", table)
		table.SetRows(nil, nil)
		show("empty", table)
		var odd []*widget
		for i, name := range ct.Names() {
			odd = append(odd, &widget{name: name, state: name, count: i, born: ct.Now()})
		}
		do(table, page.Unhealthy, page.Sort, page.Sort, page.Sort, page.Sort)
		table.SetRows(odd, func(w *widget) bool { return w.count%2 == 0 })
		do(table, page.Top)
		show("odd names", table)
		ct.Golden(t, fmt.Sprintf("table-%dx%d", size[0], size[1]), b.String())
	}
}

func TestCursorStaysOnItsKey(t *testing.T) {
	table, rows := table(30), widgets(30)
	table.View(ct.Paper(80, 10))
	table.Act(page.Action{ID: page.Down, Count: 12})
	line := cursorLine(table, ct.Paper(80, 10))

	table.SetRows(append([]*widget{{name: "new"}, {name: "newer"}}, rows...), nil)
	if got := selected(t, table); got != "widget-12" {
		t.Errorf("after rows before it: %s", got)
	}
	if got := cursorLine(table, ct.Paper(80, 10)); got != line {
		t.Errorf("the cursor went from line %d to %d", line, got)
	}
	do(table, page.Sort, page.Reverse)
	if got := selected(t, table); got != "widget-12" {
		t.Errorf("after sorting: %s", got)
	}
	do(table, page.Reverse, page.Sort, page.Sort, page.Sort, page.Sort, page.Sort)
	if status := table.Status(); status != "32" {
		t.Errorf("sorting does not end in the order of the rows: %s", status)
	}
	filter(t, table, "widget-1")
	if got := selected(t, table); got != "widget-12" {
		t.Errorf("after a filter: %s", got)
	}
	filter(t, table, "")
	table.SetRows(slices.DeleteFunc(widgets(30), func(w *widget) bool { return w.name == "widget-12" }), nil)
	if got := selected(t, table); got == "widget-12" || got == "" {
		t.Errorf("of a row that is gone: %q", got)
	}
	table.SetRows(widgets(30)[:3], nil)
	if got := selected(t, table); got != "widget-2" {
		t.Errorf("of few rows: %s", got)
	}
	table.SetRows(nil, nil)
	if _, ok := table.Selected(); ok {
		t.Error("something is selected of nothing")
	}
	table.SetRows(widgets(30), nil)
	if got := selected(t, table); got != "widget-2" {
		t.Errorf("after all were gone for a moment: %s", got)
	}
	if !table.Select("widget-20") || selected(t, table) != "widget-20" || table.Select("nobody") {
		t.Errorf("select: %s", selected(t, table))
	}
}

func cursorLine(table *vtable.Table[*widget], paper ink.Paper) int {
	return slices.IndexFunc(table.View(paper), func(line ink.Line) bool { return strings.HasPrefix(line.String(), "❯") })
}

func TestGoneRowLeavesThePosition(t *testing.T) {
	table := table(10)
	table.Act(page.Action{ID: page.Down, Count: 4})
	table.SetRows(slices.DeleteFunc(widgets(10), func(w *widget) bool { return w.name == "widget-4" }), nil)
	if got := selected(t, table); got != "widget-5" {
		t.Errorf("selected is %s", got)
	}
}

func TestRowsOfOneKey(t *testing.T) {
	table := vtable.New(config())
	same := []*widget{{name: "same"}, {name: "same"}, {name: "same"}, {name: "same"}}
	table.SetRows(same, nil)
	do(table, page.Down, page.Down)
	table.SetRows(slices.Clone(same), nil)
	if got, _ := table.Selected(); got != same[2] {
		t.Error("the cursor went to another row of the same key")
	}
}

func TestWidthsDoNotShrink(t *testing.T) {
	table := table(30)
	paper := ct.Paper(120, 10)
	rows := widgets(30)
	rows[0].state = "a-much-longer-state"
	table.SetRows(rows, nil)
	wide := strings.Index(table.View(paper)[0].String(), "COUNT")
	table.SetRows(widgets(30), nil)
	if got := strings.Index(table.View(paper)[0].String(), "COUNT"); got != wide {
		t.Errorf("COUNT went from %d to %d", wide, got)
	}
	for name, reset := range map[string]func(){
		"resize": func() { table.View(ct.Paper(110, 10)) },
		"wide":   func() { do(table, page.Wide, page.Wide) },
		"empty":  func() { table.SetRows(nil, nil); table.SetRows(widgets(30), nil) },
	} {
		table.SetRows(rows, nil)
		table.View(paper)
		table.SetRows(widgets(30), nil)
		reset()
		if got := strings.Index(table.View(paper)[0].String(), "COUNT"); got >= wide {
			t.Errorf("%s: COUNT stays at %d", name, got)
		}
	}
}

func TestTail(t *testing.T) {
	c := config()
	c.Tail = true
	table := vtable.New(c)
	table.SetRows(widgets(10), nil)
	paper := ct.Paper(80, 6)
	table.View(paper)
	if got := selected(t, table); got != "widget-9" {
		t.Fatalf("at first: %s", got)
	}
	more := func(count int, want string) {
		t.Helper()
		table.SetRows(widgets(count), nil)
		table.View(paper)
		if got := selected(t, table); got != want {
			t.Errorf("of %d rows %s is selected, want %s (%s)", count, got, want, table.Status())
		}
	}
	more(12, "widget-11")
	do(table, page.Up)
	more(14, "widget-10")
	do(table, page.Bottom)
	more(16, "widget-15")
	do(table, page.Follow)
	more(18, "widget-15")
	do(table, page.Follow)
	more(20, "widget-19")
	filter(t, table, "widget-1")
	more(21, "widget-19")
	filter(t, table, "")
	if !table.Select("widget-2") {
		t.Fatal("widget-2 is not there")
	}
	more(22, "widget-2")

	if still := vtable.New(config()); still.Act(page.Action{ID: page.Follow}) || still.Offers(page.Follow) {
		t.Error("a table without Tail follows")
	}
}

func TestSortIsNaturalAndStable(t *testing.T) {
	table := vtable.New(config())
	var rows []*widget
	for i, name := range []string{"node-10", "node-9", "b", "node-2", "a007", "a7", "", "node-2"} {
		rows = append(rows, &widget{name: name, count: i, born: ct.Now()})
	}
	table.SetRows(rows, nil)
	do(table, page.Sort)
	if got, want := counts(table), []string{"6", "4", "5", "2", "3", "7", "1", "0"}; !slices.Equal(got, want) {
		t.Errorf("up: %v, want %v", got, want)
	}
	do(table, page.Reverse)
	if got, want := counts(table), []string{"0", "1", "3", "7", "2", "4", "5", "6"}; !slices.Equal(got, want) {
		t.Errorf("down: %v, want %v", got, want)
	}
	do(table, page.Sort, page.Sort) // COUNT: numbers
	if got := counts(table); !slices.IsSortedFunc(got, func(a, b string) int { return cmp.Compare(a, b) }) {
		t.Errorf("by COUNT: %v", got)
	}
}

// counts are the cells of COUNT, from the top.
func counts(table *vtable.Table[*widget]) []string {
	lines := table.View(ct.Paper(80, 20))
	end := strings.Index(lines[0].String(), "COUNT") + 6
	var all []string
	for _, line := range lines[1:] {
		if text := strings.ReplaceAll(line.String(), "❯", " "); strings.TrimSpace(text) != "" {
			fields := strings.Fields(ink.Pad(text, end)[:end])
			all = append(all, fields[len(fields)-1])
		}
	}
	return all
}

func TestFilter(t *testing.T) {
	table := table(30)
	table.View(ct.Paper(80, 10))
	for text, want := range map[string]int{
		"": 30, "failed": 7, "!failed": 23, "state:failed name:widget-2": 2, "count:>100 count:<400": 9,
		"age:<10m": 10, "-l state=failed": 7, "id-widget-29": 1, `"ready 1"`: 0,
	} {
		filter(t, table, text)
		if got := len(listed(table)); got != want && want > 0 {
			t.Errorf("%q leaves %d, want %d", text, got, want)
		}
		if table.Filtered() != text {
			t.Errorf("filtered is %q, want %q", table.Filtered(), text)
		}
	}
	filter(t, table, "failed")
	if err := table.Filter("nocolumn:x"); err == nil || table.Filtered() != "failed" {
		t.Errorf("a wrong filter: %v, in use %q", err, table.Filtered())
	}
}

func TestFilterByAgeGoesOn(t *testing.T) {
	table := table(30)
	paper := ct.Paper(80, 10)
	filter(t, table, "age:<10m")
	table.View(paper)
	paper.Now = paper.Now.Add(5 * time.Minute)
	table.View(paper)
	if status := table.Status(); status != "5 of 30" {
		t.Errorf("five minutes later: %s", status)
	}
}

func TestMatches(t *testing.T) {
	table := table(30)
	table.View(ct.Paper(80, 10))
	if table.Offers(page.NextMatch) {
		t.Error("matches are offered before a search")
	}
	filter(t, table, "failed")
	do(table, page.Top, page.NextMatch)
	if got := selected(t, table); got != "widget-7" {
		t.Errorf("with a filter the next row is %s", got)
	}
	filter(t, table, "")
	do(table, page.NextMatch)
	if got := selected(t, table); got != "widget-11" {
		t.Errorf("without it the next match is %s", got)
	}
	do(table, page.PrevMatch, page.PrevMatch, page.PrevMatch)
	if got := selected(t, table); got != "widget-27" {
		t.Errorf("round the beginning the match is %s", got)
	}
}

func TestMemory(t *testing.T) {
	table := table(5)
	do(table, page.Sort, page.Sort, page.Reverse, page.Wide)
	again := vtable.New(config())
	again.SetRows(widgets(5), nil)
	again.Restore(table.Memory())
	if got, want := again.Status(), "5, by STATE down, wide"; got != want {
		t.Errorf("restored: %s, want %s", got, want)
	}
	again.Restore(map[string]string{"sort": "NOSUCH", "other": "x"})
	if got, want := again.Status(), "5, wide"; got != want {
		t.Errorf("of a column that is gone: %s, want %s", got, want)
	}
	c := config()
	c.Sort, c.Reverse = "AGE", true
	sorted := vtable.New(c)
	sorted.Restore(nil)
	if got, want := sorted.Status(), "0, by AGE down"; got != want {
		t.Errorf("of no memory: %s, want %s", got, want)
	}
}

func TestOnlyTheScreenIsAskedFor(t *testing.T) {
	asked := 0
	c := config()
	c.Columns[0].Cell = func(w *widget, _ time.Time) ink.Span { asked++; return ink.T(ink.Text, w.name) }
	table := vtable.New(c)
	table.SetRows(widgets(10000), nil)
	table.View(ct.Paper(80, 25))
	do(table, page.Down)
	table.View(ct.Paper(80, 25))
	if asked > 2*24 {
		t.Errorf("%d cells were asked for two screens of 24", asked)
	}
}

func TestRandom(t *testing.T) {
	for seed := range uint64(30) {
		r := ct.Random(seed)
		c := config()
		c.Tail = seed%3 == 0
		table := vtable.New(c)
		for range 300 {
			switch r.IntN(8) {
			case 0:
				rows := widgets(r.IntN(60))
				for _, w := range rows {
					if r.IntN(3) == 0 {
						w.name = ct.Names()[r.IntN(len(ct.Names()))]
					}
				}
				table.SetRows(rows, func(w *widget) bool { return w.count%3 == 0 })
			case 1:
				_ = table.Filter([]string{"", "widget", "e", "nowhere", "age:>3m", `"`, "x:y"}[r.IntN(7)])
			case 2, 3:
				paper := ct.Size(r)
				ct.Check(t, paper, table.View(paper))
			default:
				action := ct.Action(r)
				if !table.Act(action) && table.Offers(action.ID) {
					t.Fatalf("seed %d: %s is offered and not done", seed, action.ID)
				}
			}
			if row, ok := table.Selected(); ok != !strings.HasPrefix(table.Status(), "0") || ok && row == nil {
				t.Fatalf("seed %d: selected %v, %v of %s", seed, row, ok, table.Status())
			}
			if paper := ct.Paper(80, 1+r.IntN(20)); r.IntN(3) == 0 {
				lines := table.View(paper)
				if _, ok := table.Selected(); ok && !slices.ContainsFunc(lines, func(line ink.Line) bool { return strings.HasPrefix(line.String(), "❯") }) {
					t.Fatalf("seed %d: the cursor is not on the screen\n%s", seed, ct.Plain(paper, lines))
				}
			}
		}
	}
}

func TestZeroConfig(t *testing.T) {
	table := vtable.New(vtable.Config[int]{Columns: []vtable.Column[int]{{}}})
	table.SetRows([]int{1, 2, 3}, nil)
	for _, id := range ct.Actions() {
		table.Act(page.Action{ID: id})
	}
	paper := ct.Paper(20, 5)
	ct.Check(t, paper, table.View(paper))
	none := vtable.New(vtable.Config[int]{})
	none.SetRows([]int{1}, nil)
	for _, id := range ct.Actions() {
		none.Act(page.Action{ID: id})
		none.Offers(id)
	}
	ct.Check(t, paper, none.View(paper))
}
