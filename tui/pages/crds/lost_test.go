package crds

import (
	"errors"
	"strings"
	"testing"

	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/pagestest"
)

// lost is a frame after the server has gone away.
func lost(frame data.Frame, keys ...data.Key) data.Frame {
	for _, key := range keys {
		view := frame.View(key)
		view.State, view.Err, view.At = data.Stale, errors.New("listing: connection refused"), frame.Now
		frame = frame.With(view)
	}
	frame.State, frame.Err = data.Stale, fault.WithHint(errors.New("connection refused"), "is the server running?")
	return frame
}

// Where there was nothing, that is still said when the connection is lost; above it,
// once, why.
func TestLost(t *testing.T) {
	none := lost(pagestest.Objects(pagestest.Frame(t, pagestest.Kapi), data.Definitions), data.Definitions)
	some := lost(pagestest.Frame(t, pagestest.Kapi), data.Definitions)
	for _, size := range [][2]int{{80, 24}, {60, 8}} {
		for _, p := range []page.Page{open(t, "crds"), open(t, "crds/gadgets.lab.example")} {
			for _, frame := range []data.Frame{none, some} {
				got := pagestest.Picture(t, p, frame, size[0], size[1])
				if strings.Count(got, "connection refused") != 1 || !strings.Contains(got, "connection refused; is the server running?") {
					t.Errorf("%s at %v:\n%s", p.Title(), size, got)
				}
			}
		}
		if got := pagestest.Picture(t, open(t, "crds"), none, size[0], size[1]); !strings.Contains(got, "There are no CustomResourceDefinitions.") {
			t.Errorf("nothing is said:\n%s", got)
		}
	}
}

// What is gone since the frame before is counted.
func TestGone(t *testing.T) {
	before := pagestest.Frame(t, pagestest.Kapi)
	now := pagestest.Objects(before, data.Definitions, before.View(data.Definitions).Objects[1:]...)
	now.Against = &before
	p := open(t, "crds")
	p.Update(now)
	if got := p.(interface{ Status() string }).Status(); !strings.HasSuffix(got, ", 1 gone") {
		t.Errorf("it says %q", got)
	}
}

// Only what is served is offered to be asked for.
func TestOffersWhatIsServed(t *testing.T) {
	for served, want := range map[bool]bool{true: true, false: false} {
		commands := strings.Join(subject(page.Env{}, "a.example.com", nil, served).Commands, "\n")
		if strings.Contains(commands, "kubectl get a.example.com -A") != want {
			t.Errorf("established %v: %s", served, commands)
		}
	}
}
