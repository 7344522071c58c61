package data

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/fault"
)

const (
	// TracesKept is how many requests are remembered, more than any server keeps.
	TracesKept = 5000
	// LinesKept is how many lines of the log are.
	LinesKept = 5000
	// emptyWatch is the time within which a watch that ends without a word is none: what
	// has taken the connection may have no server behind it.
	emptyWatch = time.Second
)

// feed lists something, then reports its changes, for as long as it is wanted: a
// server that goes away is waited for, and what has changed meanwhile is seen when
// it is back. One goroutine runs it. Its fields are guarded by the hub's lock, but
// for hub, key and again.
type feed struct {
	hub *Hub
	key Key
	// again makes it list at once.
	again chan struct{}

	// cancel ends the goroutine; nil while none runs.
	cancel context.CancelFunc
	// unwanted ends it some time after nobody has wanted it any more.
	unwanted *time.Timer
	// stopped is when it ended.
	stopped time.Time

	store   store
	state   State
	err     error
	at      time.Time
	columns []Column
	gaps    []inspection.Gap
	// broken says that the error is one of the connection, retry when it is tried again.
	broken bool
	retry  time.Time
}

func newFeed(hub *Hub, key Key) *feed {
	f := &feed{hub: hub, key: key, again: make(chan struct{}, 1)}
	switch {
	case key.Logs:
		f.store.keep = LinesKept
	case key.Inspect == v1alpha1.ResourceRequestTraces:
		f.store.keep = TracesKept
	}
	return f
}

// view is what the feed has now. The lock is held.
func (f *feed) view() View {
	objects := f.store.all()
	return View{
		Key: f.key, State: f.state, Objects: objects, Columns: f.columns, Gaps: f.gaps,
		Err: f.err, At: f.at, Revision: f.store.revision,
	}
}

// run ends with ctx only. States come from lists alone: where a watch ends, the next
// list tells why.
func (f *feed) run(ctx context.Context) {
	pause := retry()
	for ctx.Err() == nil {
		select {
		case <-f.again: // it is done now
		default:
		}
		source, generation := f.hub.source()
		listed, err := source.List(ctx, f.key)
		if !f.listed(ctx, listed, err) {
			return
		}
		if err != nil {
			how := failureOf(f.key, err)
			if !f.failed(ctx, how, &pause) {
				return
			}
			if how.redial {
				f.hub.redial(ctx, generation)
			}
			continue
		}
		next, news := f.follow(ctx, source, listed.ResourceVersion)
		if news {
			pause = retry() // nothing is wrong with it
		}
		switch next {
		case atOnce:
		case never:
			f.wait(ctx, nil, nil)
		case soon:
			f.wait(ctx, time.After(pause.Step()), nil)
		default:
			f.wait(ctx, time.After(next), nil)
		}
	}
}

// When a feed lists again, besides after some time.
const (
	atOnce time.Duration = 1
	soon   time.Duration = 0
	never  time.Duration = -1 // nothing will change, unless somebody asks
)

// follow keeps up with changes until there is a reason to list again, and returns
// when. news says that the server had some.
func (f *feed) follow(ctx context.Context, source Source, version string) (after time.Duration, news bool) {
	pause := retry()
	for {
		changes, err := source.Watch(ctx, f.key, version)
		switch {
		case ctx.Err() != nil:
			return soon, news
		case apierrors.IsMethodNotSupported(err):
			return polled, true
		case fault.Code(err) == fault.CodeUsage:
			return never, news
		case err != nil:
			return soon, news
		}
		began := time.Now()
		next, heard, why := f.watch(ctx, changes, version)
		changes.Stop()
		switch {
		case errors.Is(why, errAsked):
			return atOnce, true
		case why != nil:
			return soon, news || next != version
		case !heard && time.Since(began) < emptyWatch: // a list tells whether the server is there
			return soon, news
		case next != version: // it had news: nothing is wrong with it
			version, news, pause = next, true, retry()
			continue
		case f.wait(ctx, time.After(pause.Step()), nil):
			return atOnce, news
		}
	}
}

var (
	errAsked     = errors.New("somebody asks for a list")
	errListAgain = errors.New("everything must be listed again")
	errStopped   = errors.New("nobody wants it any more")
)

// watch takes changes until they end, and returns how far it came, and whether there
// were any; a bookmark is one. An error means that a watch can't go on from there.
func (f *feed) watch(ctx context.Context, changes watch.Interface, version string) (_ string, heard bool, _ error) {
	for {
		select {
		case <-ctx.Done():
			return version, heard, errStopped
		case <-f.again:
			return version, heard, errAsked
		case event, open := <-changes.ResultChan():
			if !open {
				return version, heard, nil
			}
			heard = true
			if event.Type == watch.Error {
				if status, ok := event.Object.(*metav1.Status); ok && status.Reason == atOnceReason {
					return version, heard, errAsked
				}
				return version, heard, errListAgain
			}
			next, err := f.event(ctx, event)
			if err != nil {
				return version, heard, err
			}
			if next != "" {
				version = next
			}
		}
	}
}

// event takes one change.
func (f *feed) event(ctx context.Context, event watch.Event) (version string, err error) {
	accessor, err := meta.Accessor(event.Object)
	if err != nil {
		return "", errListAgain
	}
	version = accessor.GetResourceVersion()
	object, ok := event.Object.(kinds.Object)
	f.hub.lock.Lock()
	defer f.hub.lock.Unlock()
	if ctx.Err() != nil {
		return "", errStopped
	}
	f.heard()
	if event.Type == watch.Bookmark || !ok {
		return version, nil
	}
	if row, ok := object.(*Row); ok && len(row.Cells) != len(f.columns) {
		return "", errListAgain // the table is another one now
	}
	if event.Type == watch.Deleted {
		f.store.remove(object)
	} else {
		f.store.set(object)
	}
	f.hub.options.Recorder.event(f.hub.now(), f.key, event.Type, object)
	f.hub.changed()
	return version, nil
}

// heard notes that the server has answered. The lock is held.
func (f *feed) heard() {
	f.at = f.hub.now()
	if f.state == Forbidden {
		f.hub.allow()
	}
	if f.state != Live || f.err != nil {
		f.state, f.err, f.broken, f.retry = Live, nil, false, time.Time{}
		f.hub.changed()
	}
	f.hub.alive()
}

// listed takes what a list has returned; with an error only what there is
// nevertheless. It returns false where nobody wants it any more.
func (f *feed) listed(ctx context.Context, listed Listed, err error) bool {
	f.hub.lock.Lock()
	defer f.hub.lock.Unlock()
	if ctx.Err() != nil {
		return false
	}
	if err != nil && len(listed.Objects) == 0 {
		return true
	}
	f.store.replace(listed.Objects)
	f.columns, f.gaps = listed.Columns, listed.Gaps
	f.hub.options.Recorder.list(f.hub.now(), f.key, listed)
	f.hub.changed()
	if err == nil {
		f.heard()
		f.hub.back()
	} else {
		f.at = f.hub.now()
	}
	return true
}

// failed notes why a list failed and waits until it may be tried again. It returns
// false where nobody wants it any more.
func (f *feed) failed(ctx context.Context, how failure, pause interface{ Step() time.Duration }) bool {
	after := how.after
	if after == 0 {
		after = pause.Step()
	}
	f.hub.lock.Lock()
	if ctx.Err() != nil {
		f.hub.lock.Unlock()
		return false
	}
	err := f.hub.explained(how.err)
	news := f.state != how.state || f.err == nil || f.err.Error() != err.Error()
	f.state, f.err, f.broken = how.state, err, how.connection
	f.retry = time.Time{}
	if after > 0 {
		f.retry = f.hub.now().Add(after)
	}
	if !how.connection { // it has answered, if not as one would like
		f.at = f.hub.now()
		f.hub.alive()
	}
	f.hub.options.Recorder.state(f.hub.now(), f.key, f.state, f.err, how.connection)
	if news {
		f.hub.changed()
	}
	var back <-chan struct{}
	if how.connection {
		f.hub.lost(f)
		back = f.hub.returned
	}
	allowed := (<-chan struct{})(f.hub.allowed)
	f.hub.lock.Unlock()
	var due <-chan time.Time
	if after > 0 {
		due = time.After(after)
	}
	if how.state == Forbidden && after > allowedAgain {
		f.waitAllowed(ctx, due, allowed)
	} else {
		f.wait(ctx, due, back)
	}
	return ctx.Err() == nil
}

// waitAllowed waits as wait does, but only a little longer once something else that
// was refused is allowed: whatever was changed may concern this, too.
func (f *feed) waitAllowed(ctx context.Context, due <-chan time.Time, allowed <-chan struct{}) {
	early, cancel := context.WithCancel(ctx)
	defer cancel()
	select {
	case <-due:
	case <-f.again:
	case <-ctx.Done():
	case <-allowed:
		sooner := time.AfterFunc(allowedAgain, cancel)
		defer sooner.Stop()
		f.wait(early, due, nil)
	}
}

// wait waits until one of them, a request to list at once, or the end of ctx. It
// returns true where there is no reason to go on as before.
func (f *feed) wait(ctx context.Context, due <-chan time.Time, back <-chan struct{}) bool {
	select {
	case <-due:
		return false
	case <-back:
		return true
	case <-f.again:
		return true
	case <-ctx.Done():
		return true
	}
}
