package tui

import (
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/page"
)

// online is an application that is connected to a real server; frames come with next.
func online(t testing.TB, settings ...setting) *rig {
	t.Helper()
	r := newRig(t, settings...)
	r.app.now, r.app.options.Now = nowReal, nowReal
	r.checks = false
	r.resize(80, 24)
	r.run(r.app.connect(""), 0)
	if r.app.session == nil {
		t.Fatalf("there is no connection: %v", r.app.connecting.err)
	}
	t.Cleanup(func() { r.app.session.close() })
	r.until("definitions have come", func() bool { return len(r.app.frame.View(data.Definitions).Objects) > 0 })
	return r
}

// until feeds frames of the hub until something holds.
func (r *rig) until(what string, holds func() bool) {
	r.t.Helper()
	for range 1000 {
		if holds() {
			return
		}
		r.next()
	}
	r.t.Fatalf("never: %s\n%s", what, r.text())
}

// Everything that changes the server is refused: by its key, by its command, and
// when it is dispatched by something else.
func TestReadOnlyIsRefused(t *testing.T) {
	t.Parallel()
	server := newAPIServer(t, "lab", troubledFrame(t))
	r := online(t, connects(server))
	r.goTo("crds")
	dangerous := 0
	for i := range r.app.keys.actions {
		act := &r.app.keys.actions[i]
		if !act.danger {
			continue
		}
		dangerous++
		if r.app.offered(act) {
			t.Errorf("%s is offered", act.id)
		}
		for _, key := range act.keys {
			r.app.toasted = toast{}
			r.press(key)
			if !r.app.toasted.bad || !strings.Contains(r.app.toasted.text, "--allow-changes") || r.app.panel != nil {
				t.Errorf("%s (%s) is not refused: %+v", key, act.id, r.app.toasted)
			}
		}
		r.app.toasted = toast{}
		r.run(r.app.dispatch(act), 0)
		if !r.app.toasted.bad || r.app.panel != nil {
			t.Errorf("%s is not refused: %+v", act.id, r.app.toasted)
		}
	}
	for _, c := range commands() {
		if !c.danger {
			continue
		}
		dangerous++
		for _, line := range []string{c.name, c.name + " configmaps web -n default"} {
			if cmd, err := r.app.command(line); err == nil || cmd != nil || !strings.Contains(err.Error(), "--allow-changes") {
				t.Errorf("%q is not refused: %v", line, err)
			}
			r.command(line)
			r.view()
			r.press("esc")
		}
	}
	if dangerous < 2 {
		t.Errorf("only %d things change the server: this test has nothing to look at", dangerous)
	}
	// Whoever came past the dispatcher is refused where it would be done.
	subject := page.Subject{Kind: "ConfigMap", Name: "web", Namespace: "default", Resource: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}}
	r.run(r.app.delete(subject), 0)
	if err := r.app.session.client.Delete(t.Context(), subject.Resource, "default", "web", ""); err == nil {
		t.Error("the client deletes")
	}
	if changes := server.changes(); len(changes) != 0 {
		t.Errorf("the server was changed: %q", changes)
	}
}

// Whatever is pressed, nothing is written.
func TestReadOnlyWhateverIsPressed(t *testing.T) {
	t.Parallel()
	server := newAPIServer(t, "lab", troubledFrame(t))
	m := newMonkey(t, 11)
	m.rig = online(t, connects(server))
	count := 3000 / slowly
	if testing.Short() {
		count = 300
	}
	for range count {
		m.step()
	}
	if changes := server.changes(); len(changes) != 0 {
		t.Errorf("the server was changed: %q", changes)
	}
	if asked := server.requests(); asked < 20 {
		t.Errorf("the server was asked %d times: this is no run against a server", asked)
	}
}

// With --allow-changes a deletion needs the name, and is one request.
func TestDeleteIsConfirmed(t *testing.T) {
	t.Parallel()
	server := newAPIServer(t, "lab", troubledFrame(t))
	r := online(t, connects(server), allowChanges)
	r.wants("changes allowed")
	unchanged := func(after string) {
		t.Helper()
		if changes := server.changes(); len(changes) != 0 {
			t.Fatalf("after %s the server was changed: %q", after, changes)
		}
	}
	r.command("delete configmaps web -n default")
	r.wants("ConfigMap web in namespace default will be deleted", "type web")
	r.press("enter")
	r.wants("that is not web")
	r.say("we")
	r.press("enter")
	unchanged("half of the name")
	r.press("esc")
	r.wants("nothing was changed")
	r.command("delete cm web -n default")
	r.send(pasteMsg("web\n"))
	unchanged("pasting the name")
	r.press("esc")
	r.command("delete configmaps web")
	r.wants("in namespaces")
	r.press("esc")
	r.command("rm configmap web -n default")
	r.say("web")
	r.wants("enter does it")
	unchanged("the name")
	r.press("enter")
	r.wants("ConfigMap web is deleted")
	if changes := server.changes(); !slices.Equal(changes, []string{"DELETE /api/v1/namespaces/default/configmaps/web"}) {
		t.Errorf("the server was changed by %q", changes)
	}
	r.press("enter")
	if changes := server.changes(); len(changes) != 1 {
		t.Errorf("once more: %q", changes)
	}

	// The key does the same to what is selected.
	r.goTo("crds")
	r.press("ctrl+x")
	r.wants("will be deleted")
	subject, _ := r.app.subject()
	r.say(subject.Name)
	r.press("enter")
	if changes := server.changes(); len(changes) != 2 || !strings.HasSuffix(changes[1], "/customresourcedefinitions/"+subject.Name) {
		t.Errorf("the server was changed by %q", changes)
	}
}

// nowReal is the real clock, for what really waits.
func nowReal() time.Time { return time.Now() }
