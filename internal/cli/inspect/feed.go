package inspect

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"strconv"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
)

// feed lists something and then reports its changes, for as long as it is asked
// to: a server that goes away is waited for, and what has changed meanwhile is
// reported when it is back.
type feed struct {
	// list returns all objects, and where a watch goes on.
	list func(ctx context.Context) ([]runtime.Object, string, error)
	// watch begins there.
	watch func(ctx context.Context, resourceVersion string) (watch.Interface, error)
	// log says that objects are entries of a log: the oldest go, which is no news.
	log bool
	// notices go here, to the person who waits.
	notices io.Writer
}

// retry is how long is waited between tries to reach a server that has gone.
func retry() wait.Backoff {
	return wait.Backoff{Duration: 250 * time.Millisecond, Factor: 1.6, Jitter: 0.2, Steps: 8, Cap: 5 * time.Second}
}

// run calls emit with everything that is there, as added, and then with each
// change, until ctx ends or emit returns an error, which is returned. listed is
// called once, after the first list. The first list must succeed.
func (f *feed) run(ctx context.Context, emit func(watch.EventType, runtime.Object) error, listed func() error) error {
	objects, version, err := f.list(ctx)
	if err != nil {
		return err
	}
	known := &memory{log: f.log}
	for _, object := range objects {
		known.keep(object)
		if err := emit(watch.Added, object); err != nil {
			return err
		}
	}
	if err := listed(); err != nil {
		return err
	}
	pause := retry()
	for {
		from := version
		if version, err = f.follow(ctx, version, known, emit); err != nil {
			return err
		}
		if version != "" && version != from {
			pause = retry() // it had news: nothing is wrong with it
			continue
		}
		if err := sleep(ctx, pause.Step()); err != nil {
			return err
		}
		if version == "" {
			if version, err = f.again(ctx, known, emit); err != nil {
				return err
			}
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// follow reports changes until the watch ends, and returns where it came to; ""
// means that everything must be listed again.
func (f *feed) follow(ctx context.Context, version string, known *memory, emit func(watch.EventType, runtime.Object) error) (string, error) {
	changes, err := f.watch(ctx, version)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "", permanent(err)
	}
	defer changes.Stop()
	for {
		var event watch.Event
		var open bool
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case event, open = <-changes.ResultChan():
		}
		if !open {
			return version, nil
		}
		if event.Type == watch.Error {
			return "", permanent(apierrors.FromObject(event.Object))
		}
		accessor, err := meta.Accessor(event.Object)
		if err != nil {
			return "", fmt.Errorf("reading a change: %w", err)
		}
		version = accessor.GetResourceVersion()
		if event.Type == watch.Bookmark || event.Type == watch.Deleted && f.log {
			continue
		}
		known.note(event.Type, event.Object)
		if err := emit(event.Type, event.Object); err != nil {
			return "", err
		}
	}
}

// permanent returns err unless it is of a server that is away or starts, or that
// has forgotten the version: those are worth another try.
func permanent(err error) error {
	var network net.Error
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &certificate): // another server
		return err
	case errors.As(err, &network), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return nil
	case apierrors.IsResourceExpired(err), apierrors.IsGone(err), apierrors.IsTooManyRequests(err),
		apierrors.IsServiceUnavailable(err), apierrors.IsServerTimeout(err), apierrors.IsTimeout(err), apierrors.IsInternalError(err):
		return nil
	}
	return err
}

// again waits until the server can be listed, and reports what has changed.
func (f *feed) again(ctx context.Context, known *memory, emit func(watch.EventType, runtime.Object) error) (string, error) {
	backoff, quiet := retry(), true
	for {
		objects, version, err := f.list(ctx)
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if err == nil {
			if !quiet {
				fmt.Fprintln(f.notices, "connected again")
			}
			return version, f.changed(objects, known, emit)
		}
		if err := permanent(err); err != nil {
			return "", err
		}
		if quiet {
			fmt.Fprintf(f.notices, "connection lost, waiting for the server: %v\n", err)
			quiet = false
		}
		if err := sleep(ctx, backoff.Step()); err != nil {
			return "", err
		}
	}
}

// changed reports how a list differs from what is known.
func (f *feed) changed(objects []runtime.Object, known *memory, emit func(watch.EventType, runtime.Object) error) error {
	gone := known.all()
	for _, object := range objects {
		kind := known.compare(object)
		delete(gone, key(object))
		if kind == "" {
			continue
		}
		known.note(kind, object)
		if err := emit(kind, object); err != nil {
			return err
		}
	}
	for name, object := range gone {
		known.forget(name)
		if f.log {
			continue
		}
		if err := emit(watch.Deleted, object); err != nil {
			return err
		}
	}
	return nil
}

// rememberedEntries is how many entries of a log are remembered, more than any
// server keeps: those before them are never listed again.
const rememberedEntries = 10_000

// key is what an object is known by. A server that was restarted gives other UIDs.
func key(object runtime.Object) string {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return ""
	}
	return accessor.GetName()
}

// versionOf is an object's resourceVersion; of one without, as what is put together
// here has none, a hash of it.
func versionOf(object runtime.Object) string {
	if accessor, err := meta.Accessor(object); err == nil && accessor.GetResourceVersion() != "" {
		return accessor.GetResourceVersion()
	}
	hash := fnv.New64a()
	if err := json.NewEncoder(hash).Encode(object); err != nil {
		return ""
	}
	return strconv.FormatUint(hash.Sum64(), 16)
}

// memory is what has been reported: of each object its version, and as much of it
// as is needed to say that it is gone.
type memory struct {
	objects map[string]*metav1.PartialObjectMetadata
	// order is set for a log: the names, oldest first.
	order []string
	log   bool
}

func (m *memory) keep(object runtime.Object) {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return
	}
	if m.objects == nil {
		m.objects = map[string]*metav1.PartialObjectMetadata{}
	}
	if m.log {
		m.order = append(m.order, key(object))
	}
	if len(m.order) > rememberedEntries {
		delete(m.objects, m.order[0])
		m.order = m.order[1:]
	}
	m.objects[key(object)] = &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: object.GetObjectKind().GroupVersionKind().GroupVersion().String(), Kind: object.GetObjectKind().GroupVersionKind().Kind},
		ObjectMeta: metav1.ObjectMeta{Name: accessor.GetName(), UID: accessor.GetUID(), ResourceVersion: versionOf(object)},
	}
}

func (m *memory) note(kind watch.EventType, object runtime.Object) {
	if kind == watch.Deleted {
		m.forget(key(object))
		return
	}
	m.keep(object)
}

func (m *memory) forget(key string) { delete(m.objects, key) }

// compare says what an object is to what is known: new, changed, or "" the same.
func (m *memory) compare(object runtime.Object) watch.EventType {
	before, ok := m.objects[key(object)]
	switch {
	case !ok:
		return watch.Added
	case before.ResourceVersion != versionOf(object):
		return watch.Modified
	}
	return ""
}

// all returns a copy of what is known.
func (m *memory) all() map[string]runtime.Object {
	all := make(map[string]runtime.Object, len(m.objects))
	for key, object := range m.objects {
		all[key] = object
	}
	return all
}
