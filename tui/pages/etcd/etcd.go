// Package etcd is the page of the store: how its members are, which resource fills
// it, and below that a browser of its keys with their values decoded. It only reads.
//
// It may import the contract, data, the components and kit, and no other page.
package etcd

import (
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/page"
)

// The feeds of the page.
var (
	storages = data.Of("resourcestorages")
	members  = data.Of("etcdmembers")
)

// New returns the page of the store; with a name that of the key of this name, with
// the setting "prefix" the browser of the keys below it ("/" is all).
func New(env page.Env, at page.Location) (page.Page, error) {
	switch {
	case at.Name != "":
		return newKey(env, at.Name), nil
	case at.Get("prefix") != "":
		return newBrowser(env, at.Get("prefix"), at.Get("filter")), nil
	default:
		return newOverview(at.Get("filter")), nil
	}
}
