// Package controllers runs the controllers that an API server needs to be usable
// alone, inside the process: those of k8s.io/kubernetes/pkg/controller, each made by
// its own constructor, without a controller manager around them. Package catalog is
// the table of what there is.
//
// They are clients of the API. Each acts as the user that upstream gives it, so that
// its rights, the audit log and flow control see what they would see of
// kube-controller-manager. All share one set of informers (see informers), and what
// nobody needs whole is watched as metadata only.
//
//	Manager   which controllers are on, who leads, and how each does
//	term      what is made when this server begins to lead, and goes when it ends
//	construct how each is made: one row a controller, in api.go and workloads.go
//
// The package may import k8s.io/kubernetes, its own subpackages and the leaves.
package controllers

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/kapi-dev/kapi/internal/controllers/catalog"
)

// Config says which controllers run, and with what.
type Config struct {
	// Selected are those that are on.
	Selected catalog.Selection
	// FakeNodes is how many nodes the controller fake-nodes stands in for.
	FakeNodes int
	// KubeletVersion is what these nodes say that they run ("v1.37.2").
	KubeletVersion string
	// Election says how one server among several is found; nil where there can be
	// only one.
	Election *Election

	// SigningCert and SigningKey are the PEM files of the authority that signs
	// certificates. Where they are empty, WhyNotSigning says why nothing is signed.
	SigningCert, SigningKey, WhyNotSigning string
	// ServiceAccountKey is the PEM file of the key that signs tokens of service
	// accounts; empty if somebody else signs them.
	ServiceAccountKey string
	// RootCA are the certificates, as PEM, that verify the server.
	RootCA []byte
}

// Manager knows which controllers there are and how each does, and runs them while
// this server is to.
type Manager struct {
	cfg     Config
	log     klog.Logger
	records []*record

	mu     sync.Mutex
	holder string
	// served is that of the term that runs; nil between terms.
	served *served
}

// New returns a manager that runs nothing yet.
func New(cfg Config) *Manager {
	m := &Manager{cfg: cfg, log: klog.Background()}
	for _, c := range catalog.Controllers() {
		m.records = append(m.records, newRecord(c, cfg.Selected.Has(c.Name)))
	}
	return m
}

// API is the server that the controllers work on.
type API struct {
	// Config reaches it with all rights, as a client that may impersonate.
	Config *rest.Config
	// Changed calls back after each change of the APIs that are served: of a
	// CustomResourceDefinition or an APIService.
	Changed func(callback func()) error
}

// Run runs the controllers until ctx is done and all have stopped. What goes wrong
// is logged, and shown in the objects of the controllers.
func (m *Manager) Run(ctx context.Context, api API) {
	if !m.cfg.Selected.Any() {
		return
	}
	if err := api.Changed(m.changed); err != nil {
		m.log.Error(err, "New APIs will be noticed late")
	}
	if m.cfg.Election == nil {
		m.lead(ctx, api)
		return
	}
	m.elect(ctx, api)
}

// changed is called when the APIs that are served have changed.
func (m *Manager) changed() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.served != nil {
		m.served.changed()
	}
}

func (m *Manager) setServed(s *served) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.served = s
}

// retryTerm is how long a term that could not be begun is not tried again.
const retryTerm = 5 * time.Second

// lead runs the controllers as the server that is to, until ctx is done. What could
// not be begun, as it is when etcd does not answer, is tried again.
func (m *Manager) lead(ctx context.Context, api API) {
	for ctx.Err() == nil {
		err := m.serve(ctx, api)
		if err == nil || ctx.Err() != nil {
			return
		}
		m.log.Error(err, "Controllers could not be started and will be", "after", retryTerm)
		select {
		case <-ctx.Done():
		case <-time.After(retryTerm):
		}
	}
}

// serve is one term. It returns when ctx is done and all have stopped, or with the
// error that kept it from beginning.
func (m *Manager) serve(ctx context.Context, api API) error {
	// Also what upstream starts with the context of a constructor ends with the term.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m.each(func(r *record) { r.set(phaseStarting, "") })
	defer m.each(func(r *record) { r.set(phaseStandby, "") })
	t, err := newTerm(ctx, m.cfg, api)
	if err != nil {
		m.each(func(r *record) { r.fail(err) })
		return err
	}
	m.setServed(t.served)
	defer m.setServed(nil)
	t.run(ctx, m.records)
	return nil
}

// each calls do for the controllers that are on.
func (m *Manager) each(do func(*record)) {
	for _, r := range m.records {
		if r.enabled {
			do(r)
		}
	}
}
