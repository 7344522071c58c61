package sheet

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/pages/pagestest"
)

var now = time.Date(2026, 11, 30, 6, 0, 0, 0, time.UTC)

func change(ago time.Duration, from, to string) v1alpha1.ConditionTransitionSpec {
	return v1alpha1.ConditionTransitionSpec{Type: "Available", From: from, To: to, At: metav1.NewMicroTime(now.Add(-ago))}
}

// A failure of a second in an hour is seen in a bar of an hour.
func TestBarsShowShortFailures(t *testing.T) {
	paper := pagestest.Paper(t, 80, 24, now)
	lines := Bars(paper, []v1alpha1.ConditionTransitionSpec{
		change(time.Hour, "", "True"), change(30*time.Minute, "True", "False"), change(30*time.Minute-time.Second, "False", "True"),
	}, now)
	if len(lines) == 0 {
		t.Fatal("there is no bar")
	}
	bar := lines[0].String()
	if got := strings.Count(bar, paper.Glyphs.Empty); got != 1 {
		t.Errorf("%d cells are bad, want 1: %s", got, bar)
	}
	if !strings.HasSuffix(bar, paper.Glyphs.Full) {
		t.Errorf("now is not good: %s", bar)
	}
	if lines := Bars(paper, []v1alpha1.ConditionTransitionSpec{change(time.Hour, "", "True")}, now); lines != nil {
		t.Error("there is a bar of one change")
	}
}

// Columns with one reason are noted together.
func TestNotesJoinReasons(t *testing.T) {
	paper := pagestest.Paper(t, 80, 24, now)
	notes := Notes([]inspection.Gap{{Column: "A", Reason: "why"}, {Column: "B", Reason: "other"}, {Column: "C", Reason: "why"}, {Reason: "all"}}, paper)
	var got []string
	for _, note := range notes {
		got = append(got, note.String())
	}
	if want := []string{"A, C: why", "B: other", "all"}; !slices.Equal(got, want) {
		t.Errorf("notes are %q, want %q", got, want)
	}
}

func TestMemo(t *testing.T) {
	var memo Memo[int]
	made, key := 0, data.Of("filters")
	of := func(frame data.Frame) int {
		return memo.Of(frame, func(data.Frame) int { made++; return made }, key)
	}
	one := data.Frame{Now: now}.With(data.View{Key: key, State: data.Live, Revision: 1})
	two := data.Frame{Now: now}.With(data.View{Key: key, State: data.Live, Revision: 2})
	later := one
	later.Now = now.Add(time.Minute)
	for i, step := range []struct {
		frame data.Frame
		want  int
	}{{one, 1}, {one, 1}, {two, 2}, {one, 1}, {two, 2}, {later, 3}} {
		if got := of(step.frame); got != step.want {
			t.Errorf("step %d: %d, want %d", i, got, step.want)
		}
	}
}

func TestGrid(t *testing.T) {
	paper := pagestest.Paper(t, 80, 24, now)
	lines := Grid(paper, [][]ink.Span{{ink.T(ink.Text, "界"), ink.T(ink.Text, "b")}, {ink.T(ink.Text, "abc"), ink.T(ink.Text, "d")}})
	if got, want := lines[0].String()+"|"+lines[1].String(), "界   b|abc  d"; got != want {
		t.Errorf("the grid is %q, want %q", got, want)
	}
}
