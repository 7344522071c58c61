package inspect

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kapi-dev/kapi/internal/view"
)

// feed is the source of --watch and --for. Unless whole objects are printed it
// keeps only what a line is made of.
func (l *joinedList[O, L]) feed(whole bool) (*feed, error) {
	reader, err := l.session.reader()
	if err != nil {
		return nil, err
	}
	name := ""
	if len(l.names) == 1 {
		name = l.names[0]
	}
	return &feed{
		list: func(ctx context.Context) ([]runtime.Object, string, error) {
			var version string
			var all []runtime.Object
			for object, err := range l.kind.all(ctx, reader, &version) {
				if err != nil {
					return nil, "", err
				}
				if !l.match(object) {
					continue
				}
				if !whole {
					object = l.kind.slim(object)
				}
				all = append(all, object)
			}
			return all, version, nil
		},
		watch: func(ctx context.Context, version string) (watch.Interface, error) {
			return reader.Watch(ctx, l.kind.path, name, version)
		},
		notices: l.notices,
	}, nil
}

func (l *joinedList[O, L]) await(ctx context.Context) error {
	g, err := parseGoal(l.opts.goal)
	if err != nil {
		return err
	}
	f, err := l.feed(!l.opts.table())
	if err != nil {
		return err
	}
	err = await(ctx, f, g, l.names, l.opts.timeout, metPrinter(&l.opts.output, l.out, l.kind.plural, g))
	return err
}

// watch lists, and goes on with what changes.
func (l *joinedList[O, L]) watch(ctx context.Context) error {
	f, err := l.feed(!l.opts.table())
	if err != nil {
		return err
	}
	printer, err := l.changes(ctx)
	if err != nil {
		return err
	}
	return f.run(ctx, func(event watch.EventType, object runtime.Object) error {
		if typed, ok := object.(O); ok && !l.match(typed) {
			return nil
		}
		return printer.print(event, object)
	}, printer.flush)
}

func (l *joinedList[O, L]) changes(ctx context.Context) (changePrinter, error) {
	if !l.opts.table() {
		return newObjectPrinter(l.opts, l.out)
	}
	lines := l.kind.follow(l.out, l.opts.screen(l.out), l.tableOptions(), l.opts.watchEvents)
	return &joinedPrinter[O, L]{ctx: ctx, list: l, lines: lines}, nil
}

// joinedPrinter prints changes as lines, each joined anew.
type joinedPrinter[O realObject, L any] struct {
	ctx     context.Context //nolint:containedctx // that of the one command that it lives for
	list    *joinedList[O, L]
	lines   *view.Lines[L]
	first   []O
	flushed bool
}

func (p *joinedPrinter[O, L]) print(event watch.EventType, object runtime.Object) error {
	typed, ok := object.(O)
	if !ok { // gone while the server was away: there is only its name
		_, err := fmt.Fprintf(p.list.notices, "%s %s is gone\n", p.list.kind.plural, key(object))
		return err
	}
	if !p.flushed {
		p.first = append(p.first, typed)
		return nil
	}
	return p.write(event, []O{typed})
}

func (p *joinedPrinter[O, L]) flush() error {
	first := p.first
	p.first, p.flushed = nil, true
	return p.write(watch.Added, first)
}

func (p *joinedPrinter[O, L]) write(event watch.EventType, some []O) error {
	now := time.Now()
	lines, _, err := p.list.collect(p.ctx, values(some), now)
	if err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return p.lines.Write(string(event), lines, now)
}

// values is a slice as an iterator without errors.
func values[T any](items []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, item := range items {
			if !yield(item, nil) {
				return
			}
		}
	}
}
