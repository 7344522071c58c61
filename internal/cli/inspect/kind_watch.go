package inspect

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
)

// feed is the source of --watch and --for. Of a name it lists by a selector, so
// that the list has a version from which a watch can go on.
func (l *kindList) feed() *feed {
	query := l.opts.query
	if len(l.names) == 1 {
		query.FieldSelector = "metadata.name=" + l.names[0]
	}
	return &feed{
		list: func(ctx context.Context) ([]runtime.Object, string, error) {
			listing, err := l.server.List(ctx, l.kind, query)
			objects := make([]runtime.Object, len(listing.Objects))
			for i, object := range listing.Objects {
				objects[i] = object
			}
			return objects, listing.ResourceVersion, err
		},
		watch: func(ctx context.Context, version string) (watch.Interface, error) {
			return l.server.Watch(ctx, l.kind, query, version)
		},
		log: l.kind.Busy, notices: l.notices,
	}
}

// follow lists, and goes on with what changes.
func (l *kindList) follow(ctx context.Context) error {
	printer, err := l.changes()
	if err != nil {
		return err
	}
	var first []runtime.Object // held back until it is known which are the last
	listed := false
	emit := func(event watch.EventType, object runtime.Object) error {
		if typed, ok := object.(kinds.Object); ok && l.keep != nil && event != watch.Deleted && !l.keep(typed) {
			return nil
		}
		if !listed {
			first = append(first, object)
			return nil
		}
		return printer.print(event, object)
	}
	return l.feed().run(ctx, emit, func() error {
		for _, object := range last(first, l.tail) {
			if err := printer.print(watch.Added, object); err != nil {
				return err
			}
		}
		first, listed = nil, true
		return printer.flush()
	})
}

// await waits for --for, and then prints what was waited for.
func (l *kindList) await(ctx context.Context, g goal) error {
	return await(ctx, l.feed(), g, l.names, l.opts.timeout, metPrinter(&l.opts.output, l.out, l.kind.Singular, g))
}
