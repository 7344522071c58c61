// Package pages is the table of pages. Each is a package of its own, which knows
// none of the others: they lead to one another by name.
package pages

import (
	"slices"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/apiservices"
	"github.com/kapi-dev/kapi/tui/pages/auth"
	"github.com/kapi-dev/kapi/tui/pages/chain"
	"github.com/kapi-dev/kapi/tui/pages/controllers"
	"github.com/kapi-dev/kapi/tui/pages/crds"
	"github.com/kapi-dev/kapi/tui/pages/dashboard"
	"github.com/kapi-dev/kapi/tui/pages/discovery"
	"github.com/kapi-dev/kapi/tui/pages/etcd"
	"github.com/kapi-dev/kapi/tui/pages/flow"
	"github.com/kapi-dev/kapi/tui/pages/groups"
	"github.com/kapi-dev/kapi/tui/pages/health"
	"github.com/kapi-dev/kapi/tui/pages/hooks"
	"github.com/kapi-dev/kapi/tui/pages/logs"
	"github.com/kapi-dev/kapi/tui/pages/object"
	"github.com/kapi-dev/kapi/tui/pages/requests"
	"github.com/kapi-dev/kapi/tui/pages/route"
)

// Entry is a page of the table.
type Entry struct {
	// Name is how it is called everywhere; Short where there is little room.
	Name, Short string
	// Digit is its key; empty has none.
	Digit string
	// Help says what it shows.
	Help string
	// Resources are those of the inspect API that it shows: their names lead to it.
	Resources []string
	// New makes it.
	New func(env page.Env, at page.Location) (page.Page, error)
}

// All are the pages, in the order of their digits.
func All() []Entry {
	return []Entry{
		{"dashboard", "dash", "1", "everything on one screen, the worst first", nil, dashboard.New},
		{"chain", "chain", "2", "the filters in order, and the layers below them", []string{"filters", "serverlayers"}, chain.New},
		{"requests", "requests", "3", "requests as they come, and the way of each", []string{"requesttraces"}, requests.New},
		{"groups", "groups", "4", "groups, versions, resources, and who serves them", []string{"apiresourceregistrations"}, groups.New},
		{"crds", "crds", "5", "definitions: conditions, history, schema", []string{"conditiontransitions"}, crds.New},
		{"apiservices", "apis", "6", "available or why not, step by step", []string{"apiserviceprobes"}, apiservices.New},
		{"hooks", "hooks", "7", "the start: components and post-start hooks", []string{"poststarthooks", "bootsteps"}, hooks.New},
		{"etcd", "etcd", "8", "the store: members, sizes, what fills it, its keys", []string{"etcdmembers", "resourcestorages"}, etcd.New},
		{"flow", "flow", "9", "priority and fairness: seats, queues, who", []string{"flowstates"}, flow.New},
		{"auth", "auth", "0", "authenticators, authorizers, admission plugins", []string{"authenticators", "authorizers", "admissionplugins"}, auth.New},
		{"health", "health", "", "each check, and the reason that is withheld elsewhere", []string{"healthchecks"}, health.New},
		{"discovery", "discovery", "", "discovery and OpenAPI by group and version", []string{"discoverystates"}, discovery.New},
		{"controllers", "controllers", "", "the controllers in the server", []string{"controllers"}, controllers.New},
		{"logs", "logs", "", "the server's log, where it runs in this process", nil, logs.New},
		{"route", "route", "", "what would happen to a request: route GET /path", nil, route.New},
		{"object", "object", "", "any resource of the server: YAML, describe, etcd", nil, object.New},
	}
}

// ByName returns the page of a name: its own, or that of a resource of the inspect
// API in any of its forms.
func ByName(name string) (Entry, bool) {
	all := All()
	if i := slices.IndexFunc(all, func(e Entry) bool { return e.Name == name || e.Short == name }); i >= 0 {
		return all[i], true
	}
	kind, ok := kinds.ByName(name)
	if !ok {
		return Entry{}, false
	}
	i := slices.IndexFunc(all, func(e Entry) bool { return slices.Contains(e.Resources, kind.Resource) })
	if i < 0 {
		return Entry{}, false
	}
	return all[i], true
}
