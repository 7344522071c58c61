package inspect

import (
	"context"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined"
	"github.com/kapi-dev/kapi/internal/client/inspection/objects"
	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/internal/text"
	"github.com/kapi-dev/kapi/internal/view"
)

// realObject is an object of the API itself, as against one of inspect.kapi.dev.
type realObject interface {
	runtime.Object
	GetName() string
	GetLabels() map[string]string
}

// joinedKind is a real resource that is shown joined with its history: O is its
// type, L a line of its list.
type joinedKind[O realObject, L any] struct {
	// plural is the resource's name, path where it is.
	plural, path string
	// all reads the objects, and sets where a watch goes on.
	all func(ctx context.Context, r *objects.Reader, version *string) iter.Seq2[O, error]
	// source is all for any server; only replaces what a server has of it.
	source func(ctx context.Context, server inspection.Server) iter.Seq2[O, error]
	only   func(server inspection.Server, some iter.Seq2[O, error]) inspection.Server
	// slim returns what a line is made of, without the rest of the object.
	slim func(O) O
	// lines are the objects of a server, joined.
	lines func(ctx context.Context, server inspection.Server, now time.Time) (iter.Seq2[L, error], []joined.Missing)
	// table, follow and page print: a list, one that goes on, and one object.
	table  func(w io.Writer, s text.Screen, lines []L, options view.TableOptions, now time.Time) error
	follow func(w io.Writer, s text.Screen, options view.TableOptions, events bool) *view.Lines[L]
	page   func(ctx context.Context, server inspection.Server, name string, w io.Writer, s text.Screen) error
	// from are the columns that come from other kinds, by what is missing where they
	// can't be filled.
	from map[string]string
	// severity says how a line is, sorts orders lines by name of a column.
	severity func(L) joined.Severity
	sorts    map[string]func(a, b L) int
}

// joinedList is one run of a command over a joinedKind.
type joinedList[O realObject, L any] struct {
	kind         joinedKind[O, L]
	opts         *listOptions
	names        []string
	session      *session
	server       inspection.Server
	match        func(O) bool
	out, notices io.Writer
}

func runJoined[O realObject, L any](cmd *cobra.Command, s *session, kind joinedKind[O, L], opts *listOptions, args []string) error {
	if err := opts.check(args); err != nil {
		return err
	}
	if opts.query.ServerID != "" {
		return fault.WithHint(fault.Usagef("--server-id: %s are the same for all servers", kind.plural), "leave it out")
	}
	l := &joinedList[O, L]{kind: kind, opts: opts, names: args, session: s, out: cmd.OutOrStdout(), notices: cmd.ErrOrStderr()}
	var err error
	if l.match, err = l.matcher(); err != nil {
		return err
	}
	if !opts.table() && strings.EqualFold(opts.sortBy, "name") {
		opts.sortBy = ".metadata.name" // other columns are of lines, not of objects
	}
	if opts.table() && strings.Trim(opts.sortBy, "{}") == ".metadata.name" {
		opts.sortBy = "name"
	}
	if _, ok := kind.sorts[strings.ToLower(opts.sortBy)]; !ok && opts.sortBy != "" && opts.table() {
		return fault.WithHint(fault.Usagef("--sort-by: there is no column %q", opts.sortBy), "columns: %s", strings.Join(slices.Sorted(maps.Keys(kind.sorts)), ", "))
	}
	if l.server, err = opts.open(cmd, s); err != nil {
		return err
	}
	switch {
	case opts.goal != "":
		return l.await(cmd.Context())
	case opts.watch:
		return l.watch(cmd.Context())
	}
	return l.print(cmd.Context())
}

// matcher returns whether an object is wanted, by name, labels and fields.
func (l *joinedList[O, L]) matcher() (func(O) bool, error) {
	byLabel, err := labels.Parse(l.opts.query.LabelSelector)
	if err != nil {
		return nil, fault.WithHint(fault.Usagef("label selector %q can't be read: %w", l.opts.query.LabelSelector, err), "write it as name=value")
	}
	byField, err := fields.ParseSelector(l.opts.query.FieldSelector)
	if err != nil {
		return nil, fault.WithHint(fault.Usagef("field selector %q can't be read: %w", l.opts.query.FieldSelector, err), "write it as metadata.name=NAME")
	}
	for _, requirement := range byField.Requirements() {
		if requirement.Field != "metadata.name" {
			return nil, fault.WithHint(fault.Usagef("%s can't be selected by field %q", l.kind.plural, requirement.Field), "only by metadata.name")
		}
	}
	return func(object O) bool {
		name := object.GetName()
		return (len(l.names) == 0 || slices.Contains(l.names, name)) &&
			byLabel.Matches(labels.Set(object.GetLabels())) && byField.Matches(fields.Set{"metadata.name": name})
	}, nil
}

// wanted are the objects that were asked for. All names must exist.
func (l *joinedList[O, L]) wanted(ctx context.Context) iter.Seq2[O, error] {
	return func(yield func(O, error) bool) {
		open := slices.Clone(l.names)
		for object, err := range l.kind.source(ctx, l.server) {
			if err == nil && !l.match(object) {
				continue
			}
			if err == nil {
				open = slices.DeleteFunc(open, func(name string) bool { return name == object.GetName() })
			}
			if !yield(object, err) || err != nil {
				return
			}
		}
		if len(open) > 0 {
			var none O
			yield(none, notFound(l.kind.plural, open))
		}
	}
}

func notFound(plural string, names []string) error {
	return fault.WithHint(fmt.Errorf("no %s: %s", plural, strings.Join(names, ", ")), "the list without a name shows what there is")
}

func (l *joinedList[O, L]) print(ctx context.Context) error {
	switch {
	case !l.opts.table():
		if err := l.objects(ctx); err != nil || !l.opts.exitStatus {
			return err
		}
		return l.unwell(ctx)
	case len(l.names) > 0 && l.opts.format == "":
		return l.pages(ctx)
	}
	return l.list(ctx)
}

// objects prints the objects themselves, as kubectl would.
func (l *joinedList[O, L]) objects(ctx context.Context) error {
	var all iter.Seq2[runtime.Object, error] = func(yield func(runtime.Object, error) bool) {
		for object, err := range l.wanted(ctx) {
			if !yield(object, err) {
				return
			}
		}
	}
	// Those that are named must all be there before any is printed.
	if len(l.names) == 0 && l.opts.sortBy == "" {
		return l.opts.all(l.out, all)
	}
	var some []runtime.Object
	for object, err := range all {
		if err != nil {
			return err
		}
		some = append(some, object)
	}
	if len(l.names) == 1 && len(some) == 1 {
		return l.opts.one(l.out, some[0])
	}
	sorted, err := sortPlain(some, l.opts.sortBy)
	if err != nil {
		return err
	}
	return l.opts.all(l.out, sequence(sorted))
}

// pages prints everything about each of the names.
func (l *joinedList[O, L]) pages(ctx context.Context) error {
	screen := l.opts.screen(l.out)
	for i, name := range l.names {
		if i > 0 {
			fmt.Fprintln(l.out)
		}
		if err := l.kind.page(ctx, l.server, name, l.out, screen); err != nil {
			return err
		}
	}
	if l.opts.exitStatus {
		return l.unwell(ctx)
	}
	return nil
}

func (l *joinedList[O, L]) tableOptions() view.TableOptions {
	return view.TableOptions{NoHeaders: l.opts.noHeaders, Wide: l.opts.format == formatWide}
}

// list prints a line each. Lines are small; the objects are not kept.
func (l *joinedList[O, L]) list(ctx context.Context) error {
	now := readAt(l.server)
	lines, missing, err := l.collect(ctx, l.wanted(ctx), now)
	if err != nil {
		return err
	}
	if len(lines) == 0 {
		fmt.Fprintf(l.notices, "No %s found\n", l.kind.plural)
		return nil
	}
	if order, ok := l.kind.sorts[strings.ToLower(l.opts.sortBy)]; ok {
		slices.SortStableFunc(lines, order)
	}
	if err := l.kind.table(l.out, l.opts.screen(l.out), lines, l.tableOptions(), now); err != nil {
		return err
	}
	for _, part := range missing {
		if column, ok := l.kind.from[part.Part]; ok {
			fmt.Fprintf(l.notices, "%s: %s\n", column, part.Reason)
		}
	}
	if l.opts.exitStatus {
		return l.verdict(lines)
	}
	return nil
}

func (l *joinedList[O, L]) collect(ctx context.Context, some iter.Seq2[O, error], now time.Time) ([]L, []joined.Missing, error) {
	all, missing := l.kind.lines(ctx, l.kind.only(l.server, some), now)
	var lines []L
	for line, err := range all {
		if err != nil {
			return nil, nil, err
		}
		lines = append(lines, line)
	}
	return lines, missing, nil
}

func (l *joinedList[O, L]) unwell(ctx context.Context) error {
	lines, _, err := l.collect(ctx, l.wanted(ctx), readAt(l.server))
	if err != nil {
		return err
	}
	return l.verdict(lines)
}

func (l *joinedList[O, L]) verdict(lines []L) error {
	if slices.ContainsFunc(lines, func(line L) bool { return l.kind.severity(line) == joined.Bad }) {
		return fault.WithCode(fault.Silent(errUnwell), fault.CodeUnhealthy)
	}
	return nil
}
