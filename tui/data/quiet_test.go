package data

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/client/inspection/foreign"
)

// nobody is a server behind something that takes connections and closes them at once:
// client-go makes a watch of that which ends without a word.
type nobody struct {
	*fake
	empty atomic.Bool
}

func (n *nobody) Watch(ctx context.Context, key Key, version string) (watch.Interface, error) {
	if n.empty.Load() {
		return watch.NewEmptyWatch(), nil
	}
	return n.fake.Watch(ctx, key, version)
}

// A watch that ends at once, without an error, is no proof that anybody is there.
func TestNobodyBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &nobody{fake: newFake()}
		server.send(checksKey, watch.Added, check("etcd"))
		hub := NewHub(HubOptions{Source: server, Base: []Key{checksKey}})
		defer hub.Close()
		until(t, hub, "it is live", func(f Frame) bool { return f.View(checksKey).State == Live && f.State == Live })
		server.empty.Store(true)
		server.fail(io.EOF)
		away := until(t, hub, "it is stale", func(f Frame) bool { return f.View(checksKey).State == Stale && f.State == Stale })
		if got := names(away.View(checksKey)); !slices.Equal(got, []string{"etcd"}) || !errors.Is(away.Err, io.EOF) {
			t.Errorf("got %q, error %v", got, away.Err)
		}
		server.fail(nil) // lists work again, watches don't
		before := server.listed(checksKey)
		time.Sleep(10 * time.Minute)
		if got := server.listed(checksKey) - before; got < 100 || got > 160 {
			t.Errorf("listed %d times in ten minutes: it is polled, with a back-off", got)
		}
		if frame := hub.Frame(); frame.View(checksKey).State != Live || frame.State != Live {
			t.Errorf("it is %v, the connection %v", frame.View(checksKey).State, frame.State)
		}
	})
}

// Once something that was refused is allowed, the others need not wait for long.
func TestAllowedAgain(t *testing.T) {
	for name, first := range map[string]func(*fake, *Hub){
		"another feed": func(server *fake, hub *Hub) {
			server.set(filtersKey, nil)
			server.set(checksKey, nil)
			poke(hub.feeds[filtersKey].again)
		},
		"what it is": func(server *fake, hub *Hub) {
			server.set(checksKey, nil)
			server.lock.Lock()
			server.aboutErr = nil
			server.lock.Unlock()
			poke(hub.connection.again)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newFake()
				server.aboutErr = errForbidden
				server.set(checksKey, errForbidden)
				server.set(filtersKey, errForbidden)
				hub := NewHub(HubOptions{Source: server, Base: []Key{checksKey, filtersKey}})
				defer hub.Close()
				synctest.Wait()
				if view := hub.Frame().View(checksKey); view.State != Forbidden {
					t.Fatalf("it is %v", view.State)
				}
				time.Sleep(time.Second)
				first(server, hub)
				time.Sleep(allowedAgain + time.Second)
				if view := hub.Frame().View(checksKey); view.State != Live {
					t.Errorf("it is %v although others are allowed for %s", view.State, allowedAgain)
				}
				server.set(checksKey, errForbidden) // nothing is asked more often for that
				before := server.listed(filtersKey)
				time.Sleep(time.Minute)
				if got := server.listed(filtersKey) - before; got > 2 {
					t.Errorf("listed %d times in a minute", got)
				}
			})
		})
	}
}

// hanging is a server that can be stopped: its connections stay open, and nothing
// comes.
type hanging struct {
	*fake
	stopped atomic.Bool
	pings   atomic.Int32
}

func (h *hanging) About(ctx context.Context) (inspection.About, error) {
	if err := h.Ping(ctx); err != nil {
		return inspection.About{}, err
	}
	h.pings.Add(-1) // it is not one
	return h.fake.About(ctx)
}

func (h *hanging) Ping(ctx context.Context) error {
	h.pings.Add(1)
	if h.stopped.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	return nil
}

// A server that hangs is found out within 15 s, and one that goes on is live at once.
func TestHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &hanging{fake: newFake()}
		server.send(checksKey, watch.Added, check("etcd"))
		hub := NewHub(HubOptions{Source: server, Base: []Key{checksKey}})
		defer hub.Close()
		synctest.Wait()
		server.stopped.Store(true)
		time.Sleep(quietTime + pingTime - time.Second)
		if frame := hub.Frame(); frame.State != Live {
			t.Errorf("it is %v: it may only be slow", frame.State)
		}
		time.Sleep(2 * time.Second)
		frame := hub.Frame()
		if frame.State != Stale || !errors.Is(frame.Err, context.DeadlineExceeded) {
			t.Errorf("it is %v (%v)", frame.State, frame.Err)
		}
		time.Sleep(10 * time.Minute)
		if frame := hub.Frame(); frame.State != Stale {
			t.Errorf("it is %v", frame.State)
		}
		server.stopped.Store(false)
		// A ping that hangs goes on until its time is over, and the longest pause follows.
		pause := retry()
		time.Sleep(pingTime + time.Duration(float64(pause.Cap)*(1+pause.Jitter)) + time.Second)
		if frame := hub.Frame(); frame.State != Live || frame.Err != nil || frame.View(checksKey).State != Live {
			t.Errorf("it is %v (%v)", frame.State, frame.Err)
		}
	})
}

// An idle server costs a small request in ten seconds; one whose feeds say something
// costs none.
func TestPingsAreFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &hanging{fake: newFake()}
		hub := NewHub(HubOptions{Source: server, Base: []Key{checksKey}})
		defer hub.Close()
		synctest.Wait()
		revision := hub.Frame().Revision
		time.Sleep(10 * time.Minute)
		if got := server.pings.Load(); got < 55 || got > 60 {
			t.Errorf("%d pings in ten minutes", got)
		}
		for range 75 {
			server.bookmark(checksKey)
			time.Sleep(8 * time.Second)
		}
		if got := server.pings.Load(); got > 60 {
			t.Errorf("%d pings although bookmarks come", got)
		}
		if frame := hub.Frame(); frame.Revision != revision {
			t.Errorf("it was drawn anew: %d, then %d", revision, frame.Revision)
		}
	})
}

// bookmark says that nothing has changed.
func (f *fake) bookmark(key Key) {
	f.lock.Lock()
	defer f.lock.Unlock()
	for w, of := range f.watches {
		if of == key {
			w.events <- watch.Event{Type: watch.Bookmark, Object: &metav1.PartialObjectMetadata{}}
		}
	}
}

// A ping is one request, for the version.
func TestPing(t *testing.T) {
	answer := http.StatusOK
	a := serve(t, map[string]http.HandlerFunc{"/version": func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(answer)
		fmt.Fprint(w, `{"gitVersion":"v1.37.2"}`)
	}})
	server, err := foreign.New(a.config())
	if err != nil {
		t.Fatal(err)
	}
	source := NewServerSource(server, a.config()).(pinger)
	if err := source.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	if got := a.sent(func(r *http.Request) bool { return true }); got != 1 {
		t.Errorf("%d requests", got)
	}
	answer = http.StatusForbidden
	if err := source.Ping(t.Context()); err == nil || failureOf(Key{}, err).connection {
		t.Errorf("got %v: who refuses is there", err)
	}
	answer = http.StatusServiceUnavailable
	if err := source.Ping(t.Context()); err == nil || failureOf(Key{}, err).connection {
		t.Errorf("got %v: who is not ready is there", err)
	}
	a.Close()
	if err := source.Ping(t.Context()); err == nil || !failureOf(Key{}, err).connection {
		t.Errorf("got %v of nobody", err)
	}
}

// What is deleted is the very object that was asked about.
func TestDeleteAnother(t *testing.T) {
	for name, test := range map[string]struct {
		now  string // the UID of what is there
		want string
	}{
		"another":        {"u2", "nothing was deleted: configmaps default/a is another object"},
		"the same":       {"u1", "explained later"},
		"gone meanwhile": {"", "explained later"},
	} {
		t.Run(name, func(t *testing.T) {
			var body string
			a := serve(t, map[string]http.HandlerFunc{"/api/v1/namespaces/default/configmaps/a": func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", jsonType)
				switch {
				case r.Method == http.MethodDelete:
					raw, _ := io.ReadAll(r.Body)
					body = string(raw)
					w.WriteHeader(http.StatusConflict)
					fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Conflict","code":409,"message":"explained later"}`)
				case test.now == "":
					w.WriteHeader(http.StatusNotFound)
					fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`)
				default:
					fmt.Fprintf(w, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"default","uid":%q}}`, test.now)
				}
			}})
			err := client(t, a, false).Delete(t.Context(), configMaps, "default", "a", "u1")
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if !strings.Contains(body, `"preconditions":{"uid":"u1"}`) {
				t.Errorf("sent %s", body)
			}
		})
	}
}
