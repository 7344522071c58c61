package conditions

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	fcache "k8s.io/client-go/tools/cache/testing"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

const (
	probedName = "v1.wardle.example.com"
	serverName = "api.wardle.svc"
)

// lab is an APIService, and whatever a test puts behind its service.
type lab struct {
	*Probes

	source  *fcache.FakeControllerSource
	ca      *authority
	proxyCA *authority
	changed chan struct{}

	lock    sync.Mutex
	address string
	service *corev1.Service
	now     time.Time
	dials   atomic.Int64
}

func newLab(t *testing.T) *lab {
	t.Helper()
	l := &lab{
		source: fcache.NewFakeControllerSource(), ca: newAuthority(t), proxyCA: newAuthority(t),
		changed: make(chan struct{}, 1000), now: time.Now(),
		service: &corev1.Service{Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeClusterIP, ClusterIP: "10.0.0.1", Ports: []corev1.ServicePort{{Name: "https", Port: 443}},
		}},
	}
	client := l.proxyCA.issue(t, "front-proxy-client", time.Hour)
	l.Probes = NewProbes(ProbesConfig{
		ServerID: "server", APIServices: informerOf(t, l.source, &apiregistrationv1.APIService{}),
		Service: func(namespace, name string) (*corev1.Service, error) {
			l.lock.Lock()
			defer l.lock.Unlock()
			if l.service == nil || namespace != "wardle" || name != "api" {
				return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "services"}, name)
			}
			return l.service, nil
		},
		Resolve: func(string, string, int32) (*url.URL, error) {
			l.lock.Lock()
			defer l.lock.Unlock()
			if l.address == "" {
				return nil, errors.New("no endpoints are ready")
			}
			return &url.URL{Scheme: "https", Host: l.address}, nil
		},
		ClientCert: func() (tls.Certificate, error) { return client, nil },
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			l.dials.Add(1)
			return (&net.Dialer{}).DialContext(ctx, network, address)
		},
		UnavailableAnswers: func(string) int64 { return 7 },
		Changed:            func() { l.changed <- struct{}{} },
		Now: func() time.Time {
			l.lock.Lock()
			defer l.lock.Unlock()
			return l.now
		},
	})
	inBackground(t, func(ctx context.Context) {
		if err := l.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	waitFor(t, "workers", func() bool {
		l.Probes.lock.Lock()
		defer l.Probes.lock.Unlock()
		return l.running
	})
	return l
}

func (l *lab) set(change func()) {
	l.lock.Lock()
	defer l.lock.Unlock()
	change()
}

// later moves the clock.
func (l *lab) later(by time.Duration) { l.set(func() { l.now = l.now.Add(by) }) }

// add adds the APIService, and waits until the informer has it.
func (l *lab) add(t *testing.T, s *apiregistrationv1.APIService) {
	t.Helper()
	l.source.Add(s)
	waitFor(t, s.Name, func() bool {
		_, exists, _ := l.config.APIServices.GetStore().GetByKey(s.Name)
		return exists
	})
}

func (l *lab) remote(available apiregistrationv1.ConditionStatus) *apiregistrationv1.APIService {
	s := apiService(probedName, available)
	s.Spec.Service = &apiregistrationv1.ServiceReference{Namespace: "wardle", Name: "api"}
	s.Spec.CABundle = l.ca.pem
	return s
}

// serve starts a server, and puts it behind the service.
func (l *lab) serve(t *testing.T, certificate tls.Certificate, handler http.HandlerFunc) {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	clients := x509.NewCertPool()
	clients.AddCert(l.proxyCA.certificate)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, ClientCAs: clients, ClientAuth: tls.RequireAndVerifyClientCert}
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // refused handshakes are the point
	server.StartTLS()
	t.Cleanup(server.Close)
	l.set(func() { l.address = server.Listener.Addr().String() })
}

// probeNow collects as a reader who comes later, until there is a new probe.
func (l *lab) probeNow(t *testing.T) *v1alpha1.APIServiceProbe {
	t.Helper()
	before := len(l.collect(t).Status.Probes)
	var object *v1alpha1.APIServiceProbe
	waitFor(t, "a new probe", func() bool {
		l.later(askedAge)
		object = l.collect(t)
		return len(object.Status.Probes) > before || len(object.Status.Probes) == keptProbes
	})
	return object
}

func (l *lab) collect(t *testing.T) *v1alpha1.APIServiceProbe {
	t.Helper()
	objects, err := l.Collect(t.Context())
	if err != nil || len(objects) == 0 {
		t.Fatalf("collected %v, %v", objects, err)
	}
	return objects[0].(*v1alpha1.APIServiceProbe)
}

func answer(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/apis/wardle.example.com/v1" || r.Header.Get("X-Remote-User") != proberName {
			status = http.StatusTeapot
		}
		w.WriteHeader(status)
		fmt.Fprint(w, "body that is not shown")
	}
}
