package inspect

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/internal/text"
)

// until is a writer that calls a function when something has been written.
type until struct {
	mu   sync.Mutex
	b    strings.Builder
	word string
	done func()
}

func (u *until) Write(p []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.b.Write(p)
	if strings.Contains(u.b.String(), u.word) {
		u.done()
	}
	return len(p), nil
}

func (u *until) String() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.b.String()
}

// watched runs a command until it has printed a word, and interrupts it then.
func watched(t *testing.T, word string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // if the word never comes
	defer cancel()
	out := &until{word: word, done: cancel}
	var stderr strings.Builder
	root := newRoot()
	root.SetArgs(append([]string{"inspect"}, args...))
	root.SetOut(out)
	root.SetErr(&stderr)
	err := root.ExecuteContext(ctx)
	return result{out.String(), stderr.String(), err}
}

// TestWatch: a list goes on with what changes, through watches that end, until it
// is interrupted.
func TestWatch(t *testing.T) {
	busy, _ := layer("aggregator", "8").(*v1alpha1.ServerLayer)
	busy.Status.RequestsReceived = 4711
	watches := [][]any{
		{event("MODIFIED", busy), event("BOOKMARK", layer("", "9"))},
		{event("ADDED", layer("花", "10")), event("DELETED", layer("最後", "11"))},
	}
	for words, check := range map[string]func(*testing.T, string){
		"layers -w": func(t *testing.T, out string) {
			if all := lines(out); len(all) != 9 || strings.Count(out, "NAME") != 1 || !strings.HasPrefix(all[6], "aggregator") || !strings.Contains(all[6], "4711") || !strings.HasPrefix(all[7], "花") {
				t.Errorf("it prints\n%s", out)
			}
		},
		"layers -w --output-watch-events": func(t *testing.T, out string) {
			var events []string
			for _, line := range lines(out) {
				events = append(events, strings.Fields(line)[0])
			}
			if want := strings.Fields("EVENT ADDED ADDED ADDED ADDED ADDED MODIFIED ADDED DELETED"); !slices.Equal(events, want) {
				t.Errorf("events are %q\n%s", events, out)
			}
		},
		"layers -w --no-headers": func(t *testing.T, out string) {
			if all := lines(out); len(all) != 8 || strings.Contains(out, "NAME") {
				t.Errorf("it prints\n%s", out)
			}
		},
		"layers -w -o json": func(t *testing.T, out string) {
			var names []string
			for _, line := range lines(out) {
				var one v1alpha1.ServerLayer
				if err := json.Unmarshal([]byte(line), &one); err != nil || one.Kind != "ServerLayer" {
					t.Errorf("%v: %q", err, line)
				}
				names = append(names, one.Name)
			}
			if got := strings.Join(names, " "); got != "aggregator kube-apiserver inspect apiextensions not-found aggregator 花 最後" {
				t.Errorf("objects are %s", got)
			}
		},
		"layers -w -o json --output-watch-events": func(t *testing.T, out string) {
			var one struct {
				Type   string
				Object v1alpha1.ServerLayer
			}
			if err := json.Unmarshal([]byte(lines(out)[7]), &one); err != nil || one.Type != "DELETED" || one.Object.Name != "最後" {
				t.Errorf("%v: the last line is %+v", err, one)
			}
		},
		"layers -w -o yaml": func(t *testing.T, out string) {
			if n := strings.Count(out, "---\n"); n != 8 {
				t.Errorf("%d documents:\n%s", n, out)
			}
		},
		"layers -w -o name": func(t *testing.T, out string) {
			if all := lines(out); len(all) != 8 || all[6] != "serverlayer.inspect.kapi.dev/花" {
				t.Errorf("it prints %q", all)
			}
		},
		"layers -w -o custom-columns=N:.metadata.name": func(t *testing.T, out string) {
			if all := lines(out); len(all) != 9 || all[0] != "N" || strings.Count(out, "N\n") != 1 {
				t.Errorf("it prints %q", all)
			}
		},
		"layers -w -o jsonpath={.metadata.name}": func(t *testing.T, out string) {
			if got := strings.Join(lines(out), " "); got != "aggregator kube-apiserver inspect apiextensions not-found aggregator 花 最後" {
				t.Errorf("it prints %q", out)
			}
		},
	} {
		t.Run(words, func(t *testing.T) {
			f := newFakeKapi(t)
			f.watches = slices.Clone(watches)
			r := watched(t, "最後", f.args(strings.Fields(words)...)...)
			if fault.Code(r.err) != fault.CodeInterrupted || !fault.IsSilent(r.err) {
				t.Errorf("code %d, error %v", fault.Code(r.err), r.err)
			}
			if r.stderr != "" {
				t.Errorf("it says %q", r.stderr)
			}
			check(t, r.stdout)
			if err := fits(r.stdout, 80); err != nil && !strings.Contains(words, "-o") {
				t.Error(err)
			}
			seen := strings.Join(f.seen, "\n")
			for _, want := range []string{"resourceVersion=7&watch=true", "resourceVersion=9&watch=true"} {
				if !strings.Contains(seen, want) {
					t.Errorf("it asks for\n%s", seen)
				}
			}
		})
	}
}

// TestWatchRequests: a log is filtered, also what comes later.
func TestWatchRequests(t *testing.T) {
	f := newFakeKapi(t)
	request := func(name, user string, code int32) any {
		one := &v1alpha1.RequestTrace{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: "8"}}
		one.SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind("RequestTrace"))
		one.Spec.User, one.Status.Code = &v1alpha1.RequestUser{Name: user}, code
		return event("ADDED", one)
	}
	f.watches = [][]any{{request("well", "a", 200), request("ill", "花子", 403), request("end", "a", 500)}}
	r := watched(t, "end", f.args("requests", "-w", "--status", ">=400", "-o", "custom-columns=N:.metadata.name,USER:.spec.user.name")...)
	for _, line := range lines(r.stdout) {
		if strings.HasPrefix(line, "well") || strings.HasPrefix(line, "mx2wvw5t-407") {
			t.Errorf("it prints %q", line)
		}
	}
	if !strings.Contains(r.stdout, "ill") || !strings.Contains(r.stdout, "花子") || !strings.Contains(r.stdout, "mx2wvw5t-353") {
		t.Errorf("it prints\n%s", r.stdout)
	}
}

// TestWatchReal: CRDs and APIServices go on with lines that are joined anew.
func TestWatchReal(t *testing.T) {
	for name, path := range map[string]string{"crds": "customresourcedefinitions", "apiservices": "apiservices"} {
		t.Run(name, func(t *testing.T) {
			f := newFakeKapi(t)
			var object map[string]any
			kind := map[string]string{"crds": "CustomResourceDefinition", "apiservices": "APIService"}[name]
			version := map[string]string{"crds": "apiextensions.k8s.io/v1", "apiservices": "apiregistration.k8s.io/v1"}[name]
			object = map[string]any{"apiVersion": version, "kind": kind, "metadata": map[string]any{"name": "last.example.com", "resourceVersion": "8"}}
			f.watches = [][]any{{map[string]any{"type": "ADDED", "object": object}}}
			for _, more := range []string{"", "--output-watch-events", "-o wide", "-o json", "-o name"} {
				f.watches = [][]any{{map[string]any{"type": "ADDED", "object": object}}}
				r := watched(t, "last.example.com", f.args(append([]string{name, "-w"}, strings.Fields(more)...)...)...)
				if fault.Code(r.err) != fault.CodeInterrupted {
					t.Errorf("%s: code %d, error %v", more, fault.Code(r.err), r.err)
				}
				var list struct{ Items []any }
				decode(t, run(t, name, "--from", kapiFile, "-o", "json").ok(t), &list)
				want := len(list.Items) + 1
				if strings.HasPrefix(more, "-o json") || strings.HasPrefix(more, "-o name") {
					want--
				}
				if got := len(lines(r.stdout)) - 1; got != want {
					t.Errorf("%s: %d lines, want %d:\n%s", more, got, want, r.stdout)
				}
				if more == "" {
					if err := fits(r.stdout, 80); err != nil {
						t.Error(err)
					}
				}
			}
			if !strings.Contains(strings.Join(f.seen, "\n"), path+"?allowWatchBookmarks=true&resourceVersion=7&watch=true") {
				t.Errorf("it asks for %q", f.seen)
			}
		})
	}
}

// TestWatchName watches one object.
func TestWatchName(t *testing.T) {
	f := newFakeKapi(t)
	f.watches = [][]any{{event("MODIFIED", layer("inspect", "8")), event("MODIFIED", layer("inspect", "9"))}}
	r := watched(t, `"resourceVersion":"9"`, f.args("layer", "inspect", "-w", "-o", "json")...)
	if n := len(lines(r.stdout)); n != 3 {
		t.Errorf("%d lines:\n%s", n, r.stdout)
	}
	for _, seen := range f.seen {
		if strings.Contains(seen, "watch=true") && !strings.Contains(seen, "fieldSelector=metadata.name%3Dinspect") {
			t.Errorf("it asks for %s", seen)
		}
	}
}

// TestGoneWhileAway: of an object that went while the server was away only the name
// is known, which every printer can do with.
func TestGoneWhileAway(t *testing.T) {
	known := &memory{}
	known.keep(layer("a", "1"))
	gone := known.all()["a"]
	for _, format := range []string{"", "wide", "json", "yaml", "name", "jsonpath={.metadata.name}", "custom-columns=N:.metadata.name"} {
		var b strings.Builder
		events := format != "name" // which are no fields of an event
		l := &kindList{kind: mustKind("serverlayers"), opts: &listOptions{output: output{format: format}, watchEvents: events}, out: &b}
		printer, err := l.changes()
		if err != nil {
			t.Fatal(err)
		}
		if err := printer.print(watch.Added, layer("a", "1")); err != nil {
			t.Fatal(err)
		}
		if err := printer.flush(); err != nil {
			t.Fatal(err)
		}
		if err := printer.print(watch.Deleted, gone); err != nil {
			t.Errorf("%s: %v", format, err)
		}
		if all := lines(b.String()); format != "yaml" && format != "name" && !strings.HasPrefix(format, "jsonpath") && !strings.HasPrefix(format, "custom") && !strings.Contains(all[len(all)-1], "DELETED") {
			t.Errorf("%s: it prints\n%s", format, b.String())
		}
	}
}

// TestRowPrinter: what comes before flush decides the widths, later rows keep them.
func TestRowPrinter(t *testing.T) {
	var b strings.Builder
	row := func(_ watch.EventType, object runtime.Object) []text.Cell {
		return []text.Cell{{Text: key(object)}, {Text: "x"}}
	}
	printer := newRowPrinter(&listOptions{}, &b, text.Screen{}, []text.Column{{Name: "Name"}, {Name: "Value"}}, row)
	for _, name := range []string{"a", "looooong"} {
		if err := printer.print(watch.Added, layer(name, "1")); err != nil {
			t.Fatal(err)
		}
	}
	if b.Len() > 0 {
		t.Errorf("it prints %q before flush", b.String())
	}
	if err := printer.flush(); err != nil {
		t.Fatal(err)
	}
	if err := printer.print(watch.Added, layer("花", "1")); err != nil {
		t.Fatal(err)
	}
	if want := "NAME       VALUE\na          x\nlooooong   x\n花         x\n"; b.String() != want {
		t.Errorf("it prints\n%s, want\n%s", b.String(), want)
	}
}
