// Package stored shows what one key of the store holds: the facts of the key, and
// its value decoded. The page of a key and the page of an object show it alike.
//
// It asks with page.Effect and does no I/O. It may import the contract, data, the
// components and kit, and no page.
package stored

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/tui/components/doc"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/ask"
	"github.com/kapi-dev/kapi/tui/pages/kit"
)

// Served is an object as the API shows it. The zero Served is unknown.
type Served struct {
	// APIVersion is what it was read as, ResourceVersion which state of it that was.
	APIVersion, ResourceVersion string
}

// Panel is the state of what shows a key. Make it with New.
type Panel struct {
	client data.Client
	key    string
	served Served
	about  inspection.About
	// guessed says that nobody but convention says that the key is this one.
	guessed  bool
	question ask.Question[*v1alpha1.StoredKeyQuery]
	// askedFor is the resourceVersion that the question was asked at.
	askedFor string
	doc      doc.Document
}

// New returns what shows a key; empty is a key that is not known yet.
func New(client data.Client, key string) *Panel {
	p := &Panel{client: client}
	p.SetKey(key, false)
	return p
}

// Key is the key that is shown.
func (p *Panel) Key() string { return p.key }

// SetKey shows another key. guessed says that it was computed by convention.
func (p *Panel) SetKey(key string, guessed bool) {
	if key == p.key && guessed == p.guessed {
		return
	}
	p.key, p.guessed = key, guessed
	p.question, p.doc = ask.Question[*v1alpha1.StoredKeyQuery]{}, doc.Document{}
	p.set()
}

// Update takes what the server is, and how the API shows the object. Where that
// has changed, the key is read again.
func (p *Panel) Update(about inspection.About, served Served) {
	if p.about.Type == about.Type && p.about.RecordedFrom == about.RecordedFrom && p.served == served {
		return
	}
	p.about, p.served = about, served
	p.set()
}

// Readable tells whether the server lets anybody look into its store.
func Readable(about inspection.About) bool {
	return about.Type == inspection.Kapi && about.RecordedFrom == ""
}

// Ask implements ask.Asker: it asks once, and again when the object has changed.
func (p *Panel) Ask() page.Effect {
	if p.key == "" || !Readable(p.about) || p.question.Waiting() {
		return page.Effect{}
	}
	if p.question.Asked() && p.askedFor == p.served.ResourceVersion {
		return page.Effect{}
	}
	return p.Refresh()
}

// Refresh asks again.
func (p *Panel) Refresh() page.Effect {
	if p.key == "" || !Readable(p.about) {
		return page.Effect{}
	}
	p.askedFor = p.served.ResourceVersion
	client, key := p.client, p.key
	return p.question.Ask(0, func(ctx context.Context) (*v1alpha1.StoredKeyQuery, error) {
		answer, err := client.Stored(ctx, v1alpha1.StoredKeyQuerySpec{Key: key})
		return answer, Explained(err)
	})
}

// Explained gives a refusal to look into the store the way out.
func Explained(err error) error {
	if ask.State(err) == data.Forbidden && fault.Hint(err) == "" {
		return fault.WithHint(err, "ClusterRole %s allows it; it is part of no other role, since it shows everything that is stored", v1alpha1.RoleStorage)
	}
	return err
}

// Receive implements page.Receiver; false if the answer is none to the panel.
func (p *Panel) Receive(answer any) bool {
	if !p.question.Receive(answer) {
		return false
	}
	p.set()
	return true
}

// missing tells whether an error says that there is no such key, and not that the
// server knows of no keys at all.
func (p *Panel) missing(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsNotFound(err) || !errors.As(err, &status) {
		return false
	}
	details := status.Status().Details
	return details != nil && details.Name == p.key
}

// Value is what was read; nil while there is nothing.
func (p *Panel) Value() *v1alpha1.StoredKeyQuery {
	value, _ := p.question.Value()
	return value
}

// Act moves in the text and leads to where its lines do.
func (p *Panel) Act(action page.Action) page.Effect {
	if action.ID == page.Enter {
		if line, ok := p.doc.Selected(); ok && !line.Open.Zero() {
			return page.Effect{Open: line.Open}
		}
	}
	p.doc.Act(action)
	return page.Effect{}
}

// Offers tells whether Act does something.
func (p *Panel) Offers(id page.ActionID) bool {
	if id == page.Enter {
		if line, ok := p.doc.Selected(); ok && !line.Open.Zero() {
			return true
		}
	}
	return p.doc.Offers(id)
}

// Filter searches; see page.Filterer.
func (p *Panel) Filter(text string) error { return p.doc.Filter(text) }

// Filtered is what is searched for.
func (p *Panel) Filtered() string { return p.doc.Filtered() }

// Status says in few words where one is.
func (p *Panel) Status() string { return p.doc.Status() }

// View draws it in exactly paper.Height lines.
func (p *Panel) View(paper ink.Paper) []ink.Line {
	if p.key == "" {
		return said(paper, "no key", "Nothing of it is in the store of this server.")
	}
	if p.Value() != nil || p.about.Type != "" && !Readable(p.about) || ask.State(p.question.Err()) == data.Absent {
		return p.doc.View(paper)
	}
	if lines, blocked := kit.Blocked(p.question.View(), paper); blocked {
		return lines
	}
	return said(paper, "no answer", "The server answered without a value.")
}

// said is a state that no feed is in.
func said(paper ink.Paper, state, why string) []ink.Line {
	lines := []ink.Line{nil, {ink.T(ink.Text, "  "), ink.T(ink.Muted, paper.Glyphs.Off+" "+state)}}
	for _, line := range paper.Wrap(ink.Muted, why, min(paper.Width-4, 100)) {
		lines = append(lines, append(ink.Line{ink.T(ink.Text, "  ")}, line...))
	}
	return ink.Fill(lines, paper.Height)
}

// Command is the command line of etcd's own client that reads a key.
func Command(key string) string { return "etcdctl get " + page.Quote(key) + " -w fields" }

// List is the command line of etcd's own client that lists the keys below a prefix.
func List(prefix string) string { return "etcdctl get --prefix --keys-only " + page.Quote(prefix) }
