package dashboard

import (
	"fmt"
	"strings"

	"github.com/kapi-dev/kapi/internal/client/inspection/joined"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/kit"
)

// listed are the pages that the commands of problems stand for, and whether an object
// of the kind has a page of its own.
var listed = map[string]struct {
	page  string
	named bool
}{
	"apiservices": {"apiservices", true},
	"crds":        {"crds", true},
	"hooks":       {"hooks", true},
	"health":      {"health", true},
	"filters":     {"chain", true},
	"flow":        {"flow", true},
	"discovery":   {"discovery", true},
	"etcd":        {"etcd", false},
	"controllers": {"controllers", true},
}

// pageOf is the page that explains a problem: what its command would print.
func pageOf(look string) page.Location {
	words := strings.Fields(look)
	if len(words) < 3 {
		return page.Location{}
	}
	if words[1] == "kubectl" {
		return objectOf(words[2:])
	}
	if words[2] == "requests" {
		filter := "code:>=400"
		switch {
		case strings.Contains(look, "--slower-than"):
			filter = "took:>" + words[len(words)-1]
		case strings.Contains(look, "--status"):
			filter = "code:" + strings.Trim(words[len(words)-1], "'")
		}
		return page.At("requests", "", "filter", filter)
	}
	to, ok := listed[words[2]]
	if !ok {
		return page.Location{}
	}
	if to.named && len(words) > 3 {
		return page.At(to.page, words[3])
	}
	return page.At(to.page, "")
}

// objectOf is the page of what a command of kubectl would show: "get a,b -n x" or
// "describe namespace x". Of several resources it is the first.
func objectOf(words []string) page.Location {
	switch {
	case len(words) == 3 && words[0] == "describe":
		return page.At("object", words[1]+"s/"+words[2], "version", "v1", "view", "describe")
	case len(words) == 4 && words[0] == "get" && words[2] == "-n":
		first, _, _ := strings.Cut(words[1], ",")
		return page.At("object", first, "namespace", words[3])
	case len(words) > 1 && words[0] == "get":
		return page.At("object", words[1])
	}
	return page.Location{}
}

// few is how many problems always stay on the screen.
const few = 3

// problems are a line each, the worst first.
func (f *facts) problems(paper ink.Paper, expanded bool) block {
	b := block{least: few, rank: 1, apart: 4, rest: func(hidden int) item {
		return item{
			key: "more problems", more: true,
			line: ink.L(ink.Muted, fmt.Sprintf("%s %d more: enter lists them", paper.Glyphs.Ellipsis, hidden)),
		}
	}}
	seen := map[string]int{}
	for _, p := range f.overview.Problems {
		line := ink.Line{kit.Mark(paper.Glyphs, p.Severity, p.What)}
		if p.Why != "" {
			line = append(line, ink.T(ink.Muted, ": "+p.Why))
		}
		key := fmt.Sprint("problem ", p.Look, seen[p.Look])
		seen[p.Look]++
		b.items = append(b.items, item{key: key, line: line, open: pageOf(p.Look), command: p.Look})
	}
	if expanded && len(b.items) > few {
		b.items = append(b.items, item{key: "more problems", more: true, line: ink.L(ink.Muted, "enter lists the worst only")})
		b.least = len(b.items)
	}
	return b
}

// verdict counts the problems. Where nothing was seen it does not say that nothing is
// there.
func (f *facts) verdict(paper ink.Paper) ink.Span {
	glyphs := paper.Glyphs
	var bad, warnings int
	for _, p := range f.overview.Problems {
		if p.Severity == joined.Bad {
			bad++
		} else {
			warnings++
		}
	}
	var parts []string
	if bad > 0 {
		parts = append(parts, fmt.Sprintf("%d bad", bad))
	}
	if warnings > 0 {
		parts = append(parts, plural(warnings, "warning"))
	}
	if lost(f.frame.State) {
		was := strings.Join(parts, ", ")
		if was == "" {
			was = "nothing was wrong"
		}
		return ink.T(ink.Warning, fmt.Sprintf("%s unknown; %s ago: %s", glyphs.Unknown, kit.Ago(heard(f.frame), paper.Now), was))
	}
	switch reason := joined.Why(f.overview.Missing, partHealth); {
	case len(parts) > 0:
		return kit.Mark(glyphs, f.overview.Severity(), strings.Join(parts, ", "))
	case reason == loading:
		return ink.T(ink.Muted, glyphs.Running+" looking")
	case f.overview.Blind():
		return ink.T(ink.Warning, glyphs.Unknown+" nothing is known to be wrong")
	}
	return ink.T(ink.Good, glyphs.Good+" nothing is wrong")
}

func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
