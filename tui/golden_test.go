package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/pages"
)

// sizes are those of the goldens: the least there is, and one for each breakpoint.
var sizes = [][2]int{{40, 12}, {80, 24}, {120, 40}, {200, 60}}

// scene is a place of the application, and what is done there before it is looked at.
type scene struct {
	name, at string
	frame    func(testing.TB) data.Frame
	// keys are pressed.
	keys []string
	set  setting
}

// scenes are all pages and one detail of each, on the troubled server.
func scenes() []scene {
	var all []scene
	for _, entry := range pages.All() {
		if entry.Name != "object" && entry.Name != "route" {
			all = append(all, scene{name: entry.Name, at: entry.Name})
		}
	}
	return append(all,
		scene{name: "chain-filter", at: "chain/authorization"},
		scene{name: "chain-layer", at: "chain/layer/aggregator"},
		scene{name: "request", at: "requests", keys: []string{"enter"}},
		scene{name: "group", at: "groups", keys: []string{"j", "enter"}},
		scene{name: "crd", at: "crds/gadgets.lab.example"},
		scene{name: "apiservice", at: "apiservices/v1.tls.lab.example"},
		scene{name: "hook", at: "hooks", keys: []string{"e", "enter"}},
		scene{name: "flow-level", at: "flow", keys: []string{"enter"}},
		scene{name: "health-check", at: "health", keys: []string{"e", "enter"}},
		scene{name: "etcd-keys", at: "etcd?prefix=%2Fregistry%2F"},
		scene{name: "etcd-keys-forbidden", at: "etcd?prefix=%2Fregistry%2Fsecrets%2F"},
		scene{name: "objects", at: "object/configmaps?version=v1&namespace=default"},
		scene{name: "object-yaml", at: "object/configmaps/花子?version=v1&namespace=default&view=yaml"},
		scene{name: "object-describe", at: "object/configmaps/花子?version=v1&namespace=default&view=describe"},
		scene{name: "route", at: "route?verb=GET&path=%2Fapi%2Fv1%2Fnamespaces%2Fdefault%2Fpods&user=花子"},
		scene{name: "foreign-dashboard", at: "dashboard", frame: foreignFrame},
		scene{name: "foreign-chain", at: "chain", frame: foreignFrame},
		scene{name: "help", at: "crds", keys: []string{"?"}},
		scene{name: "palette", at: "crds", keys: []string{":", "r"}},
		scene{name: "filter-error", at: "crds", keys: []string{"/", "x", ":", "y"}},
		scene{name: "copy-as", at: "crds", keys: []string{"Y"}},
		scene{name: "confirm", at: "crds", keys: []string{"ctrl+x"}, set: allowChanges},
	)
}

func allowChanges(o *Options) { o.ReadOnly = false }

// stage is an application at a scene.
func stage(t testing.TB, s scene, settings ...setting) *rig {
	t.Helper()
	frame := troubledFrame(t)
	if s.frame != nil {
		frame = s.frame(t)
	}
	for view := range objectViews() {
		frame = frame.With(view)
	}
	if s.set != nil {
		settings = append(settings, s.set)
	}
	r := staged(t, frame, settings...)
	r.send(effectMsg{}) // nothing
	at := s.at
	r.goTo(at)
	r.frame(frame)
	r.press(s.keys...)
	return r
}

// staged is an application at the dashboard, whose client answers.
func staged(t testing.TB, frame data.Frame, settings ...setting) *rig {
	t.Helper()
	r := newRig(t, settings...)
	r.now.set(frame.Now)
	r.client.OnStored, r.client.OnExplain = storedKeys, explained
	r.client.OnDescribe = func(name string) (string, error) {
		return "Name:         " + name + "\nNamespace:    default\nLabels:       <none>\n\nData\n====\ngreeting:\n----\n你好\x1b[2J\n", nil
	}
	r.client.Found = resources
	r.resize(80, 24)
	r.connect(newQuiet(frame.About))
	r.frame(frame)
	return r
}

// resources are those of discovery.
var resources = []data.Resource{
	{GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, Kind: "ConfigMap", Singular: "configmap", ShortNames: []string{"cm"}, Namespaced: true, Verbs: []string{"get", "list", "delete"}},
	{GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}, Kind: "Namespace", Singular: "namespace", ShortNames: []string{"ns"}, Verbs: []string{"get", "list", "delete"}},
	{GroupVersionResource: data.Definitions.Resource, Kind: "CustomResourceDefinition", Singular: "customresourcedefinition", ShortNames: []string{"crd"}, Verbs: []string{"get", "list", "delete"}},
}

// objectViews are those of a resource that is no part of the inspect API.
func objectViews() func(yield func(data.View) bool) {
	return func(yield func(data.View) bool) {
		maps := schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
		list := data.View{
			Key: data.Key{Resource: maps, Namespace: "default"}, State: data.Live, At: recordedAt, Revision: 1,
			Columns: []data.Column{{Name: "Name", Type: "string"}, {Name: "Data", Type: "integer"}, {Name: "Age", Type: "date"}, {Name: "Owner", Type: "string", Wide: true}},
		}
		one := data.View{Key: data.Key{Resource: maps, Namespace: "default", Name: "花子"}, State: data.Live, At: recordedAt, Revision: 1}
		for i, name := range append(strangers, "web", "kube-root-ca.crt") {
			row := &data.Row{Cells: []any{name, int64(i), "3d", strangers[i%len(strangers)]}}
			row.Name, row.Namespace = name, "default"
			row.CreationTimestamp = metav1.NewTime(recordedAt.AddDate(0, 0, -3))
			list.Objects = append(list.Objects, row)
		}
		one.Objects = []kinds.Object{&unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap",
			"metadata": map[string]any{"name": "花子", "namespace": "default", "creationTimestamp": "2026-11-27T06:54:54Z", "uid": "1"},
			"data":     map[string]any{"greeting": "你好, שלום e\u0301\x1b[2J", "long": strings.Repeat("0123456789 ", 30), "lines": "one\ntwo\nthree\n"},
		}}}
		_ = yield(list) && yield(one)
	}
}

func storedKeys(spec v1alpha1.StoredKeyQuerySpec) (*v1alpha1.StoredKeyQuery, error) {
	if strings.Contains(spec.Prefix+spec.Key, "/secrets/") {
		return nil, apierrors.NewForbidden(schema.GroupResource{Group: v1alpha1.GroupName, Resource: "storedkeyqueries"}, "", fmt.Errorf("User %q cannot create it", "花子"))
	}
	answer := &v1alpha1.StoredKeyQuery{Spec: spec}
	answer.Status.Revision, answer.Status.Prefix = 4711, "/registry/"
	for i, key := range []string{"configmaps/", "events/", "花子.example/", "שלום/", "loose"} {
		answer.Status.Keys = append(answer.Status.Keys, v1alpha1.StoredKey{Key: "/registry/" + key, Keys: int64(i * 12), Bytes: int64(i * 100_000)})
	}
	return answer, nil
}

func explained(spec v1alpha1.RouteExplanationSpec) (*v1alpha1.RouteExplanation, error) {
	return &v1alpha1.RouteExplanation{Spec: spec}, nil
}

// goTo opens a place as the palette does, which does not know all of them.
func (r *rig) goTo(at string) {
	r.t.Helper()
	place, err := ParsePlace(at, "")
	if err != nil {
		r.t.Fatal(err)
	}
	before := r.app.toasted.id
	r.run(r.app.goTo(place), 0)
	r.app.revision++
	if r.app.toasted.id != before && r.app.toasted.bad {
		r.t.Fatalf("going to %s: %s", at, r.app.toasted.text)
	}
}

// TestGolden draws every page in three themes at four sizes. The files hold what the
// terminal gets; blanks at the ends of lines are left out.
func TestGolden(t *testing.T) {
	t.Parallel()
	var names []string
	for _, s := range scenes() {
		for _, theme := range []string{"dark", "light", "mono"} {
			names = append(names, s.name+"."+theme+".txt")
			t.Run(s.name+"/"+theme, func(t *testing.T) {
				t.Parallel()
				r := stage(t, s, func(o *Options) { o.Theme = theme })
				var got strings.Builder
				for _, size := range sizes {
					r.resize(size[0], size[1])
					fmt.Fprintf(&got, "==== %dx%d\n%s\n", size[0], size[1], trimmed(r.view()))
				}
				r.healthy()
				golden(t, s.name+"."+theme+".txt", got.String())
			})
		}
	}
	t.Run("no others", func(t *testing.T) {
		found, err := filepath.Glob("testdata/golden/*.txt")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range found {
			if !slices.Contains(names, filepath.Base(file)) && !slices.Contains(stateNames(), filepath.Base(file)) {
				t.Errorf("%s belongs to nothing", file)
			}
		}
	})
}

// trimmed is a screen without the blanks at the ends of its lines.
func trimmed(screen string) string {
	lines := strings.Split(screen, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// healthy fails where a page has panicked.
func (r *rig) healthy() {
	r.t.Helper()
	for _, v := range r.app.stack {
		if v.err != nil {
			r.t.Errorf("%s: %v", v.at, v.err)
		}
	}
	if r.app.broken != nil {
		r.t.Error(r.app.broken)
	}
}

// golden compares with testdata/golden/NAME.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if updating() {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	if got != string(want) {
		t.Errorf("%s is not what it was (go test -update shows in the diff what changed)\n%s", path, firstDifference(got, string(want)))
	}
}

// firstDifference is the first line that differs, in both.
func firstDifference(got, want string) string {
	gots, wants := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(gots), len(wants)) {
		if gots[i] != wants[i] {
			return fmt.Sprintf("line %d\n got %q\nwant %q", i+1, gots[i], wants[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(gots), len(wants))
}

// foreignRunes are those of the names and texts of the troubled server.
var foreignRunes = strings.Join(strangers, "") + "بطيء רגע שבור 你好\u0300\u0301"

// With ASCII signs nothing else stands on the screen but what the server has named.
func TestASCII(t *testing.T) {
	t.Parallel()
	for _, s := range scenes() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			r := stage(t, s, func(o *Options) { o.Settings.Glyphs = "ascii"; o.Theme = "mono" })
			for i, line := range strings.Split(r.text(), "\n") {
				for _, each := range line {
					if each > 0x7e && !strings.ContainsRune(foreignRunes, each) {
						t.Errorf("line %d holds %q: %q", i, each, line)
						break
					}
				}
			}
			r.healthy()
		})
	}
}
