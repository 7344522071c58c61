package query_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/tui/components/query"
	"github.com/kapi-dev/kapi/tui/ink"
)

var titles = []string{"name", "took", "size", "code", "last error"}

func row(cells map[string]string, labels map[string]string) query.Row {
	var all []string
	for _, title := range titles {
		all = append(all, strings.ToLower(cells[title]))
	}
	return query.Row{
		Cell:   func(title string) (string, bool) { text, ok := cells[title]; return text, ok },
		Text:   func() string { return strings.Join(all, "\n") },
		Labels: labels,
	}
}

func TestMatch(t *testing.T) {
	r := row(map[string]string{
		"name": "Widgets.example.com", "took": "1.24s", "size": "1.4Mi", "code": "409", "last error": "dial tcp: refused",
	}, map[string]string{"app": "web", "tier": "front"})
	for filter, want := range map[string]bool{
		"":                            true,
		"   ":                         true,
		"widgets":                     true,
		"WIDGETS example":             true,
		"widgets gadgets":             false,
		"!gadgets":                    true,
		"!widgets":                    false,
		"!":                           true,
		`"dial tcp"`:                  true,
		`"tcp dial"`:                  false,
		`"tcp: ref"`:                  true,
		`!"dial tcp"`:                 false,
		"com\n":                       true,
		"name:wid":                    true,
		"NAME:WID":                    true,
		"name:409":                    false,
		"!name:wid":                   false,
		"!name:gad":                   true,
		"name:":                       true,
		"last-error:refused":          true,
		`last-error:"tcp: ref"`:       true,
		`name:">3"`:                   false,
		"took:>1s":                    true,
		"took:>1":                     true,
		"took:>=1240ms":               true,
		"took:<1.24s":                 false,
		"took:<=1.24s":                true,
		"took:>740µs":                 true,
		"took:>740us":                 true,
		"took:<3d4h":                  true,
		"took:<2m30s":                 true,
		"!took:>1s":                   false,
		"size:>1Mi":                   true,
		"size:>1400k":                 true,
		"size:<1.5Mi":                 true,
		"size:>1Gi":                   false,
		"code:=409":                   true,
		"code:=409.0":                 true,
		"code:!=409":                  false,
		"code:>=400 code:<500":        true,
		"name:=widgets.Example.com":   true,
		"name:=widgets":               false,
		"name:>3":                     false,
		"name:<3":                     false,
		"name:!=3":                    true,
		"-l app=web":                  true,
		"-l app=db":                   false,
		`-l "app in (web, db)"`:       true,
		"-l app,!batch":               true,
		"widgets -l app=web took:>1s": true,
		"widgets -l app=web took:>2s": false,
	} {
		q, err := query.Parse(filter, titles)
		if err != nil {
			t.Errorf("%q: %v", filter, err)
			continue
		}
		if got := q.Match(r); got != want {
			t.Errorf("%q matches: %t, want %t", filter, got, want)
		}
	}
}

func TestErrors(t *testing.T) {
	for filter, want := range map[string]string{
		`"dial tcp`:      `"dial tcp" is not closed`,
		"system:masters": "there is no column system; columns are name, took, size, code, last-error",
		"-l":             "-l has no labels",
		"widgets -l":     "-l has no labels",
		"-l a=b=c":       "no label selector",
		"took:>":         "nothing to compare with",
		"took:>slow":     "slow is no number",
		"took:<=1x":      "1x is no number",
	} {
		_, err := query.Parse(filter, titles)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q in it", filter, err, want)
			continue
		}
		if fault.Code(err) != fault.CodeUsage || fault.Hint(err) == "" {
			t.Errorf("%q: code %d, hint %q", filter, fault.Code(err), fault.Hint(err))
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: error of several lines %q", filter, err)
		}
	}
	if _, err := query.Parse("a:b", nil); err == nil || errors.Unwrap(err) == nil {
		t.Errorf("without columns: %v", err)
	}
	if q, err := query.Parse(`"system:masters"`, titles); err != nil || q.Words()[0] != "system:masters" {
		t.Errorf("quoted: %v, %v", q.Words(), err)
	}
}

func TestZero(t *testing.T) {
	for filter, want := range map[string]bool{"": true, " ": true, "!": true, `""`: true, "a": false, "name:": false} {
		q, err := query.Parse(filter, titles)
		if err != nil || q.Zero() != want {
			t.Errorf("%q is zero: %t, want %t (%v)", filter, q.Zero(), want, err)
		}
	}
	if !(query.Query{}).Match(query.Row{}) {
		t.Error("the zero query stops a row")
	}
}

func TestRowOfNothing(t *testing.T) {
	for _, filter := range []string{"a", "name:a", "took:>3", "-l a=b"} {
		q, err := query.Parse(filter, titles)
		if err != nil {
			t.Fatal(err)
		}
		if q.Match(query.Row{}) {
			t.Errorf("%q matches nothing", filter)
		}
	}
}

func TestNumber(t *testing.T) {
	for cell, want := range map[string]float64{
		"12": 12, " 12 ": 12, "34%": 34, "<1%": 1, "-3": -3, "1.5": 1.5, "12Ki": 12288, "5k": 5000, "1.5M": 1.5e6,
		"0": 0, "<1µs": 1e-6, "740µs": 740e-6, "12.3ms": 0.0123, "1.24s": 1.24, "3m20s": 200, "3d4h": 273600,
		"2y": 2 * 365 * 86400, "1w": 604800, "-5m": -300, "5 (2 failed)": 5, "1h0m0s": 3600,
	} {
		got, ok := query.Number(cell)
		if diff := got - want; !ok || diff > 1e-9 || diff < -1e-9 {
			t.Errorf("Number(%q) = %v, %t, want %v", cell, got, ok, want)
		}
	}
	for _, cell := range []string{"", "?", "-", "abc", "v1", "409:12", "1.2.3", "inf", "NaN", "0x10", "1m2", "3q", "1..2s", "…"} {
		if got, ok := query.Number(cell); ok {
			t.Errorf("Number(%q) = %v", cell, got)
		}
	}
}

func TestMark(t *testing.T) {
	for _, test := range []struct {
		text  string
		words []string
		want  string
	}{
		{"widgets.example.com", nil, "widgets.example.com"},
		{"widgets.example.com", []string{"ex"}, "widgets.«ex»ample.com"},
		{"Widgets.EXAMPLE.com", []string{"ex", "wid", "example"}, "«Wid»gets.«EXAMPLE».com"},
		{"aaa", []string{"a"}, "«a»«a»«a»"},
		{"日本語", []string{"本"}, "日«本»語"},
		{"ete\u0301", []string{"e"}, "«e»t«e\u0301»"},
		{"İstanbul", []string{"istanbul"}, "«İstanbul»"},
		{"👩‍👩‍👧 family", []string{"👩"}, "👩‍👩‍👧 family"},
		{"", []string{"a"}, ""},
	} {
		line := query.Mark(nil, ink.T(ink.Value, test.text), test.words)
		if got := show(line); got != test.want {
			t.Errorf("%q with %q marked is %q, want %q", test.text, test.words, got, test.want)
		}
		if line.String() != test.text {
			t.Errorf("%q became %q", test.text, line.String())
		}
	}
}

func TestMarkLine(t *testing.T) {
	line := ink.Line{ink.T(ink.Name, "name"), ink.T(ink.Punct, ": "), {Token: ink.Value, Text: "example", Selected: true}}
	marked := query.MarkLine(line, []string{"me: ex"})
	if got := show(marked); got != "na«me»«: »«ex»ample" {
		t.Errorf("across texts: %q", got)
	}
	if last := marked[len(marked)-1]; !last.Selected || last.Token != ink.Value {
		t.Errorf("the rest is %+v", last)
	}
}

func show(line ink.Line) string {
	var b strings.Builder
	for _, span := range line {
		if span.Token == ink.Match {
			span.Text = "«" + span.Text + "»"
		}
		b.WriteString(span.Text)
	}
	return b.String()
}
