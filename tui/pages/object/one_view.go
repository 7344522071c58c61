package object

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/pages/kit"
)

// View implements page.Page.
func (o *one) View(paper ink.Paper) []ink.Line {
	if o.object == nil {
		return o.nothing(paper)
	}
	lines := o.head(paper)
	if len(lines) > paper.Height/2 {
		lines = lines[:paper.Height/2]
	}
	body := paper.Sized(paper.Width, paper.Height-len(lines))
	return ink.Fill(append(lines, o.body(body)...), paper.Height)
}

// nothing is said where no object was ever seen.
func (o *one) nothing(paper ink.Paper) []ink.Line {
	view := o.frame.View(o.key)
	if lines, blocked := kit.Blocked(view, paper); blocked && view.State != data.Absent {
		return lines
	}
	where := ""
	if o.namespace != "" {
		where = " in namespace " + o.namespace
	}
	said := fmt.Sprintf("there is no %s %q%s", o.resource.GroupResource(), o.name, where)
	lines := []ink.Line{nil}
	for _, line := range paper.Wrap(ink.Muted, paper.Glyphs.Off+" "+said, min(100, paper.Width-4)) {
		lines = append(lines, append(ink.Line{ink.T(ink.Text, "  ")}, line...))
	}
	return ink.Fill(lines, paper.Height)
}

func (o *one) body(paper ink.Paper) []ink.Line {
	switch o.view {
	case describeView:
		if _, ok := o.described.Value(); !ok {
			if lines, blocked := kit.Blocked(o.described.View(), paper); blocked {
				return lines
			}
		}
		return o.describe.View(paper)
	case etcdView:
		return o.etcd(paper)
	default:
		return o.yaml.View(paper)
	}
}

// etcd is the object as it is in the store, or why it is not there.
func (o *one) etcd(paper ink.Paper) []ink.Line {
	if o.panel.Key() != "" {
		return o.panel.View(paper)
	}
	why := o.notStored
	if why == "" {
		if lines, blocked := kit.Blocked(o.frame.View(registrations), paper); blocked {
			return lines
		}
		why = "The server does not say where it keeps the resource."
	}
	lines := []ink.Line{nil, {ink.T(ink.Text, "  "), ink.T(ink.Muted, paper.Glyphs.Off+" not in the store of this server")}}
	for _, line := range paper.Wrap(ink.Text, why, min(100, paper.Width-4)) {
		lines = append(lines, append(ink.Line{ink.T(ink.Text, "  ")}, line...))
	}
	return ink.Fill(lines, paper.Height)
}

// head is the views, and what one must know of the object before one reads it.
func (o *one) head(paper ink.Paper) []ink.Line {
	line := append(tabs(o.view), ink.T(ink.Text, "   "), ink.T(ink.Muted, o.summary(paper)))
	lines := []ink.Line{line}
	warn := func(token ink.Token, glyph, text string) {
		lines = append(lines, ink.Line{ink.T(token, glyph+" "+text)})
	}
	switch {
	case !o.gone.IsZero():
		warn(ink.Bad, paper.Glyphs.Bad, "deleted "+kit.Ago(o.gone, paper.Now)+" ago; this is what it was last")
	case o.object.GetDeletionTimestamp() != nil:
		warn(ink.Warning, paper.Glyphs.Warning, deleting(o.object, paper.Now))
	case o.before != "":
		warn(ink.Warning, paper.Glyphs.Warning, "another object of this name: the one before was deleted")
	}
	lines = append(lines, kit.Above(o.frame, o.frame.View(o.key), paper)...)
	if o.view == describeView {
		if err := o.described.Err(); err != nil {
			if _, ok := o.described.Value(); ok {
				warn(ink.Warning, paper.Glyphs.Warning, "this is an earlier description; now: "+err.Error())
			}
		}
	}
	return append(lines, nil)
}

// deleting says what a deletion waits for.
func deleting(object *unstructured.Unstructured, now time.Time) string {
	said := "is being deleted since " + kit.Ago(object.GetDeletionTimestamp().Time, now)
	if finalizers := object.GetFinalizers(); len(finalizers) > 0 {
		said += fmt.Sprintf(", waits for finalizers %v", finalizers)
	}
	return said
}

// summary is what the object is, in few words.
func (o *one) summary(paper ink.Paper) string {
	said := o.kind()
	if o.namespace != "" {
		said += " in " + o.namespace
	}
	if created := o.object.GetCreationTimestamp(); !created.IsZero() {
		said += " " + paper.Glyphs.Dot + " age " + kit.Ago(created.Time, paper.Now)
	}
	if version := o.object.GetResourceVersion(); version != "" {
		said += " " + paper.Glyphs.Dot + " version " + version
	}
	return said
}
