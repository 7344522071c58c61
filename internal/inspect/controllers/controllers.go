package controllers

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"k8s.io/component-base/metrics"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/inspect/store"
)

// Config is what Controllers ask.
type Config struct {
	// ServerID is the identity of the API server.
	ServerID string
	// Controllers returns all controllers as they are now, without what the queues
	// tell; the objects are the caller's to change. Nil means that there are none.
	Controllers func() []*v1alpha1.Controller
	// Metrics is where work queues count (legacyregistry.DefaultGatherer); nil means
	// that nothing is known of them.
	Metrics metrics.Gatherer
	// Register registers a metric there (legacyregistry.Register), to learn that it
	// has been; nil means that all metrics are gathered to read a few.
	Register func(metrics.Registerable) error
	// Now is the clock; time.Now when nil.
	Now func() time.Time
}

// Controllers collects. It is safe for use by many goroutines.
type Controllers struct {
	config Config

	// gathering is held while metrics are gathered, and never together with lock:
	// gathering may lead back here (Scraped).
	gathering sync.Mutex
	reader    reader

	lock   sync.Mutex
	queues queues // nil until they were first read
	read   time.Time
	known  map[string]*observed
}

// New returns Controllers that have not looked yet.
func New(config Config) *Controllers {
	if config.Now == nil {
		config.Now = time.Now
	}
	return &Controllers{
		config: config, known: map[string]*observed{}, reader: reader{from: config.Metrics, register: config.Register},
	}
}

// readAgain is how long what was read of the queues is taken as it is.
const readAgain = 250 * time.Millisecond

// Collect returns all controllers (store.Collect), in the order of the configuration.
func (c *Controllers) Collect(context.Context) ([]store.Object, error) {
	all := c.all()
	if anyQueue(all) {
		c.gathering.Lock()
		c.gather()
		c.gathering.Unlock()
	}
	return c.join(all), nil
}

// Scraped is Collect for whoever is collected while metrics are gathered, by this
// package too. It does not wait for that, and tells what was read last.
func (c *Controllers) Scraped(context.Context) ([]store.Object, error) {
	all := c.all()
	if anyQueue(all) && c.gathering.TryLock() {
		c.gather()
		c.gathering.Unlock()
	}
	c.lock.Lock()
	known := c.queues != nil || !anyQueue(all) || c.config.Metrics == nil
	c.lock.Unlock()
	if !known {
		return nil, errors.New("the work queues are being read for the first time")
	}
	return c.join(all), nil
}

func (c *Controllers) all() []*v1alpha1.Controller {
	if c.config.Controllers == nil {
		return nil
	}
	return c.config.Controllers()
}

// anyQueue tells whether there is a reason to read the metrics: of what runs, and of
// what may have run before another server took over.
func anyQueue(all []*v1alpha1.Controller) bool {
	return slices.ContainsFunc(all, func(one *v1alpha1.Controller) bool {
		return len(one.Spec.Queues) > 0 && (runs(one) || reasonOf(one) == v1alpha1.ControllerNotLeader)
	})
}

// gather reads the queues, unless that was just done; gathering is held.
func (c *Controllers) gather() {
	if c.config.Metrics == nil {
		return
	}
	c.lock.Lock()
	fresh := c.queues != nil && c.config.Now().Sub(c.read) < readAgain
	c.lock.Unlock()
	if fresh {
		return
	}
	found, ok := c.reader.read()
	if !ok {
		return
	}
	read := readQueues(found)
	c.lock.Lock()
	defer c.lock.Unlock()
	c.queues, c.read = read, c.config.Now()
}

// join adds what is known of the queues.
func (c *Controllers) join(all []*v1alpha1.Controller) []store.Object {
	c.lock.Lock()
	defer c.lock.Unlock()
	objects := make([]store.Object, 0, len(all))
	names := make(map[string]bool, len(all))
	for _, one := range all {
		one.ServerID = c.config.ServerID
		if c.known[one.Name] == nil {
			c.known[one.Name] = &observed{}
		}
		names[one.Name] = true
		c.known[one.Name].join(one, c.queues.of(one.Spec.Queues), c.read, c.config.Now())
		objects = append(objects, one)
	}
	for name := range c.known {
		if !names[name] {
			delete(c.known, name)
		}
	}
	return objects
}
