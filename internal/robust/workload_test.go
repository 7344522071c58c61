package robust

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

const (
	writers    = 6 // clients that write at the same time
	sharedKeys = 4 // that all of them write, new ones in each round
)

// ledger says what each object of one writer must be. Only between two rounds
// may anybody but its writer read it.
type ledger struct {
	mu   sync.Mutex
	keys map[string]*private
}

// private is an object that only one client writes, one write at a time.
type private struct {
	value string // acknowledged; absent: it does not exist
	maybe *string
}

// workload is one round of clients at work on a server that is about to be killed.
type workload struct {
	t       testing.TB
	history *history
	ledger  *ledger
	round   int
	acks    atomic.Int64
	enough  chan struct{} // closed when target calls have succeeded
	target  int64
	killed  atomic.Bool // from here on the server may be gone
	wg      sync.WaitGroup
	ended   chan struct{} // closed when all clients have ended
}

// startWorkload starts the clients of a round. They go on until each has met an
// error that leaves open what has happened.
func startWorkload(s *server, h *history, l *ledger, round int, target int64, seed uint64) *workload {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	w := &workload{t: s.t, history: h, ledger: l, round: round, target: target,
		enough: make(chan struct{}), ended: make(chan struct{})}
	for i := range writers {
		c := &client{
			workload: w, id: round*writers + i, core: s.client(),
			rand: rand.New(rand.NewPCG(seed, uint64(round*writers+i))),
			seen: map[string]*corev1.ConfigMap{},
		}
		w.wg.Go(func() { c.work(ctx) })
	}
	go func() {
		w.wg.Wait()
		cancel()
		close(w.ended)
	}()
	return w
}

// kill kills s when enough was written, or asks it to stop and kills it as soon
// as it does, and returns when all clients have noticed.
func (w *workload) kill(s *server, stopping bool) {
	w.t.Helper()
	select {
	case <-w.enough:
	case <-w.ended:
		w.t.Fatal("the clients have stopped before the server was killed")
	}
	w.killed.Store(true)
	if stopping {
		s.signal(syscall.SIGTERM)
		s.awaitOutput("stopping; a second signal ends at once")
	}
	s.kill()
	<-w.ended
}

// client is one of them. It has a connection of its own.
type client struct {
	*workload
	id   int
	core kubernetes.Interface
	rand *rand.Rand
	seq  int
	seen map[string]*corev1.ConfigMap // as it has last read the shared keys
	mine []string
}

func (c *client) work(ctx context.Context) {
	for {
		write := c.private
		if c.rand.IntN(2) == 0 {
			write = c.shared
		}
		result, err := write(ctx)
		if result == unknown {
			if !c.killed.Load() {
				c.t.Errorf("the server has not been killed yet, and answers: %v", err)
			}
			return
		}
		if result == done && c.acks.Add(1) == c.target {
			close(c.enough)
		}
	}
}

// unique is a value that nobody else writes.
func (c *client) unique() string {
	c.seq++
	return fmt.Sprintf("%d.%d", c.id, c.seq)
}

func sharedKey(round, i int) string { return fmt.Sprintf("shared-%d-%d", round, i) }

// shared does something to a key that all clients use, and records it.
func (c *client) shared(ctx context.Context) (outcome, error) {
	key := sharedKey(c.round, c.rand.IntN(sharedKeys))
	seen := c.seen[key]
	q := call{verb: get, key: key}
	switch n := c.rand.IntN(10); {
	case seen == nil && n < 6:
		q.verb, q.value = create, c.unique()
	case seen != nil && n < 4:
		q.verb, q.expected, q.value = update, seen.Data["value"], c.unique()
	case seen != nil && n < 6:
		q.verb, q.expected = remove, seen.Data["value"]
	}
	begun := c.history.now()
	object, err := c.do(ctx, q, seen)
	a := answer{outcome: outcomeOf(err)}
	if q.verb == get && a.outcome == done {
		a.value = object.Data["value"]
	}
	c.history.add(c.id, begun, q, a, revisionOf(c.t, object))
	if object != nil || a.outcome == missing || q.verb == remove {
		c.seen[key] = object
	}
	return a.outcome, err
}

// do asks the server. The object is what it has answered with, nil for none.
func (c *client) do(ctx context.Context, q call, seen *corev1.ConfigMap) (object *corev1.ConfigMap, err error) {
	maps := c.core.CoreV1().ConfigMaps(namespace)
	switch q.verb {
	case create:
		object, err = maps.Create(ctx, configMap(q.key, q.value), metav1.CreateOptions{})
	case update:
		changed := configMap(q.key, q.value)
		changed.ResourceVersion = seen.ResourceVersion
		object, err = maps.Update(ctx, changed, metav1.UpdateOptions{})
	case remove:
		version := seen.ResourceVersion
		err = maps.Delete(ctx, q.key, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &version}})
	default:
		object, err = maps.Get(ctx, q.key, metav1.GetOptions{})
	}
	if err != nil || q.verb == remove {
		return nil, err
	}
	return object, nil
}

// private creates, changes or deletes an object that nobody else touches. Each
// of its answers is certain: anything but success is a bug, until the server is
// killed.
func (c *client) private(ctx context.Context) (outcome, error) {
	maps := c.core.CoreV1().ConfigMaps(namespace)
	var key, value string
	var err error
	switch n := c.rand.IntN(10); {
	case len(c.mine) == 0 || n < 5:
		key = fmt.Sprintf("private-%d-%d", c.id, c.seq)
		value = c.unique()
		c.mine = append(c.mine, key)
		c.intend(key, value)
		_, err = maps.Create(ctx, configMap(key, value), metav1.CreateOptions{})
	case n < 9:
		key, value = c.mine[c.rand.IntN(len(c.mine))], c.unique()
		c.intend(key, value)
		_, err = maps.Update(ctx, configMap(key, value), metav1.UpdateOptions{})
	default:
		last := len(c.mine) - 1
		key, c.mine = c.mine[last], c.mine[:last]
		c.intend(key, absent)
		err = maps.Delete(ctx, key, metav1.DeleteOptions{})
	}
	result := outcomeOf(err)
	switch result {
	case done:
		c.acknowledge(key)
	case unknown:
	default:
		c.t.Errorf("writing %s, which only one client writes: %v", key, err)
	}
	return result, err
}

func (l *ledger) intend(key, value string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.keys[key] == nil {
		l.keys[key] = &private{}
	}
	l.keys[key].maybe = &value
}

func (l *ledger) acknowledge(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.keys[key]
	p.value, p.maybe = *p.maybe, nil
}

func (c *client) intend(key, value string) { c.ledger.intend(key, value) }
func (c *client) acknowledge(key string)   { c.ledger.acknowledge(key) }

// revisionOf returns the resourceVersion of an object, 0 of none.
func revisionOf(t testing.TB, object *corev1.ConfigMap) int64 {
	if object == nil {
		return 0
	}
	n, err := strconv.ParseInt(object.ResourceVersion, 10, 64)
	if err != nil {
		t.Errorf("reading a resourceVersion: %v", err)
	}
	return n
}
