package conditions

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	fcache "k8s.io/client-go/tools/cache/testing"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/inspect/store"
)

// patience bounds waits that end as soon as what is waited for is there.
const patience = 30 * time.Second

// waitFor asks until the answer is yes.
func waitFor(t *testing.T, what string, yes func() bool) {
	t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	again := time.NewTicker(2 * time.Millisecond)
	defer again.Stop()
	for !yes() {
		select {
		case <-deadline.C:
			t.Fatalf("%s: not within %v", what, patience)
		case <-again.C:
		}
	}
}

// informerOf runs a real informer on a source that the test writes to.
func informerOf(t *testing.T, source *fcache.FakeControllerSource, example runtime.Object) cache.SharedIndexInformer {
	t.Helper()
	informer := cache.NewSharedIndexInformer(source, example, 0, cache.Indexers{})
	inBackground(t, func(ctx context.Context) { informer.RunWithContext(ctx) })
	if !cache.WaitForCacheSync(t.Context().Done(), informer.HasSynced) {
		t.Fatal("the informer did not sync")
	}
	return informer
}

// inBackground runs until the end of the test, which waits for it.
func inBackground(t *testing.T, run func(context.Context)) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { run(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
}

// history is a log of transitions.
type history struct{ *store.Log }

func newHistory() history {
	return history{store.NewLog(store.LogOptions{Revision: store.NewRevision(time.Now()), Capacity: DefaultCapacity, Buffer: 100})}
}

func (h history) all(t *testing.T) []*v1alpha1.ConditionTransition {
	t.Helper()
	objects, _, err := h.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var all []*v1alpha1.ConditionTransition
	for _, o := range objects {
		all = append(all, o.(*v1alpha1.ConditionTransition))
	}
	return all
}

// authority issues certificates for tests.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         []byte
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"},
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(48 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{certificate, key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})}
}

// issue returns a certificate for a name that ends after a time.
func (a *authority) issue(t *testing.T, name string, ends time.Duration) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-24 * time.Hour), NotAfter: time.Now().Add(ends),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}
}
