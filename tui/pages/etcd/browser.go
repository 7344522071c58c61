package etcd

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/tui/components/vtable"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/ask"
	"github.com/kapi-dev/kapi/tui/pages/etcd/stored"
	"github.com/kapi-dev/kapi/tui/pages/kit"
)

const (
	// pageSize is how many entries are asked for at a time.
	pageSize = 500
	// root is the setting that stands for the server's own prefix.
	root = "/"
)

// entry is a line of the browser: a key, what begins alike, the way up, or what
// was not loaded yet.
type entry struct {
	v1alpha1.StoredKey
	up, more bool
}

// folder tells whether the entry stands for several keys.
func (e entry) folder() bool { return !e.up && !e.more && e.Keys > 0 }

// browser is the page of the keys below a prefix.
type browser struct {
	*kit.List[entry]
	env      page.Env
	prefix   string
	entries  []entry
	revision int64
	question ask.Question[*v1alpha1.StoredKeyQuery]
	// after is the key that the question goes on behind; empty asks from the start.
	after string
	// elsewhere says it of servers that do not show their stores.
	elsewhere *stored.Panel
}

var _ interface {
	page.Page
	page.Filterer
	page.Selecter
	page.Receiver
	page.Remembered
	ask.Asker
} = &browser{}

func newBrowser(env page.Env, prefix, filter string) *browser {
	b := &browser{env: env, prefix: prefix, elsewhere: stored.New(env.Client, prefix)}
	b.List = kit.NewList(kit.ListConfig[entry]{
		Title:  last(prefix),
		Rows:   func(data.Frame) []entry { return b.entries },
		Head:   b.head,
		Filter: filter,
		Table: vtable.Config[entry]{
			Columns: b.columns(),
			Key:     func(e entry) string { return e.Key },
			Empty:   "no key begins with it",
		},
		Open:    b.open,
		Subject: b.subject,
	})
	return b
}

// spec is what is asked; the root is what the server takes for it.
func (b *browser) spec(after string) v1alpha1.StoredKeyQuerySpec {
	spec := v1alpha1.StoredKeyQuerySpec{Prefix: b.prefix, Delimiter: "/", After: after, Limit: pageSize}
	if b.prefix == root {
		spec.Prefix = ""
	}
	return spec
}

// Update implements page.Page.
func (b *browser) Update(frame data.Frame) {
	b.elsewhere.Update(frame.About, stored.Served{})
	b.List.Update(frame)
}

// Ask implements ask.Asker.
func (b *browser) Ask() page.Effect {
	if b.question.Asked() {
		return page.Effect{}
	}
	return b.load("")
}

// load asks for what follows a key, or for everything anew.
func (b *browser) load(after string) page.Effect {
	if !stored.Readable(b.Frame().About) {
		return page.Effect{}
	}
	b.after = after
	client, spec := b.env.Client, b.spec(after)
	return b.question.Ask(0, func(ctx context.Context) (*v1alpha1.StoredKeyQuery, error) {
		answer, err := client.Stored(ctx, spec)
		return answer, stored.Explained(err)
	})
}

// Receive implements page.Receiver.
func (b *browser) Receive(given any) page.Effect {
	if !b.question.Receive(given) || b.question.Err() != nil {
		return page.Effect{}
	}
	answer, ok := b.question.Value()
	if !ok || answer == nil {
		return page.Effect{}
	}
	first := b.entries == nil
	b.take(answer.Status)
	b.List.Update(b.Frame())
	if first && len(answer.Status.Keys) > 0 {
		b.Table().Select(answer.Status.Keys[0].Key)
	}
	return page.Effect{}
}

// take adds what was answered to what is there, or puts it in its place.
func (b *browser) take(status v1alpha1.StoredKeyQueryStatus) {
	var entries []entry
	if b.after == "" {
		if up := b.parent(status.Prefix); up != "" {
			entries = append(entries, entry{StoredKey: v1alpha1.StoredKey{Key: up}, up: true})
		}
	} else {
		for _, e := range b.entries {
			if !e.more {
				entries = append(entries, e)
			}
		}
	}
	for _, k := range status.Keys {
		entries = append(entries, entry{StoredKey: k})
	}
	if n := len(status.Keys); status.More && n > 0 {
		entries = append(entries, entry{StoredKey: v1alpha1.StoredKey{Key: status.Keys[n-1].Key + "\x00"}, more: true})
	}
	b.entries, b.revision = entries, status.Revision
}

// parent is where the way up leads; empty at the top.
func (b *browser) parent(answered string) string {
	if b.prefix == root {
		return ""
	}
	if up := stored.Parent(cmp.Or(answered, b.prefix)); up != "" {
		return up
	}
	return root
}

// Act implements page.Page.
func (b *browser) Act(action page.Action) page.Effect {
	switch e, ok := b.Table().Selected(); {
	case action.ID == page.Refresh:
		return b.load("")
	case action.ID == page.Enter && ok && e.more:
		if b.question.Waiting() {
			return page.Effect{}
		}
		return b.load(strings.TrimSuffix(e.Key, "\x00"))
	case action.ID == page.Enter && ok && e.up:
		return page.Effect{Open: page.At("etcd", "", "prefix", e.Key), Replace: true}
	}
	if effect := b.List.Act(action); !effect.Open.Zero() {
		return effect
	}
	return b.Ask()
}

// Offers implements page.Page.
func (b *browser) Offers(id page.ActionID) bool {
	if e, ok := b.Table().Selected(); ok && id == page.Enter && e.more {
		return true
	}
	return id == page.Refresh || b.List.Offers(id)
}

// open is where enter leads.
func (b *browser) open(e entry) page.Location {
	switch {
	case e.more:
		return page.Location{}
	case e.up, e.folder():
		return page.At("etcd", "", "prefix", e.Key)
	default:
		return page.At("etcd", e.Key)
	}
}

func (b *browser) subject(e entry) page.Subject {
	if e.more || e.up || e.folder() {
		return page.Subject{Kind: "prefix", Name: strings.TrimSuffix(e.Key, "\x00"), Commands: []string{stored.List(cmp.Or(e.Key, b.prefix))}}
	}
	return page.Subject{Kind: "key", Name: e.Key, Commands: []string{stored.Command(e.Key)}}
}

func (b *browser) columns() []vtable.Column[entry] {
	text := func(title string, cell func(entry) ink.Span, compare func(a, b entry) int) vtable.Column[entry] {
		return vtable.Column[entry]{Title: title, Cell: func(e entry, _ time.Time) ink.Span { return cell(e) }, Compare: compare}
	}
	number := func(title string, value func(entry) int64, written func(int64) string) vtable.Column[entry] {
		c := text(title, func(e entry) ink.Span {
			if n := value(e); n != 0 {
				return ink.T(ink.Text, written(n))
			}
			return ink.Span{}
		}, func(a, b entry) int { return cmp.Compare(value(a), value(b)) })
		c.Right = true
		return c
	}
	key := text("KEY", b.label, func(a, b entry) int { return cmp.Compare(a.Key, b.Key) })
	key.Grow, key.Keep, key.Middle, key.Min = 1, true, true, 12
	bytes := number("BYTES", func(e entry) int64 { return e.Bytes }, kinds.Size)
	bytes.Keep = true
	created := number("CREATED", func(e entry) int64 { return e.CreateRevision }, counted)
	created.Wide = true
	lease := number("LEASE", func(e entry) int64 { return e.Lease }, func(n int64) string { return strconv.FormatInt(n, 16) })
	lease.Wide = true
	return []vtable.Column[entry]{
		key, bytes,
		number("KEYS", func(e entry) int64 { return e.Keys }, counted),
		number("CHANGED", func(e entry) int64 { return e.ModRevision }, counted),
		number("VERSION", func(e entry) int64 { return e.Version }, counted),
		created, lease,
	}
}

// label is an entry's name below the prefix.
func (b *browser) label(e entry) ink.Span {
	switch {
	case e.up:
		return ink.T(ink.Muted, ".. up to "+e.Key)
	case e.more && b.question.Waiting():
		return ink.T(ink.Muted, "… loading on")
	case e.more:
		return ink.T(ink.Accent, "… there are more, enter loads on")
	}
	name := strings.TrimPrefix(e.Key, b.prefix)
	if name == "" {
		name = e.Key
	}
	if e.folder() {
		return ink.T(ink.Accent, name)
	}
	return ink.T(ink.Text, name)
}

// head is a line about what is shown.
func (b *browser) head(_ data.Frame, paper ink.Paper) []ink.Line {
	var keys, bytes int64
	entries, more := 0, false
	for _, e := range b.entries {
		switch {
		case e.more:
			more = true
		case !e.up:
			entries++
			keys += max(1, e.Keys)
			bytes += e.Bytes
		}
	}
	said := fmt.Sprintf("  %s in %s keys at revision %d of the store", kinds.Size(bytes), counted(keys), b.revision)
	switch {
	case entries == 0:
		said = fmt.Sprintf("  no key begins with it, at revision %d of the store", b.revision)
	case more:
		said = fmt.Sprintf("  the first %d entries: %s in %s keys; there are more", entries, kinds.Size(bytes), counted(keys))
	}
	lines := []ink.Line{{ink.T(ink.Title, b.prefix), ink.T(ink.Muted, said)}}
	if err := b.question.Err(); err != nil {
		lines = append(lines, kit.Notices(data.View{State: data.Failed, Err: err}, paper)...)
	}
	return lines
}

// View implements page.Page.
func (b *browser) View(paper ink.Paper) []ink.Line {
	if about := b.Frame().About; about.Type != "" && !stored.Readable(about) {
		return b.elsewhere.View(paper)
	}
	if b.entries == nil {
		if lines, blocked := kit.Blocked(b.question.View(), paper); blocked {
			return lines
		}
	}
	return b.List.View(paper)
}
