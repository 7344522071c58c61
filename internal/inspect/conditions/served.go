package conditions

import (
	"context"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// TypeServed is the type of the transition that tells when the resource of a
// definition was first in discovery. It is no condition of the definition.
const TypeServed = "Served"

const (
	servedFirst   = 10 * time.Millisecond
	servedSlowest = time.Second
	servedGiveUp  = time.Minute
)

// serving is a definition that is established and not yet seen in discovery.
type serving struct {
	entry    *entry
	key      objectKey
	known    *observed
	group    string
	versions []string
	plural   string

	next  time.Time
	delay time.Duration
	until time.Time
}

// expect begins to wait for a definition; the lock is held.
func (t *Transitions) expect(e *entry, known *observed, s state) {
	if t.config.Served == nil {
		return
	}
	now := t.config.Now()
	waiting := &serving{
		entry: e, key: s.key, known: known, group: s.definition.Spec.Group, plural: s.definition.Spec.Names.Plural,
		versions: servedVersions(s.definition), next: now, delay: servedFirst, until: now.Add(servedGiveUp),
	}
	t.waiting = append(t.waiting, waiting)
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

func servedVersions(definition *apiextensionsv1.CustomResourceDefinition) []string {
	var versions []string
	for i := range definition.Spec.Versions {
		if definition.Spec.Versions[i].Served {
			versions = append(versions, definition.Spec.Versions[i].Name)
		}
	}
	return versions
}

// waitServed asks for what is waited for, less and less often, until ctx is done.
// While nothing is waited for it sleeps.
func (t *Transitions) waitServed(ctx context.Context) {
	timer := time.NewTimer(servedGiveUp)
	defer timer.Stop()
	for {
		if due, ok := t.nextDue(); ok {
			timer.Reset(max(0, due.Sub(t.config.Now())))
		} else {
			timer.Stop()
		}
		select {
		case <-ctx.Done():
			return
		case <-t.wake:
		case <-timer.C:
		}
		t.askServed(ctx)
	}
}

func (t *Transitions) nextDue() (due time.Time, ok bool) {
	t.lock.Lock()
	defer t.lock.Unlock()
	for _, one := range t.waiting {
		if !ok || one.next.Before(due) {
			due, ok = one.next, true
		}
	}
	return due, ok
}

// askServed asks for all that is due. The lock is not held meanwhile.
func (t *Transitions) askServed(ctx context.Context) {
	t.lock.Lock()
	waiting := t.waiting
	t.waiting = nil
	t.lock.Unlock()
	var still []*serving
	for _, one := range waiting {
		if now := t.config.Now(); !one.next.After(now) {
			one.next, one.delay = now.Add(one.delay), min(one.delay*3/2, servedSlowest)
			if t.isServed(ctx, one) {
				t.served(one)
				continue
			}
		}
		if t.worthWaiting(one) {
			still = append(still, one)
		}
	}
	t.lock.Lock()
	defer t.lock.Unlock()
	t.waiting = append(t.waiting, still...)
}

func (t *Transitions) isServed(ctx context.Context, one *serving) bool {
	for _, version := range one.versions {
		if !t.config.Served(ctx, one.group, version, one.plural) {
			return false
		}
	}
	return len(one.versions) > 0
}

// served notes that a resource is in discovery.
func (t *Transitions) served(one *serving) {
	t.lock.Lock()
	defer t.lock.Unlock()
	if t.objects[one.key] != one.known {
		return
	}
	now := t.config.Now()
	one.entry.served.Store(int64(max(1, now.Sub(one.known.seen))))
	e := t.entry(one.key, one.known.uid, TypeServed, now)
	e.spec.To, e.spec.Reason = string(apiextensionsv1.ConditionTrue), "InDiscovery"
	e.spec.Message = "all served versions are in discovery"
	e.served.Store(one.entry.served.Load())
	t.config.Append(e)
}

func (t *Transitions) worthWaiting(one *serving) bool {
	t.lock.Lock()
	defer t.lock.Unlock()
	return t.objects[one.key] == one.known && t.config.Now().Before(one.until)
}
