package tui

import (
	"context"
	"slices"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/tui/data"
)

// historic is an application at a page whose hub has a past: the definitions were
// all well, then they were as they are on the troubled server, then one went. What
// the hub makes of time is real, so this takes some seconds.
func historic(t testing.TB, at string, settings ...setting) *rig {
	t.Helper()
	troubled := troubledFrame(t)
	view := troubled.View(data.Definitions)
	well, fewer := view, view
	well.Objects, fewer.Objects = nil, slices.Clone(view.Objects[1:])
	for _, object := range view.Objects {
		definition := object.(*apiextensionsv1.CustomResourceDefinition).DeepCopy()
		definition.ResourceVersion = "1" // another state of it
		for i := range definition.Status.Conditions {
			definition.Status.Conditions[i].Status, definition.Status.Conditions[i].Message = apiextensionsv1.ConditionTrue, ""
		}
		well.Objects = append(well.Objects, definition)
	}
	source := &changing{frames: []data.Frame{troubled.With(well), troubled, troubled.With(fewer)}}
	r := newRig(t, settings...)
	clock := &clock{at: troubled.Now}
	r.now.set(troubled.Now)
	r.app.options.Now, r.app.now = clock.now, clock.now
	r.resize(80, 24)
	s := start(Target{Name: "lab"}, r.client, data.HubOptions{Source: source, Now: clock.now, Interval: time.Millisecond})
	t.Cleanup(s.close)
	r.app.attempt++
	r.send(connectedMsg{attempt: r.app.attempt, session: s, name: "lab"})
	r.goTo(at)

	for i := range source.frames {
		source.set(i, nil)
		s.hub.Refresh()
		for !r.complete(source.frames[i]) {
			r.next()
		}
		// What the hub keeps at the next tick is complete.
		clock.forward(time.Minute)
		for before := len(s.hub.Times()); len(s.hub.Times()) == before; {
			s.hub.Refresh()
			r.next()
		}
	}
	r.next()
	return r
}

// complete tells whether the definitions of a frame have come.
func (r *rig) complete(want data.Frame) bool {
	got, wanted := r.app.frame.View(data.Definitions), want.View(data.Definitions).Objects
	return got.State == data.Live && slices.EqualFunc(got.Objects, wanted, func(a, b kinds.Object) bool {
		return a.GetName() == b.GetName() && a.GetResourceVersion() == b.GetResourceVersion()
	})
}

// next feeds the next frame of the hub.
func (r *rig) next() {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	frame, ok := r.app.session.hub.Next(ctx)
	if !ok {
		r.t.Fatal("no frame within a minute")
	}
	r.frame(frame)
}
