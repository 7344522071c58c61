package etcd

import (
	"strings"

	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/ask"
	"github.com/kapi-dev/kapi/tui/pages/etcd/stored"
)

// key is the page of one key.
type key struct {
	*stored.Panel
}

var _ interface {
	page.Page
	page.Filterer
	page.Selecter
	page.Receiver
	ask.Asker
} = &key{}

func newKey(env page.Env, name string) *key { return &key{Panel: stored.New(env.Client, name)} }

// Title implements page.Page.
func (k *key) Title() string { return last(k.Key()) }

// last is the last part of a key, or of a prefix with its slash.
func last(key string) string {
	if at := strings.LastIndexByte(strings.TrimSuffix(key, "/"), '/'); at >= 0 && at+1 < len(key) {
		return key[at+1:]
	}
	return key
}

// Needs implements page.Page.
func (k *key) Needs() []data.Key { return nil }

// Update implements page.Page.
func (k *key) Update(frame data.Frame) { k.Panel.Update(frame.About, stored.Served{}) }

// Act implements page.Page.
func (k *key) Act(action page.Action) page.Effect {
	if action.ID == page.Refresh {
		return k.Refresh()
	}
	effect := k.Panel.Act(action)
	if effect.Open.Zero() {
		return k.Ask()
	}
	return effect
}

// Offers implements page.Page.
func (k *key) Offers(id page.ActionID) bool { return id == page.Refresh || k.Panel.Offers(id) }

// Receive implements page.Receiver.
func (k *key) Receive(answer any) page.Effect {
	k.Panel.Receive(answer)
	return page.Effect{}
}

// Selected implements page.Selecter.
func (k *key) Selected() (page.Subject, bool) {
	subject := page.Subject{Kind: "key", Name: k.Key(), Commands: []string{stored.Command(k.Key())}}
	if value := k.Value(); value != nil {
		subject.Object = value
	}
	return subject, true
}
