// Package trace says in words what a request's trace holds: how it ended and why,
// what to look at next, how it is called on one line. It is facts only: it draws
// no page. It may import the API types, the contract and kit.
package trace

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/kit"
)

// Feed is the feed of traces.
var Feed = data.Of("requesttraces")

// Troubled tells whether somebody may want to know of it: it has failed, was slow,
// or was refused.
func Troubled(t *v1alpha1.RequestTrace) bool {
	return Refused(t) || t.Status.Slow
}

// Refused tells whether it has failed, or was answered with 400 or more.
func Refused(t *v1alpha1.RequestTrace) bool { return t.Status.Failed || t.Status.Code >= 400 }

// Token is how bad an answer is. No answer is the worst, unless nobody waits for one.
func Token(t *v1alpha1.RequestTrace) ink.Token {
	switch code := t.Status.Code; {
	case t.Status.Failed || code >= 500:
		return ink.Bad
	case code >= 400 || t.Status.Slow:
		return ink.Warning
	}
	return ink.Good
}

// Glyph is the sign that goes with Token.
func Glyph(glyphs *ink.Glyphs, t *v1alpha1.RequestTrace) string {
	switch Token(t) {
	case ink.Bad:
		return glyphs.Bad
	case ink.Warning:
		return glyphs.Warning
	default:
		return glyphs.Good
	}
}

// Code writes a status code with its name ("403 Forbidden"); 0 is no answer.
func Code(code int32) string {
	if code == 0 {
		return "no answer"
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", code, http.StatusText(int(code))))
}

// ShortCode writes a status code; "none" where nothing was answered.
func ShortCode(code int32) string {
	if code == 0 {
		return "none"
	}
	return fmt.Sprint(code)
}

// ID is what a request is known by: its audit ID, or the trace's name where it has none.
func ID(t *v1alpha1.RequestTrace) string {
	if t.Spec.AuditID != "" {
		return t.Spec.AuditID
	}
	return t.Name
}

// At is the page of a request.
func At(t *v1alpha1.RequestTrace) page.Location { return page.At("requests", ID(t)) }

// Path is path and query.
func Path(t *v1alpha1.RequestTrace) string {
	if t.Spec.Query == "" {
		return t.Spec.Path
	}
	return t.Spec.Path + "?" + t.Spec.Query
}

// UserName is who asked; empty if that is not known.
func UserName(t *v1alpha1.RequestTrace) string {
	if t.Spec.User == nil {
		return ""
	}
	return t.Spec.User.Name
}

// User is who asked, in words.
func User(t *v1alpha1.RequestTrace) string {
	switch user := t.Spec.User; {
	case user == nil || user.Name == "":
		return "unknown"
	case user.ImpersonatedBy != "":
		return user.Name + ", impersonated by " + user.ImpersonatedBy
	default:
		return user.Name
	}
}

// Line is a request on one line: how long ago, the code, what was asked, what has
// ended it, and on a wide paper by whom.
func Line(paper ink.Paper, t *v1alpha1.RequestTrace) ink.Line {
	by := slowOr(t, EndedShort(t.Status.TerminatedBy))
	if paper.Width < 96 {
		return line(paper, t, column{by, 15})
	}
	return line(paper, t, column{by, 22}, column{UserName(t), 18})
}

// LineOf is a request on one line below what has ended it: by whom in its place.
func LineOf(paper ink.Paper, t *v1alpha1.RequestTrace) ink.Line {
	return line(paper, t, column{slowOr(t, UserName(t)), max(15, paper.Width/5)})
}

// slowOr says that a request was slow where nothing worse is to be said of it.
func slowOr(t *v1alpha1.RequestTrace, other string) string {
	if t.Status.Slow && !Refused(t) {
		return "slow, " + kit.Took(t.Status.Duration.Duration)
	}
	return other
}

// column is a text at the end of a line, and its width.
type column struct {
	text  string
	width int
}

func line(paper ink.Paper, t *v1alpha1.RequestTrace, columns ...column) ink.Line {
	ago := kit.Ago(t.Status.ReceivedAt.Time, paper.Now)
	line := ink.Line{
		ink.T(ink.Muted, ink.PadLeft(ago, 5)+" "),
		ink.T(Token(t), Glyph(paper.Glyphs, t)+" "+ShortCode(t.Status.Code)),
		ink.T(ink.Text, ink.PadLeft("", 5-len(ShortCode(t.Status.Code)))),
	}
	verb := ink.T(ink.Muted, ink.Pad(paper.Clean(strings.ToUpper(t.Spec.Verb)), 6)+" ")
	line = append(line, verb)
	if paper.Width < 56 {
		columns = nil
	}
	room := paper.Width - line.Width()
	for _, c := range columns {
		room -= c.width + 2
	}
	shorten := func(s string, width int) string { return ink.Pad(paper.Glyphs.Shorten(paper.Clean(s), width), width) }
	line = append(line, ink.T(ink.Text, shorten(t.Spec.Path, max(8, room))))
	for _, c := range columns {
		line = append(line, ink.T(ink.Muted, "  "+shorten(c.text, c.width)))
	}
	return line
}

// Newest returns the newest of the traces that pass, newest first, at most n.
func Newest(frame data.Frame, n int, pass func(*v1alpha1.RequestTrace) bool) []*v1alpha1.RequestTrace {
	objects := frame.View(Feed).Objects
	var found []*v1alpha1.RequestTrace
	for i := len(objects) - 1; i >= 0 && len(found) < n; i-- {
		if t, ok := objects[i].(*v1alpha1.RequestTrace); ok && t != nil && pass(t) {
			found = append(found, t)
		}
	}
	return found
}

// Find returns the trace of an ID or a name; "last" is the newest.
func Find(frame data.Frame, id string) (*v1alpha1.RequestTrace, bool) {
	found := Newest(frame, 1, func(t *v1alpha1.RequestTrace) bool {
		return id == "last" || t.Spec.AuditID == id || t.Name == id
	})
	if len(found) == 0 {
		return nil, false
	}
	return found[0], true
}

// Recent tells whether a request was received within the last while before now.
func Recent(t *v1alpha1.RequestTrace, now time.Time, while time.Duration) bool {
	return now.Sub(t.Status.ReceivedAt.Time) <= while
}
