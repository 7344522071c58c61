package view

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined"
	"github.com/kapi-dev/kapi/internal/text"
)

// Overview prints a server on one screen: what it is, the worst three problems, and
// its parts. On 80 columns it takes at most 24 lines, unless parts are missing. The
// error is the writer's.
func Overview(w io.Writer, s text.Screen, o joined.Overview) error {
	page := text.NewPage(w, s)
	about, verdict := aboutText(o), verdictOf(o)
	if width := text.Width(about) + 2 + text.Width(verdict.Text); s.Width > 0 && width > s.Width {
		page.Line(text.Cell{Text: about, Tone: text.Heading})
		page.Line(verdict)
	} else {
		page.Line(text.Cell{Text: about + "  ", Tone: text.Heading}, verdict)
	}
	problemBlock(page, o.Problems)
	page.Blank()
	for _, f := range overviewFacts(page.Screen, o) {
		f.write(page)
	}
	layersBlock(page, o)
	return page.Close()
}

// serverNoun is what a server is called.
func serverNoun(kind inspection.Type) string {
	if kind == inspection.Foreign {
		return "API server"
	}
	return "kapi"
}

// aboutText says what the server is: "kapi v1.37.2 at https://127.0.0.1:6443, up 3h".
func aboutText(o joined.Overview) string {
	said := join(" ", serverNoun(o.About.Type), o.About.KubernetesVersion)
	said = join(" at ", said, o.About.Address)
	if o.Uptime.Duration > 0 {
		said += ", up " + duration.HumanDuration(o.Uptime.Duration)
	}
	if o.About.RecordedFrom != "" {
		said += fmt.Sprintf(", recorded %s in %s", o.About.At.Format("2006-01-02 15:04:05 MST"), o.About.RecordedFrom)
	}
	return said
}

// verdictOf counts the problems. Where nothing was seen it does not say that nothing is there.
func verdictOf(o joined.Overview) text.Cell {
	count := map[joined.Severity]int{}
	for _, p := range o.Problems {
		count[p.Severity]++
	}
	var parts []string
	if n := count[joined.Bad]; n > 0 {
		parts = append(parts, fmt.Sprintf("%d bad", n))
	}
	if n := count[joined.Warning]; n > 0 {
		parts = append(parts, plural(n, "warning"))
	}
	switch {
	case len(parts) > 0:
		return text.Cell{Text: strings.Join(parts, ", "), Tone: severityTone(o.Severity())}
	case o.Blind():
		return text.Cell{Text: "nothing is known to be wrong", Tone: text.Warning}
	default:
		return text.Cell{Text: "nothing is wrong", Tone: text.Good}
	}
}

// worst is how many problems are shown.
const worst = 3

func problemBlock(page *text.Page, problems []joined.Problem) {
	const indent = 6
	more := len(problems) - worst
	for i, p := range problems[:min(worst, len(problems))] {
		mark := "WARN"
		if p.Severity == joined.Bad {
			mark = "BAD"
		}
		page.Line(
			text.Cell{Text: text.Pad(mark, indent), Tone: severityTone(p.Severity)},
			plain(p.What), text.Cell{Text: clauseSign(p.Why) + p.Why, Tone: text.Dim},
		)
		look := []text.Cell{plain(strings.Repeat(" ", indent)), {Text: p.Look, Tone: text.Heading}}
		if more > 0 && i == worst-1 {
			look = append(look, text.Cell{Text: fmt.Sprintf("  and %d more with -o json", more), Tone: text.Dim})
		}
		page.Line(look...)
	}
}

// clauseSign stands before a reason, if there is one.
func clauseSign(why string) string {
	if why == "" {
		return ""
	}
	return ": "
}

// layersBlock prints the layers side by side, outermost first, as a request meets them.
func layersBlock(page *text.Page, o joined.Overview) {
	page.Blank()
	if why := joined.Why(o.Missing, "serverlayers"); why != "" {
		overviewFact{"Layers", []text.Cell{notShown("", why)}}.write(page)
		return
	}
	rows := []struct {
		name  string
		value func(joined.LayerLine) string
	}{
		{"Received", func(l joined.LayerLine) string { return strconv.FormatInt(l.Received, 10) }},
		{"Answered", func(l joined.LayerLine) string { return strconv.FormatInt(l.Answered, 10) }},
		{"In flight", func(l joined.LayerLine) string { return strconv.FormatInt(l.InFlight, 10) }},
		{"Last 5xx", func(l joined.LayerLine) string { return lastError(l, o.About.At) }},
	}
	if page.Screen.Width > 0 && page.Screen.Width < roomy {
		rows = rows[:3] // so that all of it has room on 24 lines
	}
	table := text.Table{Columns: []text.Column{{Name: "Layers"}}}
	for _, l := range o.Layers {
		table.Columns = append(table.Columns, text.Column{Name: l.Name, Right: true})
	}
	for _, row := range rows {
		cells := []text.Cell{{Text: row.name, Tone: text.Heading}}
		for _, l := range o.Layers {
			cells = append(cells, plain(row.value(l)))
		}
		table.Rows = append(table.Rows, cells)
	}
	page.Table(table)
}

func lastError(l joined.LayerLine, now time.Time) string {
	if l.LastError == nil {
		return "-"
	}
	return fmt.Sprintf("%d %s", l.LastError.Code, ago(l.LastError.At.Time, now))
}

// overviewFact is a line of the overview: a name, and what is to be said of it.
type overviewFact struct {
	name  string
	cells []text.Cell
}

const factIndent = 10

// write prints the fact. What has no room on a line goes on the next.
func (f overviewFact) write(page *text.Page) {
	line, used := []text.Cell{{Text: text.Pad(f.name, factIndent), Tone: text.Heading}}, 0
	next := func() {
		page.Line(line...)
		line, used = []text.Cell{plain(strings.Repeat(" ", factIndent))}, 0
	}
	room := factRoom(page.Screen)
	for _, cell := range f.cells {
		clean := page.Screen.Clean(cell.Text)
		if width := text.Width(strings.TrimRight(clean, " ;")); room > 0 && used > 0 && used+width > room {
			next()
		}
		parts := []string{clean}
		if room > 0 && text.Width(clean) > room {
			parts = text.Wrap(clean, room)
		}
		for i, part := range parts {
			if i > 0 {
				next()
			}
			line, used = append(line, text.Cell{Text: part, Tone: cell.Tone}), used+text.Width(part)
		}
	}
	page.Line(line...)
}

// factRoom is how wide a fact may be; 0 is no limit.
func factRoom(s text.Screen) int {
	if s.Width <= 0 {
		return 0
	}
	return max(1, s.Width-factIndent)
}

// notShown says why a part is missing; of what, where the name of the fact does not say it.
func notShown(what, why string) text.Cell {
	return text.Cell{Text: join(" ", what, "not shown: "+why), Tone: text.Warning}
}

// overviewFacts are the lines between the problems and the layers.
func overviewFacts(s text.Screen, o joined.Overview) []overviewFact {
	facts := []overviewFact{{"Health", healthCells(o)}}
	facts = append(facts, etcdFacts(s, o)...)
	facts = append(facts, overviewFact{"Serves", servesCells(o)})
	if len(o.Layers) > 0 {
		facts = append(facts, overviewFact{"Requests", []text.Cell{plain(requestsText(o))}})
	}
	return append(facts, chainFacts(o)...)
}

func healthCells(o joined.Overview) []text.Cell {
	checks, hooks := joined.Why(o.Missing, "healthchecks"), joined.Why(o.Missing, "poststarthooks")
	switch {
	case checks != "" && checks == hooks:
		return []text.Cell{notShown("", checks)}
	case checks != "":
		return append([]text.Cell{notShown("checks", checks), plain("; ")}, hookCells(o)...)
	}
	h := o.Health
	said, tone := fmt.Sprintf("%d of %d checks ok", h.OK, h.OK+h.Failed+h.Unknown), text.Good
	if h.Failed > 0 {
		said, tone = said+fmt.Sprintf(", %d failing", h.Failed), text.Bad
	}
	cells := append([]text.Cell{{Text: said, Tone: tone}, plain("; ")}, hookCells(o)...)
	return append(cells, controllerCells(o.Controllers)...)
}

// controllerCells count the controllers that are on; where there are none it says
// nothing.
func controllerCells(c joined.Controllers) []text.Cell {
	cell := text.Cell{Text: plural(c.Running, "controller") + " ok", Tone: text.Good}
	switch {
	case len(c.Failing) == 1:
		cell = text.Cell{Text: "1 controller fails", Tone: text.Bad}
	case len(c.Failing) > 1:
		cell = text.Cell{Text: fmt.Sprintf("%d controllers fail", len(c.Failing)), Tone: text.Bad}
	case c.Running == 0 && c.Standby > 0:
		cell = plain(fmt.Sprintf("%d on standby", c.Standby))
	case c.Running == 0:
		return nil
	}
	return []text.Cell{plain("; "), cell}
}

func hookCells(o joined.Overview) []text.Cell {
	if why := joined.Why(o.Missing, "poststarthooks"); why != "" {
		return []text.Cell{notShown("hooks", why)}
	}
	h := o.Hooks
	said, tone := fmt.Sprintf("%d of %d hooks done", h.Done, h.All()), text.Good
	for _, other := range []struct {
		n    int
		word string
		tone text.Tone
	}{{h.Pending, "pending", text.Warning}, {h.Running, "running", text.Warning}, {h.Failed, "failed", text.Bad}} {
		if other.n > 0 {
			said, tone = said+fmt.Sprintf(", %d %s", other.n, other.word), other.tone
		}
	}
	if h.Total.Duration > 0 && h.Done == h.All() {
		said += " in " + kinds.Took(h.Total)
	}
	return []text.Cell{{Text: said, Tone: tone}}
}

func servesCells(o joined.Overview) []text.Cell {
	var cells []text.Cell
	for _, c := range []struct {
		part, noun string
		count      joined.Count
	}{{"customresourcedefinitions", "CRDs", o.Definitions}, {"apiservices", "APIServices", o.APIServices}} {
		if why := joined.Why(o.Missing, c.part); why != "" {
			cells = append(cells, notShown(c.noun, why), plain("; "))
			continue
		}
		tone := text.Good
		if c.count.OK < c.count.Total {
			tone = text.Bad
		}
		cells = append(cells, text.Cell{Text: fmt.Sprintf("%d of %d %s ok", c.count.OK, c.count.Total, c.noun), Tone: tone}, plain("; "))
	}
	if why := joined.Why(o.Missing, "discoverystates"); why != "" {
		return append(cells, notShown("groups", why))
	}
	return append(cells, plain(plural(o.Groups, "group")+", "+plural(o.GroupVersions, "version")))
}

func requestsText(o joined.Overview) string {
	outermost := o.Layers[0]
	said := fmt.Sprintf("%d since the start", outermost.Received)
	if seconds := o.Uptime.Seconds(); seconds >= 1 {
		said += fmt.Sprintf(", %.1f a second on average", float64(outermost.Received)/seconds)
	}
	return said + fmt.Sprintf(", %d in flight", outermost.InFlight)
}

// chainFacts draw the enabled filters in the order in which a request meets them.
func chainFacts(o joined.Overview) []overviewFact {
	if why := joined.Why(o.Missing, "filters"); why != "" {
		return []overviewFact{{"Chain", []text.Cell{notShown("", why)}}}
	}
	names := make([]string, 0, len(o.Filters))
	for _, f := range o.Filters {
		name := f.Name
		if n := f.Ended(); n > 0 {
			name += fmt.Sprintf(" (ended %d)", n)
		}
		names = append(names, name)
	}
	strip := strings.Join(names, " → ")
	if o.Disabled > 0 {
		strip += fmt.Sprintf(" (%d more are off)", o.Disabled)
	}
	return []overviewFact{{"Chain", []text.Cell{plain(strip)}}}
}
