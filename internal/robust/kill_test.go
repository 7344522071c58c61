package robust

import (
	"math/rand/v2"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestKill kills the server again and again while clients write, sometimes
// while it starts or stops, and looks after each kill whether everything that was
// acknowledged is there, whether the revision has gone back, and in the end
// whether one order of all calls explains all answers.
func TestKill(t *testing.T) {
	t.Parallel()
	rounds := size(5, 50)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	k := &killing{
		server: newServer(t), history: newHistory(),
		ledger: &ledger{keys: map[string]*private{}},
	}
	early, stopping := size(2, 10), 0
	for range early { // the first start of all
		k.killEarly(random.IntN(2) == 0)
	}
	for round := range rounds {
		if round%3 == 2 {
			k.killEarly(random.IntN(2) == 0)
			early++
		}
		k.start()
		k.verify(round - 1)
		w := startWorkload(k.server, k.history, k.ledger, round, int64(20+random.IntN(200)), seed)
		late := round%4 == 3
		w.kill(k.server, late)
		if late {
			stopping++
		}
	}
	k.start()
	k.verify(rounds - 1)
	k.stop()
	k.mustOnlyRise()
	k.history.mustBeLinearizable(t)
	sort.Slice(k.starts, func(i, j int) bool { return k.starts[i] < k.starts[j] })
	t.Logf("%d kills under load (%d of them while stopping), %d while starting, %d objects, %d acknowledged writes with a revision; ready again after %s to %s, median %s",
		rounds, stopping, early, len(k.ledger.keys), len(k.history.acks), k.starts[0], k.starts[len(k.starts)-1], k.starts[len(k.starts)/2])
}

// killing is a server that is killed.
type killing struct {
	*server
	history  *history
	ledger   *ledger
	revision int64 // the highest that the server has told
	starts   []time.Duration
}

func (k *killing) start() {
	k.t.Helper()
	begun := time.Now()
	k.server.start()
	k.starts = append(k.starts, time.Since(begun).Round(time.Millisecond))
}

// killEarly kills the server while it starts: when it has the data directory,
// or when its etcd listens.
func (k *killing) killEarly(listening bool) {
	k.t.Helper()
	k.launch()
	must(k.t, k.await(func() bool { return listening && k.etcdListens() || !listening && k.locked() }))
	k.kill()
}

// verify compares what the server has with what it must have, and reads the
// shared keys of the last round into the history.
func (k *killing) verify(lastRound int) {
	k.t.Helper()
	ctx, client := deadline(k.t), k.client()
	found := map[string]string{}
	version, err := each(ctx, client, 500, func(m *corev1.ConfigMap) { found[m.Name] = m.Data["value"] })
	must(k.t, err)
	revision, err := strconv.ParseInt(version, 10, 64)
	must(k.t, err)
	for _, a := range k.history.acks {
		k.revision = max(k.revision, a.revision)
	}
	if revision < k.revision {
		k.t.Errorf("the revision has gone back to %d, after %d was told", revision, k.revision)
	}
	k.revision = revision
	k.compare(found)
	for i := range sharedKeys {
		if lastRound < 0 {
			break
		}
		q := call{verb: get, key: sharedKey(lastRound, i)}
		begun := k.history.now()
		object, err := client.CoreV1().ConfigMaps(namespace).Get(ctx, q.key, metav1.GetOptions{})
		a := answer{outcome: outcomeOf(err)}
		if a.outcome == unknown {
			k.t.Fatal(err)
		}
		if a.outcome == done {
			a.value = object.Data["value"]
		}
		k.history.add(-1, begun, q, a, 0)
	}
}

// compare holds what was found against the ledger, and settles what was open.
func (k *killing) compare(found map[string]string) {
	k.t.Helper()
	for key, p := range k.ledger.keys {
		value := found[key]
		if value != p.value && (p.maybe == nil || value != *p.maybe) {
			k.t.Errorf("%s is %q, want %q, which was acknowledged", key, value, p.value)
		}
		p.value, p.maybe = value, nil
	}
	for key := range found {
		if strings.HasPrefix(key, "private-") && k.ledger.keys[key] == nil {
			k.t.Errorf("%s is there, and nobody has written it", key)
		}
	}
}

// mustOnlyRise checks that a write that began after another was acknowledged
// has the higher revision, and that no revision was given twice.
func (k *killing) mustOnlyRise() {
	k.t.Helper()
	byEnd := append([]ack{}, k.history.acks...)
	byBegin := append([]ack{}, k.history.acks...)
	sort.Slice(byEnd, func(i, j int) bool { return byEnd[i].ended < byEnd[j].ended })
	sort.Slice(byBegin, func(i, j int) bool { return byBegin[i].begun < byBegin[j].begun })
	next, highest := 0, ack{}
	given := map[int64]call{}
	for _, a := range byBegin {
		for ; next < len(byEnd) && byEnd[next].ended < a.begun; next++ {
			if byEnd[next].revision > highest.revision {
				highest = byEnd[next]
			}
		}
		if a.revision <= highest.revision {
			k.t.Errorf("%v has revision %d, though %v had %d before", a.call, a.revision, highest.call, highest.revision)
		}
		if other, twice := given[a.revision]; twice {
			k.t.Errorf("revision %d is of both %v and %v", a.revision, a.call, other)
		}
		given[a.revision] = a.call
	}
}
