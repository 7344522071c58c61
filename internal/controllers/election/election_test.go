package election

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/kapi-dev/kapi/internal/kapitest/polling"
)

// api keeps one Lease, as an API server does: a write that was not based on the last
// one is a conflict.
type api struct {
	mu        sync.Mutex
	namespace bool
	lease     *coordinationv1.Lease
	version   int
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if strings.Contains(r.URL.Path, "/namespaces/kube-system") && !strings.Contains(r.URL.Path, "/leases") {
		if !a.namespace {
			answer(w, http.StatusNotFound, metav1.StatusReasonNotFound)
			return
		}
		write(w, &corev1.Namespace{TypeMeta: metav1.TypeMeta{Kind: "Namespace", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Name: "kube-system"}})
		return
	}
	if r.Method != http.MethodGet {
		lease := &coordinationv1.Lease{}
		if err := json.NewDecoder(r.Body).Decode(lease); err != nil {
			answer(w, http.StatusBadRequest, metav1.StatusReasonBadRequest)
			return
		}
		created := r.Method == http.MethodPost
		if created == (a.lease != nil) || !created && lease.ResourceVersion != a.lease.ResourceVersion {
			answer(w, http.StatusConflict, metav1.StatusReasonConflict)
			return
		}
		a.version++
		lease.ResourceVersion = strconv.Itoa(a.version)
		lease.TypeMeta = metav1.TypeMeta{Kind: "Lease", APIVersion: "coordination.k8s.io/v1"}
		a.lease = lease
	}
	if a.lease == nil {
		answer(w, http.StatusNotFound, metav1.StatusReasonNotFound)
		return
	}
	write(w, a.lease)
}

func (a *api) holder() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.lease == nil || a.lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *a.lease.Spec.HolderIdentity
}

func write(w http.ResponseWriter, object any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(object)
}

func answer(w http.ResponseWriter, code int, reason metav1.StatusReason) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status: metav1.StatusFailure, Reason: reason, Code: int32(code)})
}

// candidate is a server that wants to lead.
type candidate struct {
	leads, done chan struct{}
	cut         atomic.Bool
	holder      atomic.Value
	stop        context.CancelFunc
	ended       chan struct{}
}

// run starts a candidate whose Lead takes a moment to end.
func run(t *testing.T, server *httptest.Server, identity string, leading *atomic.Int32, lease time.Duration) *candidate {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	c := &candidate{leads: make(chan struct{}, 10), done: make(chan struct{}, 10), stop: cancel, ended: make(chan struct{})}
	config := &rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}, WrapTransport: func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if c.cut.Load() {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			return next.RoundTrip(r)
		})
	}}
	go func() {
		defer close(c.ended)
		Run(ctx, Config{Identity: identity, LeaseDuration: lease, Client: config, Log: klog.Background(),
			Holder: func(identity string) { c.holder.Store(identity) },
			Lead: func(ctx context.Context, _ Fence) {
				if leading.Add(1) > 1 {
					t.Error("two lead at a time")
				}
				c.leads <- struct{}{}
				<-ctx.Done()
				time.Sleep(20 * time.Millisecond) // what is under way ends
				leading.Add(-1)
				c.done <- struct{}{}
			}})
	}()
	t.Cleanup(func() { cancel(); <-c.ended })
	return c
}

func await(t *testing.T, what string, channel <-chan struct{}) {
	t.Helper()
	select {
	case <-channel:
	case <-time.After(time.Minute):
		t.Fatal("waited in vain: " + what)
	}
}

// TestHandOver: a leader that stops has ended before the lease is free, and the next
// one begins.
func TestHandOver(t *testing.T) {
	a := &api{namespace: true}
	server := httptest.NewServer(a)
	defer server.Close()
	var leading atomic.Int32
	first := run(t, server, "first", &leading, 3*time.Second)
	await(t, "first leads", first.leads)
	second := run(t, server, "second", &leading, 3*time.Second)
	first.stop()
	await(t, "first ends", first.ended)
	await(t, "second leads", second.leads)
	if a.holder() != "second" {
		t.Errorf("the lease is held by %q", a.holder())
	}
	// The news has a goroutine of its own.
	if err := polling.Until(t.Context(), time.Minute, time.Millisecond, func(context.Context) error {
		if holder := second.holder.Load(); holder != "second" {
			return fmt.Errorf("second knows of %v", holder)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// TestLost: a leader that can't renew its lease stops leading before another begins,
// and leads again when the other one is gone.
func TestLost(t *testing.T) {
	a := &api{namespace: true}
	server := httptest.NewServer(a)
	defer server.Close()
	var leading atomic.Int32
	first := run(t, server, "first", &leading, 6*time.Second)
	await(t, "first leads", first.leads)
	second := run(t, server, "second", &leading, 6*time.Second)
	first.cut.Store(true)
	await(t, "first stops leading", first.done)
	await(t, "second leads", second.leads)
	first.cut.Store(false)
	second.stop()
	await(t, "second ends", second.ended)
	await(t, "first leads again", first.leads)
}

// TestOwnLease: whoever holds the lease from before a crash does not wait for it.
func TestOwnLease(t *testing.T) {
	identity, hour := "first", int32(3600)
	now := metav1.NowMicro()
	a := &api{namespace: true, version: 1, lease: &coordinationv1.Lease{
		TypeMeta:   metav1.TypeMeta{Kind: "Lease", APIVersion: "coordination.k8s.io/v1"},
		ObjectMeta: metav1.ObjectMeta{Name: LeaseName, Namespace: "kube-system", ResourceVersion: "1"},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &identity, LeaseDurationSeconds: &hour, AcquireTime: &now, RenewTime: &now},
	}}
	server := httptest.NewServer(a)
	defer server.Close()
	var leading atomic.Int32
	other := run(t, server, "other", &leading, time.Hour)
	await(t, "first leads", run(t, server, identity, &leading, time.Hour).leads)
	select {
	case <-other.leads:
		t.Error("the other one leads")
	default:
	}
}

// TestNamespaceComesLater: a first start has no namespace for the lease yet.
func TestNamespaceComesLater(t *testing.T) {
	a := &api{}
	server := httptest.NewServer(a)
	defer server.Close()
	var leading atomic.Int32
	c := run(t, server, "first", &leading, 3*time.Second)
	time.AfterFunc(300*time.Millisecond, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.namespace = true
	})
	await(t, "it leads", c.leads)
}
