package controllers

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"
	"k8s.io/klog/v2"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/controllers/catalog"
)

// api serves namespaces and config maps, and says so in discovery while it is well.
type api struct {
	mu    sync.Mutex
	ill   bool
	users map[string]bool
	asked int // for discovery
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	ill := a.ill
	if r.URL.Path == "/api" {
		a.asked++
	}
	a.users[r.Header.Get("User-Agent")+" as "+r.Header.Get("Impersonate-User")] = true
	a.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	var answer any
	switch {
	case ill && !strings.Contains(r.URL.Path, "/namespaces/"):
		w.WriteHeader(http.StatusInternalServerError)
		return
	case r.URL.Path == "/api":
		answer = metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}}
	case r.URL.Path == "/apis":
		answer = metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
	case r.URL.Path == "/api/v1":
		answer = metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: "v1",
			APIResources: []metav1.APIResource{{Name: "configmaps", Kind: "ConfigMap", Namespaced: true, Verbs: metav1.Verbs{"list", "watch"}}}}
	case strings.HasSuffix(r.URL.Path, "/nodes"):
		answer = corev1.NodeList{TypeMeta: metav1.TypeMeta{Kind: "NodeList", APIVersion: "v1"}}
	default:
		answer = corev1.Namespace{TypeMeta: metav1.TypeMeta{Kind: "Namespace", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	}
	_ = json.NewEncoder(w).Encode(answer)
}

func (a *api) set(ill bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ill = ill
}

// manage runs a manager with constructors of the test's own.
func manage(t *testing.T, a *api, made map[string]constructor, words ...string) (m *Manager, changed func(), stop func()) {
	t.Helper()
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	selected, err := catalog.Parse(words, false)
	if err != nil {
		t.Fatal(err)
	}
	m = newManager(Config{Selected: selected, Identity: "me", Log: klog.Background()}, made, 10*time.Millisecond)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	var callback func()
	registered := make(chan struct{})
	go func() {
		defer close(ended)
		m.Run(ctx, API{Config: &rest.Config{Host: server.URL}, Changed: func(c func()) error {
			callback = c
			close(registered)
			return nil
		}})
	}()
	stop = func() { cancel(); <-ended }
	t.Cleanup(stop)
	return m, func() { <-registered; callback() }, stop
}

func object(m *Manager, name string) *v1alpha1.Controller {
	for _, o := range m.Objects() {
		if o.Name == name {
			return o
		}
	}
	return nil
}

// becomes waits until condition Running of a controller has a reason.
func becomes(t *testing.T, m *Manager, name, reason string) *v1alpha1.Controller {
	t.Helper()
	deadline := time.After(time.Minute)
	for {
		o := object(m, name)
		if o.Status.Conditions[0].Reason == reason {
			return o
		}
		select {
		case <-deadline:
			t.Fatalf("%s never becomes %s: %+v", name, reason, o.Status)
		case <-time.After(time.Millisecond):
		}
	}
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	for !is() {
		select {
		case <-deadline:
			t.Fatal("waited in vain until " + what)
		case <-time.After(time.Millisecond):
		}
	}
}

func forever(ctx context.Context) { <-ctx.Done() }

func TestTerm(t *testing.T) {
	a := &api{users: map[string]bool{}}
	var tries, loops atomic.Int32
	m, _, stop := manage(t, a, map[string]constructor{
		"namespace": {make: func(_ context.Context, t *term, c catalog.Controller) (loop, error) {
			client, err := t.client(c)
			if err != nil {
				return nil, err
			}
			return func(ctx context.Context) {
				_, _ = client.CoreV1().Namespaces().Get(ctx, "x", metav1.GetOptions{})
				loops.Add(1)
				<-ctx.Done()
				loops.Add(-1)
			}, nil
		}},
		"job": {make: func(ctx context.Context, _ *term, _ catalog.Controller) (loop, error) {
			if tries.Add(1) < 3 {
				return nil, errors.New("no answer")
			}
			return forever, nil
		}},
		"cronjob":    {make: func(context.Context, *term, catalog.Controller) (loop, error) { return func(context.Context) {}, nil }},
		"deployment": {resources: []schema.GroupVersionResource{resource("apps", "v1", "deployments")}, make: func(context.Context, *term, catalog.Controller) (loop, error) { return forever, nil }},
		"svm":        {off: func(Config) string { return "It has no friends." }, make: func(context.Context, *term, catalog.Controller) (loop, error) { return forever, nil }},
	}, "namespace", "job", "cronjob", "deployment", "svm")

	if o := becomes(t, m, "namespace", v1alpha1.ControllerRunning); !o.Status.Leader || o.Status.Holder != "me" {
		t.Errorf("%+v", o.Status)
	}
	if o := becomes(t, m, "job", v1alpha1.ControllerRunning); o.Status.Errors != 2 || !strings.Contains(o.Status.LastError, "no answer") {
		t.Errorf("%+v", o.Status)
	}
	if o := becomes(t, m, "cronjob", v1alpha1.ControllerFailed); !strings.Contains(o.Status.LastError, "by itself") || o.Status.Leader {
		t.Errorf("%+v", o.Status)
	}
	if o := becomes(t, m, "deployment", v1alpha1.ControllerDisabled); o.Spec.Enabled || !strings.Contains(o.Spec.Reason, "deployments.apps are not served") {
		t.Errorf("%+v", o.Spec)
	}
	if o := becomes(t, m, "svm", v1alpha1.ControllerDisabled); o.Spec.Enabled || o.Spec.Reason != "It has no friends." {
		t.Errorf("%+v", o.Spec)
	}
	becomes(t, m, "daemonset", v1alpha1.ControllerNotSelected)
	eventually(t, "the loop has asked", func() bool { return loops.Load() == 1 })
	stop()
	if loops.Load() != 0 {
		t.Error("Run has returned before the loops")
	}
	if o := object(m, "namespace"); o.Status.Leader || o.Status.Holder != "" {
		t.Errorf("after the end: %+v", o.Status)
	}
	if who := "kapi/controllers/namespace as system:serviceaccount:kube-system:namespace-controller"; !a.users[who] {
		t.Errorf("nobody came as %s, but %v", who, a.users)
	}
}

// TestTermBeginsLater: a server that does not answer is asked again, and until then
// the controllers say what is amiss.
func TestTermBeginsLater(t *testing.T) {
	a := &api{users: map[string]bool{}, ill: true}
	m, _, _ := manage(t, a, map[string]constructor{
		"namespace": {make: func(context.Context, *term, catalog.Controller) (loop, error) { return forever, nil }},
	}, "namespace")
	if o := becomes(t, m, "namespace", v1alpha1.ControllerFailed); !strings.Contains(o.Status.Conditions[0].Message, "which APIs are served") {
		t.Errorf("%+v", o.Status)
	}
	a.set(false)
	becomes(t, m, "namespace", v1alpha1.ControllerRunning)
}

// TestNothingSelected: without controllers nobody is asked for anything.
func TestNothingSelected(t *testing.T) {
	a := &api{users: map[string]bool{}}
	m, _, stop := manage(t, a, nil, "none")
	becomes(t, m, "namespace", v1alpha1.ControllerNotSelected)
	stop()
	if len(a.users) > 0 {
		t.Errorf("%v", a.users)
	}
}

// TestChanged: after a change of the APIs, the term asks what is served, although
// neither the garbage collector nor quotas run; after its end nobody does.
func TestChanged(t *testing.T) {
	a := &api{users: map[string]bool{}}
	m, changed, stop := manage(t, a, map[string]constructor{
		"namespace": {make: func(context.Context, *term, catalog.Controller) (loop, error) { return forever, nil }},
	}, "namespace")
	becomes(t, m, "namespace", v1alpha1.ControllerRunning)
	asked := func() int {
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.asked
	}
	before := asked()
	changed()
	eventually(t, "somebody asks what is served now", func() bool { return asked() > before })
	stop()
	changed()
}

// TestAuthorities: a trust bundle holds authorities only.
func TestAuthorities(t *testing.T) {
	leaf, _, err := cert.GenerateSelfSignedCertKeyWithOptions(cert.SelfSignedCertKeyOptions{Host: "a.example"})
	if err != nil {
		t.Fatal(err)
	}
	// What upstream makes is a certificate and its authority behind it.
	all, err := cert.ParseCertsPEM(leaf)
	if err != nil || len(all) != 2 {
		t.Fatal(len(all), err)
	}
	found, err := cert.ParseCertsPEM(authorities(leaf))
	if err != nil || len(found) != 1 || !found[0].IsCA {
		t.Errorf("%d of them, %v", len(found), err)
	}
	only, err := cert.EncodeCertificates(all[0])
	if err != nil {
		t.Fatal(err)
	}
	if noAuthority(Config{RootCA: only}) == "" || noAuthority(Config{RootCA: leaf}) != "" || noAuthority(Config{}) == "" {
		t.Error("an authority is seen where there is none, or the other way round")
	}
}
