package logs

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/pagestest"
)

var now = time.Date(2026, 11, 30, 6, 54, 54, 0, time.UTC)

// framed is a frame with lines of the log.
func framed(lines ...*data.LogLine) data.Frame {
	view := data.View{Key: data.Logs, State: data.Live, Revision: 1}
	for i, line := range lines {
		line.Name = fmt.Sprintf("line-%d", i)
		line.At = now.Add(time.Duration(i) * 137 * time.Millisecond)
		view.Objects = append(view.Objects, kinds.Object(line))
	}
	return data.Frame{Revision: 1, Now: now.Add(time.Minute), State: data.Live}.With(view)
}

func some() []*data.LogLine {
	return []*data.LogLine{
		{Level: "info", Text: "the server answers on https://127.0.0.1:6443"},
		{Level: "debug", Text: "watch of pods began"},
		{Level: "warning", Text: "request POST /apis/apps/v1/deployments took 3.2s"},
		{Level: "error", Text: "loading OpenAPI of v1beta1.broken.example.com failed: dial tcp: lookup gone.observatory.svc: no such host; it is tried again in a minute"},
		{Level: "error", Text: "panic: runtime error\ngoroutine 1 [running]:\n\tmain.main()\n"},
		{Text: "no level at all \x1b[2J and 例えば wide, e\u0301, \u202eturned"},
	}
}

func open(t *testing.T, at page.Location) page.Page {
	t.Helper()
	p, err := New(page.Env{}, at)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPictures(t *testing.T) {
	t.Parallel()
	pagestest.Golden(t, "logs", open(t, page.At("logs", "")), framed(some()...))
	pagestest.Golden(t, "line", open(t, page.At("logs", "line-4")), framed(some()...))
	pagestest.Fits(t, open(t, page.At("logs", "")), framed(some()...))
	pagestest.Fits(t, open(t, page.At("logs", "line-3")), framed(some()...))
}

// The newest line is on the screen until the cursor leaves it.
func TestFollows(t *testing.T) {
	t.Parallel()
	p := open(t, page.At("logs", ""))
	var lines []*data.LogLine
	for i := range 200 {
		lines = append(lines, &data.LogLine{Level: "info", Text: fmt.Sprintf("number %d.", i)})
	}
	if picture := pagestest.Picture(t, p, framed(lines...), 80, 24); !strings.Contains(picture, "number 199.") {
		t.Errorf("the newest is not there\n%s", picture)
	}
	lines = append(lines, &data.LogLine{Level: "info", Text: "number 200."})
	if picture := pagestest.Picture(t, p, framed(lines...), 80, 24); !strings.Contains(picture, "number 200.") {
		t.Errorf("it does not follow\n%s", picture)
	}
	p.Act(page.Action{ID: page.Top, Count: 1})
	lines = append(lines, &data.LogLine{Level: "info", Text: "number 201."})
	if picture := pagestest.Picture(t, p, framed(lines...), 80, 24); strings.Contains(picture, "number 201.") {
		t.Errorf("it follows although one reads elsewhere\n%s", picture)
	}
}

func TestFilters(t *testing.T) {
	t.Parallel()
	p := open(t, page.At("logs", "", "filter", "level:error"))
	picture := pagestest.Picture(t, p, framed(some()...), 80, 24)
	if !strings.Contains(picture, "panic") || strings.Contains(picture, "3.2s") || !strings.Contains(picture, "2 errors") {
		t.Errorf("filtered by level\n%s", picture)
	}
	p = open(t, page.At("logs", ""))
	p.Update(framed(some()...))
	p.Act(page.Action{ID: page.Unhealthy, Count: 1})
	picture = pagestest.Picture(t, p, framed(some()...), 80, 24)
	if !strings.Contains(picture, "3.2s") || strings.Contains(picture, "answers on") {
		t.Errorf("only what is not well\n%s", picture)
	}
	if to := p.Act(page.Action{ID: page.Enter, Count: 1}).Open; to.Page != "logs" || to.Name == "" {
		t.Errorf("enter leads to %q", to)
	}
}

func TestElsewhere(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		about inspection.About
		want  string
	}{
		"kapi":      {inspection.About{Type: inspection.Kapi}, "on the terminal of kapi serve"},
		"foreign":   {inspection.About{Type: inspection.Foreign}, "kubectl logs"},
		"recording": {inspection.About{Type: inspection.Kapi, RecordedFrom: "x.json"}, "A recording has no log"},
	} {
		frame := pagestest.In(data.Frame{Now: now, About: test.about}, data.Absent, data.Logs)
		p := open(t, page.At("logs", ""))
		picture := pagestest.Picture(t, p, frame, 80, 24)
		if !strings.Contains(strings.Join(strings.Fields(picture), " "), test.want) || name != "recording" && !strings.Contains(picture, "kapi serve --tui") {
			t.Errorf("%s\n%s", name, picture)
		}
		pagestest.Fits(t, p, frame)
	}
	for state, want := range map[data.State]string{data.Loading: "loading", data.Failed: "error", data.Live: "nothing was logged"} {
		frame := pagestest.In(data.Frame{Now: now}, state, data.Logs)
		if picture := pagestest.Picture(t, open(t, page.At("logs", "")), frame, 80, 24); !strings.Contains(picture, want) {
			t.Errorf("state %d\n%s", state, picture)
		}
	}
	if picture := pagestest.Picture(t, open(t, page.At("logs", "gone")), framed(some()...), 80, 24); !strings.Contains(picture, "no longer kept") {
		t.Errorf("a line that is gone\n%s", picture)
	}
}

func BenchmarkUpdate(b *testing.B) {
	lines := make([]*data.LogLine, 10000)
	for i := range lines {
		lines[i] = &data.LogLine{Level: "info", Text: "a line of the log that is of some length"}
	}
	frame := framed(lines...)
	p, err := New(page.Env{}, page.At("logs", ""))
	if err != nil {
		b.Fatal(err)
	}
	paper := pagestest.Paper(b, 120, 40, now)
	for b.Loop() {
		p.Update(frame)
		p.View(paper)
	}
}
