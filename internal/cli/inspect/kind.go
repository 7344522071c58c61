package inspect

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/client/inspection/filter"
	"github.com/kapi-dev/kapi/internal/client/inspection/recorded"
	"github.com/kapi-dev/kapi/internal/text"
)

func newKindCmd(s *session, row kindRow) *cobra.Command {
	kind := mustKind(row.resource)
	opts := &listOptions{}
	name := row.use
	if name == "" {
		name = row.resource
	}
	cmd := &cobra.Command{
		Use:     name + " [NAME...]",
		Aliases: aliases(kind, name, row.aliases),
		GroupID: row.group,
		Short:   row.short,
		Long:    row.long + columnsHelp(kind),
		Example: examples(row.examples),
		RunE: func(cmd *cobra.Command, args []string) error {
			return listKind(cmd, s, kind, opts, args, func(l *kindList) { l.view, l.one = row.view, row.one })
		},
		ValidArgsFunction: s.completeNames(kind),
	}
	opts.add(cmd)
	completeColumns(cmd, kind)
	return cmd
}

// mustKind is ByName for names that are written in this package; a test calls all.
func mustKind(name string) kinds.Kind {
	kind, ok := kinds.ByName(name)
	if !ok {
		panic("no kind is named " + name)
	}
	return kind
}

// aliases are all names of a kind but the one that the command has.
func aliases(kind kinds.Kind, use string, more []string) []string {
	names := slices.Concat([]string{kind.Resource, kind.Singular}, kind.ShortNames, more)
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == use })
}

// examples are written as cobra and kubectl do: a comment and a line each.
func examples(all []example) string {
	var b strings.Builder
	for i, e := range all {
		if i > 0 {
			b.WriteString("\n\n")
		}
		fmt.Fprintf(&b, "  # %s\n  %s", e.doc, e.line)
	}
	return b.String()
}

// columnsHelp explains the columns of a kind's table.
func columnsHelp(kind kinds.Kind) string {
	var b strings.Builder
	b.WriteString("\n\nColumns:\n")
	for _, column := range kind.Columns {
		mark := ""
		if column.Wide {
			mark = " (-o wide)"
		}
		fmt.Fprintf(&b, "  %-16s %s%s\n", strings.ToUpper(column.Name), column.Doc, mark)
	}
	return strings.TrimRight(b.String(), "\n")
}

// listKind is the work of a command that lists a kind; change adds what is the
// command's own.
func listKind(cmd *cobra.Command, s *session, kind kinds.Kind, opts *listOptions, args []string, change func(*kindList)) error {
	// Upstream's names of hooks and checks have slashes, where names here have dashes.
	for i, name := range args {
		args[i] = strings.ReplaceAll(name, "/", "-")
	}
	if err := opts.check(args); err != nil {
		return err
	}
	goal, err := opts.parseGoal(kind)
	if err != nil {
		return err
	}
	// A server refuses a wrong selector too, without saying which are right.
	if _, err := filter.Compile(kind, opts.query); err != nil {
		return err
	}
	if opts.watch || opts.goal != "" {
		if err := s.changes(); err != nil {
			return err
		}
	}
	server, err := opts.open(cmd, s)
	if err != nil {
		return err
	}
	l := &kindList{server: server, kind: kind, opts: opts, names: args, out: cmd.OutOrStdout(), notices: cmd.ErrOrStderr()}
	change(l)
	switch {
	case opts.goal != "":
		return l.await(cmd.Context(), goal)
	case opts.watch:
		return l.follow(cmd.Context())
	}
	return l.print(cmd.Context())
}

// kindList is one run of a list command.
type kindList struct {
	server inspection.Server
	kind   kinds.Kind
	opts   *listOptions
	names  []string
	// keep leaves objects out; tail leaves only the last ones, if it is not 0.
	keep func(kinds.Object) bool
	tail int
	// view replaces the table where people read what was listed.
	view func(*kindList, inspection.Listing) error
	// one is the same for a single object that was asked for by its name.
	one          func(*kindList, inspection.Listing) error
	out, notices io.Writer
}

func (l *kindList) screen() text.Screen { return l.opts.screen(l.out) }

// list returns the objects that were asked for, of all or of those of names.
func (l *kindList) list(ctx context.Context) (inspection.Listing, error) {
	listing, err := l.listed(ctx)
	if err == nil && l.keep != nil {
		listing.Objects = slices.DeleteFunc(listing.Objects, func(o kinds.Object) bool { return !l.keep(o) })
	}
	listing.Objects = last(listing.Objects, l.tail)
	return listing, err
}

// last returns the last n; 0 is all.
func last[T any](items []T, n int) []T {
	if n > 0 && len(items) > n {
		return items[len(items)-n:]
	}
	return items
}

func (l *kindList) listed(ctx context.Context) (inspection.Listing, error) {
	if len(l.names) == 0 {
		return l.server.List(ctx, l.kind, l.opts.query)
	}
	var all inspection.Listing
	for _, name := range l.names {
		query := l.opts.query
		query.Name = name
		one, err := l.server.List(ctx, l.kind, query)
		if err != nil {
			return all, err
		}
		all.Objects = append(all.Objects, one.Objects...)
		all.ResourceVersion, all.Gaps = one.ResourceVersion, one.Gaps
	}
	return all, nil
}

// print lists once.
func (l *kindList) print(ctx context.Context) error {
	listing, err := l.list(ctx)
	if err != nil {
		return err
	}
	if err := sortObjects(l.kind, listing.Objects, l.opts.sortBy); err != nil {
		return err
	}
	switch {
	case l.view != nil && l.opts.format == "" && l.whole() && len(listing.Objects) > 0:
		err = l.view(l, listing)
		newKindTable(l.kind, false, listing.Gaps).explain(l.notices)
	case l.one != nil && l.opts.format == "" && len(l.names) == 1 && len(listing.Objects) == 1:
		err = l.one(l, listing)
	case l.opts.table():
		err = l.table(listing)
	case len(l.names) == 1 && len(listing.Objects) == 1:
		err = l.opts.one(l.out, listing.Objects[0])
	default:
		err = l.opts.all(l.out, sequence(listing.Objects))
	}
	gap := wholeGap(listing)
	if gap != "" && !l.opts.table() {
		fmt.Fprintf(l.notices, "%s are not shown: %s\n", l.kind.Resource, gap)
	}
	switch {
	case err != nil || !l.opts.exitStatus:
		return err
	case gap != "":
		return fmt.Errorf("whether all is well can't be seen: %s are not shown", l.kind.Resource)
	}
	return unwell(listing.Objects)
}

// wholeGap is why nothing of a kind is shown; empty if there is something.
func wholeGap(listing inspection.Listing) string {
	for _, gap := range listing.Gaps {
		if gap.Column == "" && len(listing.Objects) == 0 {
			return gap.Reason
		}
	}
	return ""
}

// whole tells whether all objects are listed: a view sums them up, and would say of
// some what is only true of all ("ready after").
func (l *kindList) whole() bool {
	return len(l.names) == 0 && l.opts.sortBy == "" && l.opts.query.LabelSelector == "" && l.opts.query.FieldSelector == ""
}

func (l *kindList) table(listing inspection.Listing) error {
	if len(listing.Objects) == 0 {
		l.nothing(listing)
		return nil
	}
	t := newKindTable(l.kind, l.opts.format == formatWide, listing.Gaps)
	if err := (text.Table{Columns: t.columns(), Rows: t.rows(listing.Objects, readAt(l.server)), NoHeaders: l.opts.noHeaders}).Write(l.out, l.screen()); err != nil {
		return err
	}
	t.explain(l.notices)
	return nil
}

// nothing says that there is nothing, and why.
func (l *kindList) nothing(listing inspection.Listing) {
	if gap := wholeGap(listing); gap != "" {
		fmt.Fprintf(l.notices, "%s are not shown: %s\n", l.kind.Resource, gap)
		return
	}
	fmt.Fprintf(l.notices, "No %s found\n", l.kind.Resource)
}

// readAt returns the time up to which ages are counted: now, or when a recording
// was made.
func readAt(server inspection.Server) time.Time {
	if recording, ok := server.(*recorded.Server); ok {
		if about, err := recording.About(context.Background()); err == nil {
			return about.At
		}
	}
	return time.Now()
}
