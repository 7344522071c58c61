package etcd

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/ask/asktest"
	"github.com/kapi-dev/kapi/tui/pages/pagestest"
)

// live is a frame of a kapi that answers.
func live(t *testing.T) data.Frame {
	t.Helper()
	frame := pagestest.Frame(t, pagestest.Kapi)
	frame.About.Type, frame.About.RecordedFrom = inspection.Kapi, ""
	return frame
}

// store answers queries from keys with their sizes, as a server does.
func store(keys ...string) func(v1alpha1.StoredKeyQuerySpec) (*v1alpha1.StoredKeyQuery, error) {
	return func(spec v1alpha1.StoredKeyQuerySpec) (*v1alpha1.StoredKeyQuery, error) {
		answer := &v1alpha1.StoredKeyQuery{Spec: spec}
		answer.Status.Revision = 4711
		prefix := spec.Prefix
		if prefix == "" {
			prefix = "/registry/"
		}
		answer.Status.Prefix = prefix
		for i, key := range keys {
			rest, ok := strings.CutPrefix(key, prefix)
			if !ok || key <= spec.After {
				continue
			}
			if len(answer.Status.Keys) == 2 {
				answer.Status.More = true
				break
			}
			if folder, _, ok := strings.Cut(rest, "/"); ok {
				answer.Status.Keys = append(answer.Status.Keys, v1alpha1.StoredKey{Key: prefix + folder + "/", Keys: int64(i + 1), Bytes: int64(i+1) * 1000})
				continue
			}
			answer.Status.Keys = append(answer.Status.Keys, v1alpha1.StoredKey{Key: key, Bytes: 900, CreateRevision: 3, ModRevision: 40, Version: 2, Lease: 0x1f})
		}
		return answer, nil
	}
}

func refused(*testing.T) func(v1alpha1.StoredKeyQuerySpec) (*v1alpha1.StoredKeyQuery, error) {
	return func(v1alpha1.StoredKeyQuerySpec) (*v1alpha1.StoredKeyQuery, error) {
		return nil, apierrors.NewForbidden(schema.GroupResource{Group: "inspect.kapi.dev", Resource: "storedkeyqueries"}, "", fmt.Errorf("user %q cannot create it", "jane"))
	}
}

func act(t *testing.T, p page.Page, id page.ActionID) page.Effect {
	t.Helper()
	return p.Act(page.Action{ID: id, Count: 1})
}

// One page of keys comes after the other, folders lead in, keys to their values, and
// the first line leads up.
func TestBrowser(t *testing.T) {
	t.Parallel()
	client := &asktest.Client{OnStored: store("/registry/configmaps/default/a", "/registry/configmaps/kube-system/b", "/registry/configmaps/loose")}
	p := open(t, client, page.At("etcd", "", "prefix", "/registry/configmaps/"))
	asktest.Opened(t, p, live(t))
	picture := pagestest.Picture(t, p, live(t), 80, 24)
	for _, want := range []string{"default/", "kube-system/", ".. up to /registry/", "enter loads on", "1000"} {
		if !strings.Contains(picture, want) {
			t.Errorf("%q is not in\n%s", want, picture)
		}
	}
	if got := act(t, p, page.Enter).Open.Get("prefix"); got != "/registry/configmaps/default/" {
		t.Errorf("enter leads to %q at first, want into the first folder", got)
	}
	for key, want := range map[string]string{"/registry/a/b": "b", "/registry/a/": "a/", "/": "/", "": "", "x": "x", "/x": "x"} {
		if got := last(key); got != want {
			t.Errorf("the last part of %q is %q", key, got)
		}
	}
	for _, step := range []struct{ row, opens string }{
		{"/registry/", "etcd?prefix=%2Fregistry%2F"},
		{"/registry/configmaps/default/", "etcd?prefix=%2Fregistry%2Fconfigmaps%2Fdefault%2F"},
	} {
		selectRow(t, p, step.row)
		if got := act(t, p, page.Enter).Open.String(); got != step.opens {
			t.Errorf("enter on %s leads to %q, want %q", step.row, got, step.opens)
		}
	}
	selectRow(t, p, "/registry/configmaps/kube-system/\x00")
	asktest.Run(t, p, act(t, p, page.Enter))
	picture = pagestest.Picture(t, p, live(t), 80, 24)
	if !strings.Contains(picture, "loose") || !strings.Contains(picture, "default/") || strings.Contains(picture, "loads on") {
		t.Errorf("the rest of the keys is not below the first ones\n%s", picture)
	}
	selectRow(t, p, "/registry/configmaps/loose")
	if got := act(t, p, page.Enter).Open; got.Name != "/registry/configmaps/loose" {
		t.Errorf("enter on a key leads to %q", got)
	}
	asked := client.Asked
	p.Update(live(t))
	asktest.Opened(t, p, live(t))
	if client.Asked != asked {
		t.Error("it asks again although nobody wanted it")
	}
	asktest.Run(t, p, act(t, p, page.Refresh))
	if client.Asked != asked+1 {
		t.Error("refresh does not ask again")
	}
	if client.Writes != 0 {
		t.Error("something was changed")
	}
}

func selectRow(t *testing.T, p page.Page, key string) {
	t.Helper()
	if !p.(*browser).Table().Select(key) {
		t.Fatalf("there is no row %q", key)
	}
}

func TestBrowserStates(t *testing.T) {
	t.Parallel()
	foreign := pagestest.Frame(t, pagestest.Foreign)
	foreign.About.Type, foreign.About.RecordedFrom = inspection.Foreign, ""
	for name, test := range map[string]struct {
		frame  data.Frame
		client *asktest.Client
		want   []string
	}{
		"forbidden": {live(t), &asktest.Client{OnStored: refused(t)}, []string{"! forbidden", "kapi:inspect-storage"}},
		"failed":    {live(t), &asktest.Client{}, []string{"error", "did not expect"}},
		"empty":     {live(t), &asktest.Client{OnStored: store()}, []string{"no key begins with it"}},
		"foreign":   {foreign, &asktest.Client{}, []string{"this server does not show", "etcdctl get --prefix --keys-only '/registry/例え/'"}},
		"recording": {pagestest.Frame(t, pagestest.Kapi), &asktest.Client{}, []string{"a recording has no values"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := open(t, test.client, page.At("etcd", "", "prefix", "/registry/例え/"))
			if picture := pagestest.Picture(t, p, data.Frame{}, 80, 24); !strings.Contains(picture, "loading") {
				t.Errorf("before anything is known\n%s", picture)
			}
			asktest.Opened(t, p, test.frame)
			picture := pagestest.Picture(t, p, test.frame, 80, 24)
			for _, want := range test.want {
				if !strings.Contains(picture, want) {
					t.Errorf("%q is not in\n%s", want, picture)
				}
			}
			pagestest.Fits(t, p, test.frame)
		})
	}
}

// Names from a store may be anything.
func TestBrowserNames(t *testing.T) {
	t.Parallel()
	var keys []string
	for _, name := range []string{"e\u0301", "\x1b[2J", "\u202eabc", "例えば長い名前例えば長い名前例えば長い名前例えば長い名前例えば長い名前", "שלום"} {
		keys = append(keys, "/registry/x/"+name)
	}
	p := open(t, &asktest.Client{OnStored: store(keys...)}, page.At("etcd", "", "prefix", "/registry/x/"))
	asktest.Opened(t, p, live(t))
	pagestest.Fits(t, p, live(t))
}

func TestKey(t *testing.T) {
	t.Parallel()
	const key = "/registry/example.com/widgets/default/a"
	client := &asktest.Client{OnStored: func(spec v1alpha1.StoredKeyQuerySpec) (*v1alpha1.StoredKeyQuery, error) {
		if spec.Key != key {
			return nil, apierrors.NewGenericServerResponse(http.StatusBadRequest, "create", schema.GroupResource{}, "", spec.Key, 0, false)
		}
		answer := &v1alpha1.StoredKeyQuery{Spec: spec}
		answer.Status = v1alpha1.StoredKeyQueryStatus{
			Revision: 512, Keys: []v1alpha1.StoredKey{{Key: key, Bytes: 1500, CreateRevision: 17, ModRevision: 300, Version: 4}},
			Value: &v1alpha1.StoredValue{Encoding: v1alpha1.StoredJSON, Bytes: 1500, APIVersion: "example.com/v1alpha1", Kind: "Widget",
				JSON: `{"apiVersion":"example.com/v1alpha1","kind":"Widget","metadata":{"name":"a","generation":4},"spec":{"size":12345678901,"ratio":0.5,"text":"例え"}}`},
		}
		return answer, nil
	}}
	p := open(t, client, page.At("etcd", key))
	asktest.Opened(t, p, live(t))
	pagestest.Golden(t, "key", p, live(t))
	pagestest.Fits(t, p, live(t))
	gone := open(t, &asktest.Client{OnStored: func(v1alpha1.StoredKeyQuerySpec) (*v1alpha1.StoredKeyQuery, error) {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "storedkeyqueries"}, key)
	}}, page.At("etcd", key))
	asktest.Opened(t, gone, live(t))
	if picture := pagestest.Picture(t, gone, live(t), 80, 24); !strings.Contains(picture, "not found") || strings.Contains(picture, "etcdctl") || !strings.Contains(picture, "what is under") {
		t.Errorf("a key that is not there\n%s", picture)
	}
}

// An older kapi has no queries of stored keys: the key is known all the same.
func TestKeyOfOlderServer(t *testing.T) {
	t.Parallel()
	p := open(t, &asktest.Client{OnStored: func(v1alpha1.StoredKeyQuerySpec) (*v1alpha1.StoredKeyQuery, error) {
		return nil, apierrors.NewNotFound(schema.GroupResource{}, "")
	}}, page.At("etcd", "/registry/pods/default/web"))
	asktest.Opened(t, p, live(t))
	if picture := pagestest.Picture(t, p, live(t), 80, 24); !strings.Contains(picture, "etcdctl get /registry/pods/default/web -w fields") {
		t.Errorf("it does not say how else\n%s", picture)
	}
	pagestest.Fits(t, p, live(t))
}
