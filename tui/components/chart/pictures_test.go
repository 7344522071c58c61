package chart_test

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kapi-dev/kapi/tui/components/chart"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/theme"
)

var update = flag.Bool("update", false, "write the pictures of this run to testdata")

const ms = time.Millisecond

// picture is a figure with a name.
type picture struct {
	name string
	draw func(paper ink.Paper, width int) []ink.Line
}

func line(f func(paper ink.Paper, width int) ink.Line) func(ink.Paper, int) []ink.Line {
	return func(paper ink.Paper, width int) []ink.Line { return []ink.Line{f(paper, width)} }
}

// pictures are figures of data as it is, and of data that is wrong in every way.
func pictures() []picture {
	rates := []float64{0, 0, 1, 3, 8, 13, 21, 40, 55, math.NaN(), math.NaN(), 34, 21, 8, 5, 100, 60, 0.1, 0}
	return []picture{
		{"spark", line(func(p ink.Paper, w int) ink.Line { return chart.Spark(p, ink.Series1, rates, w, 0) })},
		{"spark of little", line(func(p ink.Paper, w int) ink.Line { return chart.Spark(p, ink.Series1, []float64{1, 2, 3}, w, 10) })},
		{"spark of nonsense", line(func(p ink.Paper, w int) ink.Line {
			return chart.Spark(p, ink.Series1, []float64{-5, math.Inf(1), math.Inf(-1), math.NaN()}, w, math.NaN())
		})},
		{"spark of nothing", line(func(p ink.Paper, w int) ink.Line { return chart.Spark(p, ink.Series1, nil, w, 0) })},
		{"bar", line(func(p ink.Paper, w int) ink.Line { return chart.Bar(p, ink.Series1, 37, 100, w) })},
		{"bar nearly empty", line(func(p ink.Paper, w int) ink.Line { return chart.Bar(p, ink.Series1, 1e-9, 1, w) })},
		{"bar nearly full", line(func(p ink.Paper, w int) ink.Line { return chart.Bar(p, ink.Bad, 0.999999, 1, w) })},
		{"bar too full", line(func(p ink.Paper, w int) ink.Line { return chart.Bar(p, ink.Bad, 12, 10, w) })},
		{"bar of nothing", line(func(p ink.Paper, w int) ink.Line { return chart.Bar(p, ink.Series1, math.NaN(), 0, w) })},
		{"gauge", gauge}, {"gauge of little", gaugeOfLittle}, {"gauge over the quota", gaugeOver},
		{"gauge of nothing", func(p ink.Paper, w int) []ink.Line { return chart.Gauge(p, nil, 0, w) }},
		{"start", start}, {"request", request}, {"timeline of nonsense", nonsense},
		{"timeline of nothing", func(p ink.Paper, w int) []ink.Line { return chart.Timeline(p, nil, 0, w, 0) }},
		{"steps", func(p ink.Paper, w int) []ink.Line { return chart.Steps(p, way(), w) }},
		{"steps of foreign names", func(p ink.Paper, w int) []ink.Line { return chart.Steps(p, foreign(), w) }},
		{"steps of nothing", func(p ink.Paper, w int) []ink.Line { return chart.Steps(p, nil, w) }},
		{"strip", line(func(p ink.Paper, w int) ink.Line { return chart.Strip(p, way(), w) })},
		{"strip of foreign names", line(func(p ink.Paper, w int) ink.Line { return chart.Strip(p, foreign(), w) })},
		{"strip of nothing", line(func(p ink.Paper, w int) ink.Line { return chart.Strip(p, nil, w) })},
	}
}

func gauge(p ink.Paper, w int) []ink.Line {
	return chart.Gauge(p, []chart.Part{
		{Token: ink.Series1, Label: "in use", Value: 1.9, Text: "1.9Gi"},
		{Token: ink.Series2, Label: "free in the file", Value: 3.3, Text: "3.3Gi"},
		{Token: ink.Muted, Label: "quota", Value: 8, Text: "8Gi"},
	}, 8, w)
}

func gaugeOfLittle(p ink.Paper, w int) []ink.Line {
	return chart.Gauge(p, []chart.Part{
		{Token: ink.Series1, Label: "in use", Value: 0.4, Text: "400Ki"},
		{Token: ink.Series2, Label: "free", Value: 0.8, Text: "800Ki"},
		{Token: ink.Series3, Label: "other", Value: 0.1, Text: "100Ki"},
		{Token: ink.Muted, Label: "quota", Value: 8192, Text: "8Gi"},
	}, 8192, w)
}

func gaugeOver(p ink.Paper, w int) []ink.Line {
	return chart.Gauge(p, []chart.Part{
		{Token: ink.Bad, Label: "大きさ\x1b[31m", Value: 9, Text: "9Gi"},
		{Token: ink.Series2, Label: "in use", Value: math.Inf(1), Text: "?"},
		{Token: ink.Series3, Label: "", Value: math.NaN(), Text: ""},
	}, 8, w)
}

func note(s string) ink.Line { return ink.L(ink.Muted, s) }

func start(p ink.Paper, w int) []ink.Line {
	name := func(s string) ink.Line { return ink.L(ink.Text, s) }
	return chart.Timeline(p, []chart.Stretch{
		{Label: name("etcd"), Note: note("212ms"), Token: ink.Series1, Took: 212 * ms},
		{Label: name("apiserver"), Note: note("160ms"), Token: ink.Series1, From: 212 * ms, Took: 160 * ms},
		{Label: name("poststarthook/start-apiextensions-informers"), Note: note("3.1ms"), Token: ink.Good, From: 372 * ms, Took: 3 * ms, Selected: true},
		{Label: name("poststarthook/crd-informer-synced"), Note: note("105ms"), Token: ink.Good, From: 373 * ms, Took: 105 * ms},
		{Label: name("poststarthook/rbac/bootstrap-roles"), Note: note("goes on"), Token: ink.Warning, From: 372 * ms, Took: 300 * ms, Open: true},
		{Label: name("poststarthook/just-begun"), Note: note("goes on"), Token: ink.Warning, From: 672 * ms, Open: true},
		{Label: name("poststarthook/not-begun")},
	}, 672*ms, w, 0)
}

func request(p ink.Paper, w int) []ink.Line {
	stretch := func(depth int, name string, from, took, in, out time.Duration) chart.Stretch {
		return chart.Stretch{
			Label: ink.Line{ink.T(ink.Muted, strings.Repeat(" ", depth)), ink.T(ink.Text, name)},
			Note:  note((in + out).String()), Token: ink.Border, From: from, Took: took,
			Own: []chart.Own{{Token: ink.Series1, From: from, Took: in}, {Token: ink.Series2, From: from + took - out, Took: out}},
		}
	}
	return chart.Timeline(p, []chart.Stretch{
		stretch(0, "panic-recovery", 0, 41*ms, 100*time.Microsecond, 0),
		stretch(0, "authentication", 1*ms, 40*ms, 8*ms, 0),
		stretch(0, "authorization", 9*ms, 31*ms, 6*ms, 1*ms),
		stretch(1, "storage", 15*ms, 24*ms, 14*ms, 10*ms),
	}, 41*ms, w, 0)
}

func nonsense(p ink.Paper, w int) []ink.Line {
	return chart.Timeline(p, []chart.Stretch{
		{},
		{Label: ink.L(ink.Text, "負の時間"), Note: note("مدة"), From: -5 * ms, Took: 8 * ms},
		{Label: ink.L(ink.Text, "e\u0301te\u0301\x1b[2J\n"), Note: note("\t"), From: 90 * ms, Took: math.MaxInt64, Selected: true},
		{Label: ink.L(ink.Text, "ended before"), From: 5 * ms, Took: -3 * ms, Open: true},
		{Label: ink.L(ink.Text, "own outside"), From: 20 * ms, Took: 10 * ms, Own: []chart.Own{{From: -50 * ms, Took: 3 * ms}, {From: 500 * ms, Took: 3 * ms}, {}}},
	}, 100*ms, w, 0)
}

func way() []chart.Step {
	return []chart.Step{
		{State: chart.StepOK, Name: "service", Detail: "kube-system/metrics-server has port 443, which goes to the pods' port https", Took: 0},
		{State: chart.StepOK, Name: "endpoint", Detail: "10.0.3.17:10250", Took: 12 * time.Microsecond},
		{State: chart.StepFailed, Name: "dial", Detail: "10.0.3.17:10250", Took: 1503 * ms,
			Error: "dialing tcp 10.0.3.17:10250: connection refused; nothing listens on this port, or a firewall answers in its place"},
		{State: chart.StepSkipped, Name: "tls"},
		{State: chart.StepUnknown, Name: "status"},
	}
}

func foreign() []chart.Step {
	return []chart.Step{
		{State: chart.StepOK, Name: "サービスの名前はとても長い名前です", Detail: "e\u0301te\u0301"},
		{State: chart.StepFailed, Name: "خدمة", Error: strings.Repeat("長", 60) + "\x1b[31m"},
		{State: 99},
	}
}

// TestPictures draws all figures at three widths with both sets of signs.
func TestPictures(t *testing.T) {
	for _, set := range theme.GlyphNames() {
		var b strings.Builder
		for _, picture := range pictures() {
			for _, width := range []int{24, 60, 100} {
				fmt.Fprintf(&b, "--- %s, %d wide\n", picture.name, width)
				for _, l := range picture.draw(paper(t, set), width) {
					fmt.Fprintf(&b, "%s|\n", l)
				}
			}
		}
		golden(t, set+".txt", b.String())
	}
}

func paper(t *testing.T, set string) ink.Paper {
	t.Helper()
	glyphs, err := theme.Glyphs(set)
	if err != nil {
		t.Fatal(err)
	}
	return ink.Paper{Glyphs: glyphs}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	have, should := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range min(len(have), len(should)) {
		if have[i] != should[i] {
			t.Fatalf("%s differs first in line %d:\n got %s\nwant %s\n(-update writes it anew)", path, i+1, have[i], should[i])
		}
	}
	t.Fatalf("%s has %d lines, want %d", path, len(have), len(should))
}
