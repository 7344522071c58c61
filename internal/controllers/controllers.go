// Package controllers runs the controllers that an API server needs to be usable
// alone, inside the process: those of k8s.io/kubernetes/pkg/controller, each made by
// its own constructor, without a controller manager around them. Package catalog is
// the table of what there is.
//
// They are clients of the API. Each acts as the user that upstream gives it, so that
// its rights, the audit log and flow control see what they would see of
// kube-controller-manager. All share one set of informers (package informers), and
// what nobody needs whole is watched as metadata only. With several servers, package
// election finds the one that runs them; package record keeps how each does.
//
//	Manager   which controllers are on, and who runs them
//	term      what is made when this server begins to run them, and goes when it ends
//	construct how each is made: one row a controller
//
// The package may import k8s.io/kubernetes, its own subpackages and the leaves.
package controllers

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/controllers/catalog"
	"github.com/kapi-dev/kapi/internal/controllers/election"
	"github.com/kapi-dev/kapi/internal/controllers/informers"
	"github.com/kapi-dev/kapi/internal/controllers/record"
)

// Config says which controllers run, and with what.
type Config struct {
	// Log is for what a person should read: who runs the controllers, and what is amiss.
	Log klog.Logger
	// Selected are those that are on.
	Selected catalog.Selection
	// FakeNodes is how many nodes the controller fake-nodes stands in for.
	FakeNodes int
	// Families are those of the Services' addresses, the first one first. Pods on fake
	// nodes have an address of each.
	Families []corev1.IPFamily
	// KubeletVersion is what these nodes say that they run ("v1.37.2").
	KubeletVersion string
	// NodeAuthorizer says that the server lets nodes do what is theirs.
	NodeAuthorizer bool
	// Identity names this server among several that could run the controllers.
	Identity string
	// Elect says that there can be several: one of them is elected, and LeaseDuration
	// is how long the others wait for one that is gone. See election.Config.
	Elect         bool
	LeaseDuration time.Duration

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
	records []*record.Record
	// made are the constructors by name, and retry is how long after a failure there
	// is another try; tests have their own.
	made  map[string]constructor
	retry time.Duration

	mu     sync.Mutex
	holder string
	// fence is that of the last term.
	fence election.Fence
	// served is that of the term that runs; nil between terms.
	served *informers.Served
}

// New returns a manager that runs nothing yet.
func New(cfg Config) *Manager { return newManager(cfg, constructors(), retryTerm) }

func newManager(cfg Config, made map[string]constructor, retry time.Duration) *Manager {
	m := &Manager{cfg: cfg, log: cfg.Log, made: made, retry: retry}
	for _, c := range catalog.Controllers() {
		r := record.New(c, cfg.Selected.Has(c.Name))
		if why := made[c.Name].idle(cfg); r.Enabled && why != "" {
			r.Disable(why)
		}
		m.records = append(m.records, r)
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
	m.sayIdle()
	if err := api.Changed(m.changed); err != nil {
		m.log.Error(err, "New APIs will be noticed late")
	}
	if !m.cfg.Elect {
		m.setHolder(m.cfg.Identity)
		m.lead(ctx, api, election.Fence{})
		m.setHolder("")
		return
	}
	m.each((*record.Record).Rest)
	election.Run(ctx, election.Config{
		Identity: m.cfg.Identity, LeaseDuration: m.cfg.LeaseDuration, Client: api.Config, Log: m.log,
		Lead: func(ctx context.Context, fence election.Fence) { m.lead(ctx, api, fence) }, Holder: m.setHolder,
	})
}

// sayIdle says which controllers were asked for and have nothing to do because of how
// the server was started. Those whose API or gate is off were not meant.
func (m *Manager) sayIdle() {
	for _, r := range m.records {
		if off := m.made[r.Name].off; r.Enabled && off != nil && off(m.cfg) != "" {
			m.log.Info("Controller has nothing to do", "controller", r.Name, "why", off(m.cfg))
		}
	}
}

// changed is called when the APIs that are served have changed.
func (m *Manager) changed() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.served != nil {
		m.served.Changed()
	}
}

func (m *Manager) setServed(s *informers.Served) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.served = s
}

const (
	// retryTerm is how long a term that could not be begun is not tried again, nor a
	// controller that could not be made; for that it doubles each time.
	retryTerm = 5 * time.Second
	// retryLongest is what it doubles to.
	retryLongest = 5 * time.Minute
)

// lead runs the controllers as the server that is to, until ctx is done. What could
// not be begun, as it is when etcd does not answer, is tried again.
func (m *Manager) lead(ctx context.Context, api API, fence election.Fence) {
	defer m.each((*record.Record).Rest)
	api.Config = rest.CopyConfig(api.Config)
	api.Config.Wrap(fence.Wrap)
	m.setFence(fence)
	for ctx.Err() == nil {
		err := m.serve(ctx, api)
		if err == nil || ctx.Err() != nil {
			return
		}
		m.log.Error(err, "Controllers can not be started, which is tried again", "every", m.retry)
		sleep(ctx, m.retry)
	}
}

// serve is one term. It returns when ctx is done and all have stopped, or with the
// error that kept it from beginning.
func (m *Manager) serve(ctx context.Context, api API) error {
	// Also what upstream starts with the context of a constructor ends with the term.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m.each(func(r *record.Record) { r.Enter(record.Starting, "") })
	t, err := newTerm(ctx, m, api)
	if err != nil {
		m.each(func(r *record.Record) { r.Fail(err) })
		return err
	}
	m.setServed(t.served)
	defer m.setServed(nil)
	t.run(ctx, m.records)
	return nil
}

func (m *Manager) setHolder(identity string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.holder = identity
}

func (m *Manager) setFence(fence election.Fence) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fence = fence
}

// Objects returns all controllers as they are now, those that are off among them, in
// the order of the catalog; see record.Record.Object for what is left open.
func (m *Manager) Objects() []*v1alpha1.Controller {
	m.mu.Lock()
	holder, fenced := m.holder, m.fence.Closed()
	m.mu.Unlock()
	objects := make([]*v1alpha1.Controller, 0, len(m.records))
	for _, r := range m.records {
		objects = append(objects, r.Object(holder, m.cfg.Identity, fenced))
	}
	return objects
}

// HandleError logs an error that upstream does no more about, if it is one of a
// controller. It is for globals.OnError; see record.HandleError.
func (m *Manager) HandleError(ctx context.Context, err error, message string, values ...any) (logged bool) {
	return record.HandleError(ctx, m.records, err, message, values...)
}

// each calls do for the controllers that are on.
func (m *Manager) each(do func(*record.Record)) {
	for _, r := range m.records {
		if r.Enabled {
			do(r)
		}
	}
}
