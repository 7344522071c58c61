package conditions

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/inspect/store"
)

const (
	keptProbes   = 20
	probeWorkers = 4
	// probeTime bounds one probe, dialTime its connection.
	probeTime = 5 * time.Second
	dialTime  = 2 * time.Second
	// A reader is shown a probe that is at most askedAge old; while somebody
	// watches, APIServices that are not available are probed every watchedAge.
	askedAge   = 5 * time.Second
	watchedAge = 30 * time.Second
	// watchGap tells a watch, which collects twice a second, from a single reader.
	watchGap = 2 * time.Second
	// readerWait is how long a single reader waits for probes.
	readerWait = 1500 * time.Millisecond
)

// ProbesConfig is what Probes need.
type ProbesConfig struct {
	// ServerID is the identity of the API server.
	ServerID string
	// APIServices is an informer for APIServices, started by its owner.
	APIServices cache.SharedIndexInformer
	// Service returns a service, from a lister that knows mapped services too.
	Service func(namespace, name string) (*corev1.Service, error)
	// Resolve returns the URL of the server behind a service (the aggregator's ServiceResolver).
	Resolve func(namespace, name string, port int32) (*url.URL, error)
	// ClientCert returns the certificate by which the aggregator proves to be one
	// (--proxy-client-cert-file); nil when it has none.
	ClientCert func() (tls.Certificate, error)
	// Dial opens connections; a net.Dialer when nil.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// UnavailableAnswers returns how many requests were answered 503 in place of an
	// APIService.
	UnavailableAnswers func(apiService string) int64
	// Changed is called after each probe; may be nil.
	Changed func()
	// Now is the clock; time.Now when nil.
	Now func() time.Time
}

// Probes tries the ways to aggregated servers. It is safe for use by many goroutines.
type Probes struct {
	config ProbesConfig
	queue  workqueue.TypedInterface[string]
	limit  time.Duration // of one probe

	lock      sync.Mutex
	running   bool
	collected time.Time
	probed    map[string]*probed
}

// probed is what was found of one APIService.
type probed struct {
	uid       string
	available string           // its condition, as last seen
	probes    []v1alpha1.Probe // newest first; the slice is never changed, only replaced
	healthy   healthy
	// settled is closed when the probe that is queued or running has ended; nil when none is.
	settled chan struct{}
}

// NewProbes returns Probes that have tried nothing yet.
func NewProbes(config ProbesConfig) *Probes {
	if config.Now == nil {
		config.Now = time.Now
	}
	if config.Dial == nil {
		config.Dial = (&net.Dialer{}).DialContext
	}
	return &Probes{config: config, queue: workqueue.NewTyped[string](), limit: probeTime, probed: map[string]*probed{}}
}

// Run probes what Collect asks for, and APIServices whose Available condition
// changes, until ctx is done. It can run once.
func (p *Probes) Run(ctx context.Context) error {
	p.setRunning(true)
	defer p.setRunning(false)
	handle, err := p.config.APIServices.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { p.seen(object) },
		UpdateFunc: func(_, object any) { p.seen(object) },
	})
	if err != nil {
		return fmt.Errorf("observing APIServices: %w", err)
	}
	defer func() { _ = p.config.APIServices.RemoveEventHandler(handle) }() // it fails if the informer has stopped, which is as good
	var workers sync.WaitGroup
	for range probeWorkers {
		workers.Go(func() { p.work(ctx) })
	}
	<-ctx.Done()
	p.queue.ShutDown()
	workers.Wait()
	return nil
}

func (p *Probes) setRunning(running bool) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.running = running; running {
		return
	}
	for _, known := range p.probed { // nothing will end what is still queued
		known.settle()
	}
}

func (k *probed) settle() {
	if k.settled != nil {
		close(k.settled)
		k.settled = nil
	}
}

// seen probes an APIService whose condition has changed, but not one that is seen
// for the first time: nobody has asked.
func (p *Probes) seen(object any) {
	service, ok := object.(*apiregistrationv1.APIService)
	if !ok || service.Spec.Service == nil {
		return
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	known := p.known(service)
	before := known.available
	known.available = availableOf(service)
	if before != "" && before != known.available {
		p.enqueue(service.Name, known)
	}
}

// known returns what is known of an APIService; the lock is held.
func (p *Probes) known(service *apiregistrationv1.APIService) *probed {
	known := p.probed[service.Name]
	if known == nil || known.uid != string(service.UID) {
		if known != nil {
			known.settle()
		}
		known = &probed{uid: string(service.UID)}
		p.probed[service.Name] = known
	}
	return known
}

// enqueue wants a probe, unless one is under way; the lock is held.
func (p *Probes) enqueue(name string, known *probed) {
	if p.running && known.settled == nil {
		known.settled = make(chan struct{})
		p.queue.Add(name)
	}
}

func (p *Probes) work(ctx context.Context) {
	for {
		name, shutdown := p.queue.Get()
		if shutdown {
			return
		}
		p.probe(ctx, name)
		p.queue.Done(name)
	}
}

// probe tries one APIService, and remembers what came of it.
func (p *Probes) probe(ctx context.Context, name string) {
	object, exists, err := p.config.APIServices.GetStore().GetByKey(name)
	service, ok := object.(*apiregistrationv1.APIService)
	if err != nil || !exists || !ok || service.Spec.Service == nil {
		p.lock.Lock()
		defer p.lock.Unlock()
		if known := p.probed[name]; known != nil {
			known.settle()
		}
		return
	}
	result := p.try(ctx, service)
	p.lock.Lock()
	known := p.known(service)
	if ctx.Err() == nil { // what a stop has cut off says nothing
		known.probes = slices.Concat([]v1alpha1.Probe{result}, known.probes[:min(len(known.probes), keptProbes-1)])
		known.healthy.set(&result, p.config.Now())
	}
	known.settle()
	p.lock.Unlock()
	if p.config.Changed != nil {
		p.config.Changed()
	}
}

// Collect returns an APIServiceProbe for each APIService, by name. It begins
// probes where the last one is too old; a single reader waits a moment for them.
func (p *Probes) Collect(ctx context.Context) ([]store.Object, error) {
	var services []*apiregistrationv1.APIService
	for _, object := range p.config.APIServices.GetStore().List() {
		if service, ok := object.(*apiregistrationv1.APIService); ok {
			services = append(services, service)
		}
	}
	slices.SortFunc(services, func(a, b *apiregistrationv1.APIService) int { return strings.Compare(a.Name, b.Name) })
	p.wait(ctx, p.begin(services))

	p.lock.Lock()
	defer p.lock.Unlock()
	objects := make([]store.Object, 0, len(services))
	for _, service := range services {
		objects = append(objects, p.object(service))
	}
	return objects, nil
}

// begin begins the probes that are due, and returns those that a reader waits for.
func (p *Probes) begin(services []*apiregistrationv1.APIService) (wait []chan struct{}) {
	p.lock.Lock()
	defer p.lock.Unlock()
	now := p.config.Now()
	watched := now.Sub(p.collected) < watchGap
	p.collected = now
	names := make(map[string]bool, len(services))
	for _, service := range services {
		names[service.Name] = true
		if service.Spec.Service == nil {
			continue
		}
		known := p.known(service)
		if known.due(now, watched, availableOf(service)) {
			p.enqueue(service.Name, known)
		}
		if known.settled != nil && !watched {
			wait = append(wait, known.settled)
		}
	}
	for name, known := range p.probed {
		if !names[name] {
			known.settle()
			delete(p.probed, name)
		}
	}
	return wait
}

func (k *probed) due(now time.Time, watched bool, available string) bool {
	if len(k.probes) == 0 {
		return true
	}
	age := now.Sub(k.probes[0].At.Time)
	if watched {
		return age >= watchedAge && (available != string(apiregistrationv1.ConditionTrue) || !k.probes[0].OK)
	}
	return age >= askedAge
}

func (p *Probes) wait(ctx context.Context, settled []chan struct{}) {
	if len(settled) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, readerWait)
	defer cancel()
	for _, one := range settled {
		select {
		case <-one:
		case <-ctx.Done():
			return
		}
	}
}
