package fakenodes

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/kapi-dev/kapi/internal/fault"
)

// QueueName is the name of the work queue in metrics.
const QueueName = "fake_nodes"

const (
	// workers bounds the requests that are under way at once: many pods that begin
	// together shall not crowd out everybody else.
	workers = 10
	// retryFirst and retryLongest bound the wait after an error.
	retryFirst   = 100 * time.Millisecond
	retryLongest = 30 * time.Second
	// settle is how long to wait for the informer to show what was just written, or
	// what somebody else wrote first.
	settle = 100 * time.Millisecond
	// lookAgain is when to look after a write that has no event when it comes to
	// nothing, or for an address that has become free.
	lookAgain = 2 * time.Second
)

// Config is what the nodes need. All fields but Clock and Families are required.
type Config struct {
	// Count is the number of nodes, from 1 to MaxNodes.
	Count int
	// Client returns a client that acts as system:node:NAME in the group
	// system:nodes. It registers the node, writes its status and lease, the status of
	// its pods and events about them, and deletes its pods.
	Client func(node string) (kubernetes.Interface, error)
	// Admin does what a node may not: it takes the taint not-ready off, and deletes
	// the nodes that are too many, their leases and their pods.
	Admin kubernetes.Interface
	// Informers are shared. The caller starts them after New. Objects in them may come
	// without managed fields.
	Informers informers.SharedInformerFactory
	// Clock is the real one if it is nil.
	Clock clock.WithTicker
	// Families are those of the addresses of pods, the first one first: those of the
	// server's Services. It is IPv4 if there are none.
	Families []corev1.IPFamily
	// KubeletVersion is what the nodes say they run, such as v1.37.2.
	KubeletVersion string
}

func (c Config) validate() error {
	if c.Count < 1 || c.Count > MaxNodes {
		return fault.WithHint(fault.Usagef("constructing fake nodes: the number of nodes is %d, allowed is 1 to %d", c.Count, MaxNodes),
			"Give --fake-nodes a number from 1 to %d.", MaxNodes)
	}
	if c.Client == nil || c.Admin == nil || c.Informers == nil || c.KubeletVersion == "" {
		return errors.New("constructing fake nodes: clients, informers and a version are required")
	}
	return nil
}

// Nodes keeps the nodes and their pods alive. It is for one call of Run.
type Nodes struct {
	config Config
	clock  clock.WithTicker
	// byName is fixed from New on.
	byName map[string]*machine
	// surplus are the names of the nodes that are too many: those that were there
	// when Run began.
	surplus   sync.Map
	addresses *addresses
	complaint complaints
	pods      corelisters.PodLister
	nodes     corelisters.NodeLister
	synced    []cache.InformerSynced
	queue     workqueue.TypedRateLimitingInterface[item]
	// later holds what has its time, and feeds the queue. It has no name and no
	// metrics: in those of the queue, a retry is what has failed.
	later workqueue.TypedDelayingInterface[item]
}

// item is a piece of work. The queue hands out each to one worker at a time.
type item struct {
	task            task
	namespace, name string
}

// task says what kind of work an item is.
type task string

const (
	taskRegister task = "register"
	taskLease    task = "lease"
	taskSurplus  task = "surplus"
	taskPod      task = "pod"
)

// New makes the nodes and requests its informers from the factory. Nothing happens
// before Run.
func New(ctx context.Context, config Config) (*Nodes, error) {
	if err := config.validate(); err != nil {
		return nil, err
	}
	if config.Clock == nil {
		config.Clock = clock.RealClock{}
	}
	if len(config.Families) == 0 {
		config.Families = []corev1.IPFamily{corev1.IPv4Protocol}
	}
	n := &Nodes{
		config:    config,
		clock:     config.Clock,
		byName:    make(map[string]*machine, config.Count),
		addresses: newAddresses(),
		complaint: complaints{made: make(map[complaintKey]bool)},
		pods:      config.Informers.Core().V1().Pods().Lister(),
		nodes:     config.Informers.Core().V1().Nodes().Lister(),
	}
	for number := 1; number <= config.Count; number++ {
		client, err := config.Client(nameOf(number))
		if err != nil {
			return nil, fmt.Errorf("making the client of %s: %w", nameOf(number), err)
		}
		n.byName[nameOf(number)] = &machine{number: number, client: client}
	}
	// The queues start goroutines, which Run ends; without Run, the end of ctx does.
	n.queue = workqueue.NewTypedRateLimitingQueueWithConfig(
		workqueue.NewTypedItemExponentialFailureRateLimiter[item](retryFirst, retryLongest),
		workqueue.TypedRateLimitingQueueConfig[item]{Name: QueueName, Clock: config.Clock},
	)
	n.later = workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[item]{Clock: config.Clock})
	context.AfterFunc(ctx, n.shutDown)

	pods, err := config.Informers.Core().V1().Pods().Informer().AddEventHandler(n.podHandler())
	if err != nil {
		return nil, fmt.Errorf("watching pods: %w", err)
	}
	nodes, err := config.Informers.Core().V1().Nodes().Informer().AddEventHandler(n.nodeHandler())
	if err != nil {
		return nil, fmt.Errorf("watching nodes: %w", err)
	}
	n.synced = []cache.InformerSynced{pods.HasSynced, nodes.HasSynced}
	return n, nil
}

// Run keeps the nodes alive until ctx is done, and returns when nothing is under
// way any more. The nodes stay as they are: whoever runs next takes them over.
func (n *Nodes) Run(ctx context.Context) {
	defer n.shutDown()
	// The addresses that pods have must be known before others are given out.
	if !cache.WaitForCacheSync(ctx.Done(), n.synced...) {
		return
	}
	n.begin(ctx)

	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for n.work(ctx) {
			}
		})
	}
	running.Go(n.feed)
	<-ctx.Done()
	n.shutDown()
	running.Wait()
}

func (n *Nodes) shutDown() {
	n.later.ShutDown()
	n.queue.ShutDown()
}

// feed queues what has come to its time, until the queues end.
func (n *Nodes) feed() {
	for {
		it, quit := n.later.Get()
		if quit {
			return
		}
		n.queue.Add(it)
		n.later.Done(it)
	}
}

// begin queues what is to be done without an event: the nodes, their leases
// spread over the interval, and the nodes of an earlier start with more of them.
func (n *Nodes) begin(ctx context.Context) {
	apart := leaseEvery / time.Duration(n.config.Count)
	for name, machine := range n.byName {
		n.queue.Add(item{task: taskRegister, name: name})
		n.later.AddAfter(item{task: taskLease, name: name}, apart*time.Duration(machine.number-1))
	}
	marked, err := n.nodes.List(labels.SelectorFromSet(labels.Set{Label: "true"}))
	if err != nil {
		utilruntime.HandleErrorWithContext(ctx, err, "Listing fake nodes")
	}
	for _, node := range marked {
		if number, ok := numberOf(node.Name); ok && number > n.config.Count {
			n.surplus.Store(node.Name, true)
			n.queue.Add(item{task: taskSurplus, name: node.Name})
		}
	}
}

// work does one item. It says false when the queue has ended.
func (n *Nodes) work(ctx context.Context) bool {
	it, quit := n.queue.Get()
	if quit {
		return false
	}
	defer n.queue.Done(it)
	again, err := n.do(ctx, it)
	switch {
	case ctx.Err() != nil:
	case apierrors.IsConflict(err):
		// Somebody was quicker. What he wrote is on its way here.
		n.queue.AddAfter(it, settle)
	case err != nil:
		utilruntime.HandleErrorWithContext(ctx, err, "Fake node failed, will be tried again",
			"task", it.task, "namespace", it.namespace, "name", it.name)
		n.queue.AddRateLimited(it)
	default:
		n.queue.Forget(it)
		if again > 0 {
			n.later.AddAfter(it, again)
		}
	}
	return true
}

// do does an item and says when to do it again, 0 for not before an event.
func (n *Nodes) do(ctx context.Context, it item) (time.Duration, error) {
	switch it.task {
	case taskRegister:
		return n.register(ctx, it.name)
	case taskLease:
		return n.renew(ctx, it.name)
	case taskSurplus:
		return 0, n.removeSurplus(ctx, it.name)
	case taskPod:
		return n.live(ctx, it.namespace, it.name)
	}
	return 0, fmt.Errorf("there is no task %q", it.task)
}

// nodeHandler looks after a node at once when somebody changes what is its own.
func (n *Nodes) nodeHandler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    n.nodeChanged,
		UpdateFunc: func(_, node any) { n.nodeChanged(node) },
	}
}

func (n *Nodes) nodeChanged(object any) {
	node, ok := object.(*corev1.Node)
	if !ok || n.byName[node.Name] == nil {
		return
	}
	if tainted(node) || !fresh(node, n.config.KubeletVersion, n.clock.Now()) {
		n.queue.Add(item{task: taskRegister, name: node.Name})
	}
}
