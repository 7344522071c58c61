package arch_test

import (
	"slices"
	"strings"
	"testing"
)

const (
	module   = "github.com/kapi-dev/kapi"
	own      = module + "/..."
	internal = module + "/internal"
)

// Packages that anyone may import: they stand below everything else, and the
// rows on leaves keep them there.
var leaves = []string{
	internal + "/fault",
	internal + "/datadir",
	internal + "/version",
	internal + "/histogram",
	internal + "/near",
	internal + "/controllers/catalog",
	internal + "/apis/...",
}

// The libraries of the server side. A package that reaches one of them cannot be
// part of a client, because it would drag the whole server in.
var server = []string{
	"k8s.io/apiserver/...",
	"k8s.io/kubernetes/...",
	"k8s.io/kube-aggregator/pkg/apiserver/...",
	"k8s.io/apiextensions-apiserver/pkg/apiserver/...",
	"go.etcd.io/etcd/server/...",
}

// rules is the table. Order is by subject: first what each package of ours may
// import of ours, outermost first, then who may use which library, then the
// leaves.
var rules = []rule{
	// Our packages among themselves.
	{
		name: "cmd", from: []string{module + "/cmd/..."},
		deny: []string{own}, allow: with(leaves, internal+"/cli/...", internal+"/termguard"),
		why: "main decides the exit code and nothing else; commands are in cli, where tests reach them",
	},
	{
		name: "cli", from: []string{internal + "/cli/..."},
		deny: []string{own},
		allow: with(leaves, internal+"/cli/...", internal+"/app/...", module+"/tui/...",
			internal+"/client/...", internal+"/config/...", internal+"/logging/...", internal+"/text", internal+"/view"),
		why: "a command reads its configuration and hands over; how a server is put together is app's",
	},
	{
		name: "inspect commands", from: []string{internal + "/cli/inspect/...", internal + "/cli/connect/..."},
		deny: with(server, internal+"/app/..."), deep: true,
		why: "they are a client of any API server: nothing of the server side helps them, and their tests stay quick",
	},
	{
		name: "app", from: []string{internal + "/app/..."},
		deny: []string{internal + "/cli/...", module + "/cmd/...", module + "/tui/..."},
		why:  "the composition root is below the commands: a test or a service starts it without them",
	},
	{
		name: "only cli and tests start app", from: []string{own},
		except: []string{internal + "/cli/...", internal + "/app/...", internal + "/kapitest/...", module + "/bench/..."},
		deny:   []string{internal + "/app/..."},
		why:    "whatever app puts together must not know app",
	},
	{
		name: "chain", from: []string{internal + "/chain/..."},
		deny:  []string{own},
		allow: with(leaves, internal+"/chain/...", internal+"/handlerchain/...", internal+"/storage/...", internal+"/inspect/..."),
		why:   "the layers get flags, keys, an etcd client and controllers handed in; they do not make them",
	},
	{
		name: "handlerchain", from: []string{internal + "/handlerchain/..."},
		deny: []string{own}, allow: with(leaves, internal+"/handlerchain/..."),
		why: "the filters report to an observer interface declared beside them; inspect implements it, and is not imported",
	},
	{
		name: "storage", from: []string{internal + "/storage/..."},
		deny: []string{own}, allow: with(leaves, internal+"/storage/..."),
		why: "storage works on any etcd client, embedded or external: it is given one",
	},
	{
		name: "etcd", from: []string{internal + "/etcd/..."},
		deny: []string{own}, allow: with(leaves, internal+"/etcd/...", internal+"/logging/..."),
		why: "etcd runs without an API server above it: snapshot and restore do",
	},
	{
		name: "lifecycle", from: []string{internal + "/lifecycle/..."},
		deny: []string{own, "k8s.io/...", "go.etcd.io/..."}, allow: with(leaves, internal+"/lifecycle/..."), deep: true,
		why: "starting and stopping a list of components is independent of what they are",
	},
	{
		name: "globals", from: []string{internal + "/globals/..."},
		deny: []string{own}, allow: with(leaves, internal+"/globals/...", internal+"/logging/..."),
		why: "process-wide state is set in one place, from plain values",
	},
	{
		name: "config, pki, logging", from: []string{internal + "/config/...", internal + "/pki/...", internal + "/logging/..."},
		deny: []string{own}, allow: with(leaves, internal+"/config/...", internal+"/pki/...", internal+"/logging/..."),
		why: "what the server is told, its keys and its log are made before there is a server",
	},
	{
		name: "manifests", from: []string{internal + "/manifests/..."},
		deny: with(server, own), allow: with(leaves, internal+"/manifests/..."), deep: true,
		why: "manifests are applied through the API, as anybody outside would",
	},
	{
		name: "controllers", from: []string{internal + "/controllers/..."},
		deny: []string{own}, allow: with(leaves, internal+"/controllers/..."),
		why: "controllers are clients of the API: they get one handed in",
	},
	{
		name: "inspect", from: []string{internal + "/inspect/..."},
		deny: []string{own}, allow: with(leaves, internal+"/inspect/...", internal+"/handlerchain/...", internal+"/storage/..."),
		why: "inspect is told what happens through interfaces of those it observes, and reaches for nobody",
	},
	{
		name: "client and tui use apis only", from: []string{module + "/tui/...", internal + "/client/..."},
		deny: []string{own}, allow: with(leaves, module+"/tui/...", internal+"/client/...", internal+"/text", module+"/ui-assets/..."),
		why: "both work on any API server, so they may know kapi's API types and how lines are laid out, and nothing else of kapi",
	},
	{
		name: "view", from: []string{internal + "/view"},
		deny: []string{own}, allow: with(leaves, internal+"/view", internal+"/text", internal+"/client/..."),
		why: "what is printed is a function of what was read: a view asks nobody",
	},
	{
		name: "text", from: []string{internal + "/text"},
		deny: []string{own, "k8s.io/..."},
		why:  "laying out lines does not depend on what stands in them",
	},
	{
		name: "kapitest is for tests", from: []string{own},
		except: []string{internal + "/kapitest/...", module + "/bench/..."},
		deny:   []string{internal + "/kapitest/..."},
		why:    "the product must not link what tests need",
	},

	// Libraries.
	{
		name: "server libraries stay out of clients", deep: true,
		from: []string{module + "/tui/...", internal + "/client/...", internal + "/view", internal + "/apis/...", module + "/ui-assets/..."},
		deny: server,
		why:  "a foreign server is a client problem: the terminal UI must stand without a server, through any path",
	},
	{
		name: "k8s.io/apiserver and k8s.io/kubernetes", from: []string{own},
		except: []string{
			internal + "/chain/...", internal + "/handlerchain/...", internal + "/storage/...",
			internal + "/controllers/...", internal + "/globals/...", internal + "/inspect/...",
			module + "/bench/peer/...", // the benchmark's peer, built from this module graph
		},
		deny: []string{"k8s.io/apiserver/...", "k8s.io/kubernetes/..."},
		why:  "an upgrade of Kubernetes touches these packages and no other",
	},
	{
		name: "the etcd server", from: []string{own},
		// The benchmark's peer is an etcd of its own process, built from this module graph.
		except: []string{internal + "/etcd/...", module + "/bench/peer/..."},
		deny:   []string{"go.etcd.io/etcd/server/...", "go.etcd.io/etcd/etcdutl/..."},
		why:    "everyone else works with a client, so that an external etcd is the same to them",
	},
	{
		name: "Charm libraries", from: []string{own},
		// The probes show what linking Bubble Tea does to a terminal.
		except: []string{module + "/tui/...", internal + "/termguard/internal/probe/..."},
		deny:   []string{"github.com/charmbracelet/...", "github.com/muesli/termenv"},
		why:    "only the terminal UI draws; commands print",
	},
	{
		name: "viper", from: []string{own}, except: []string{internal + "/config/..."},
		deny: []string{"github.com/spf13/viper/..."},
		why:  "configuration is one struct, defaulted and validated once; nothing else reads keys",
	},

	// Leaves.
	{
		name: "termguard", from: []string{internal + "/termguard"},
		deny: []string{anyStd, anyExternal, own}, allow: []string{"os"},
		why: "it is initialised before the libraries it guards against only while it imports nothing but os",
	},
	{
		name: "fault, version, histogram and near", from: []string{internal + "/fault", internal + "/version", internal + "/histogram", internal + "/near"},
		deny: []string{anyExternal, own},
		why:  "everyone imports them, so they import the standard library only",
	},
	{
		name: "datadir", from: []string{internal + "/datadir"},
		deny: []string{anyExternal, own}, allow: []string{internal + "/fault", "golang.org/x/sys/unix"},
		why: "everyone imports it, the client too: it knows paths and modes, not what is in the files",
	},
	{
		name: "apis", from: []string{internal + "/apis/..."},
		deny: []string{own}, allow: []string{internal + "/apis/..."},
		why: "types know nothing of those who use them",
	},
}

// with returns a copy of base with more behind it.
func with(base []string, more ...string) []string { return append(slices.Clone(base), more...) }

// TestImportDirections checks every row against the packages that exist. A row
// whose package is still to come is skipped by name, so that it is seen.
func TestImportDirections(t *testing.T) {
	g := load(t)
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			subjects := r.subjects(g)
			if len(subjects) == 0 {
				t.Skipf("no package matches %s yet", strings.Join(r.from, ", "))
			}
			for _, v := range check(g, r) {
				t.Errorf("%s\n\tbecause: %s", v, r.why)
			}
		})
	}
}

// TestGuardIsLinked holds the other half of the terminal guard: a binary that
// links the library that queries must link the guard, and the guard's path must
// sort before the library's (package termguard says why).
func TestGuardIsLinked(t *testing.T) {
	const (
		guard   = internal + "/termguard"
		queries = "github.com/muesli/termenv"
	)
	if guard > queries {
		t.Errorf("%s sorts after %s, so it would be initialised too late", guard, queries)
	}
	g := load(t)
	for _, path := range g.under(module + "/cmd/...") {
		if g.path(path, queries) != nil && g.path(path, guard) == nil {
			t.Errorf("%s links %s but not %s: every command would ask the terminal and wait", path, queries, guard)
		}
	}
}
