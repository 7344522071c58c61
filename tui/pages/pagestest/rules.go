package pagestest

import (
	"strings"
	"testing"

	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/page"
)

// Strange are names that break screens which trust them: wide, combining,
// right-to-left, steering the terminal, long, empty.
var Strange = []string{
	"界界界界界界界界界界界界界界界.例え.jp", "e\u0301\u0301\u0301a\u0308.combining", "שלום.עולם", "مرحبا\u202eevil\u2066.org",
	"\x1b[31mred\x1b]0;title\x07", "tab\tnew\nline\r\x00", strings.Repeat("long.", 60), "", "\xff\xfe",
}

// Reasons draws a page in every state that its feeds may be in without objects, at all
// sizes, and fails where it does not say which it is. It ends with the empty frame.
func Reasons(t testing.TB, p page.Page, frame data.Frame) {
	t.Helper()
	for state, want := range map[data.State]string{
		data.Loading: "loading", data.Forbidden: "kapi:inspect", data.Failed: "has not answered", data.Absent: "this server does not say it",
		data.Stale: "stale", data.Live: "",
	} {
		without := In(frame, state, p.Needs()...)
		Fits(t, p, without)
		if got := Picture(t, p, without, 80, 24); !strings.Contains(got, want) {
			t.Errorf("%s: nothing says %q; got\n%s", p.Title(), want, got)
		}
	}
	Fits(t, p, data.Frame{})
}

// Leads checks where an action on a page leads.
func Leads(t testing.TB, p page.Page, id page.ActionID, want string) {
	t.Helper()
	if !p.Offers(id) {
		t.Errorf("%s does not offer %s", p.Title(), id)
	}
	if got := p.Act(page.Action{ID: id, Count: 1}).Open.String(); got != want {
		t.Errorf("%s: %s leads to %q, want %q", p.Title(), id, got, want)
	}
}

// Links are the places that enter leads to from the lines of a document, each once,
// in order.
func Links(t testing.TB, p page.Page, frame data.Frame) []string {
	t.Helper()
	p.Update(frame)
	paper := Paper(t, 120, 200, frame.Now)
	p.View(paper)
	p.Act(page.Action{ID: page.Top, Count: 1})
	var links []string
	for range 400 {
		if p.Offers(page.Enter) {
			if open := p.Act(page.Action{ID: page.Enter, Count: 1}).Open; !open.Zero() {
				if at := open.String(); len(links) == 0 || links[len(links)-1] != at {
					links = append(links, at)
				}
			} else {
				p.Act(page.Action{ID: page.Enter, Count: 1}) // it has folded
			}
		}
		p.Act(page.Action{ID: page.Down, Count: 1})
	}
	return links
}
