package inspect

import "github.com/kapi-dev/kapi/internal/client/inspection"

// kindRow is a command that shows one kind of inspect.kapi.dev.
type kindRow struct {
	// resource names the kind; use is the command's name, if that is another.
	resource, use string
	// aliases are names beside those that the kind has.
	aliases []string
	group   string
	short   string
	long    string
	// examples are three; each is run by a test.
	examples []example
	// view is what people see in place of a table, unless they ask for one.
	view func(*kindList, inspection.Listing) error
	// one is the same for a single object that was asked for by its name.
	one func(*kindList, inspection.Listing) error
}

// example is a command line and what it is for.
type example struct{ doc, line string }

// kindRows are the commands for kinds that are shown as they are; others have a
// file of their own. The order is that of the help: outermost first.
var kindRows = []kindRow{
	{
		resource: "serverlayers", use: "layers", group: "request",
		short: "Show the layers of the server chain",
		long: `Show the layers of the server chain, outermost first: what each has received,
answered itself and passed on to the next.`,
		examples: []example{
			{"The layers and how busy each is", "kapi inspect layers"},
			{"Which group versions the innermost layer serves", "kapi inspect layer apiextensions -o jsonpath='{.spec.groupVersions}'"},
			{"How many requests each layer has answered, busiest last", "kapi inspect layers --sort-by=.status.requestsAnswered -o custom-columns=NAME:.metadata.name,ANSWERED:.status.requestsAnswered"},
		},
	},
	{
		resource: "filters", group: "request",
		short: "Show the handler chain, filter by filter",
		long: `Show the handler chain that every request goes through, outermost filter first:
which filters are on, how many requests each has let pass or ended, and the time
that its own work takes.`,
		examples: []example{
			{"The whole chain", "kapi inspect chain"},
			{"Filters that are off, and what would turn them on", "kapi inspect filters -o wide --field-selector spec.enabled=false"},
			{"The filter that takes the most time", "kapi inspect filters --sort-by=.status.in.p99 --no-headers"},
		},
	},
	{
		resource: "authenticators", group: "request",
		short: "Show the authenticators and what they decided",
		long: `Show the authenticators in the order in which they are asked who a request is
from, where each is configured, and how often it knew.`,
		examples: []example{
			{"Who is asked, in order", "kapi inspect authn"},
			{"From which files and flags they come", "kapi inspect authn -o wide"},
			{"Authenticators that have refused credentials", "kapi inspect authn -o json --sort-by=.status.errors"},
		},
	},
	{
		resource: "authorizers", group: "request",
		short: "Show the authorizers and what they decided",
		long: `Show the authorizers in the order in which they are asked whether a user may do
something, and how often each allowed or denied it.`,
		examples: []example{
			{"Who is asked, in order", "kapi inspect authz"},
			{"With latencies", "kapi inspect authz -o wide"},
			{"How often RBAC said yes", "kapi inspect authz -o jsonpath='{range .items[*]}{.metadata.name}={.status.allowed}{\"\\n\"}{end}'"},
		},
	},
	{
		resource: "admissionplugins", use: "admission", group: "request",
		short: "Show the admission plugins, mutating ones first",
		long: `Show the admission plugins in the order in which they see a change, which of them
are on, and how often each has refused one.`,
		examples: []example{
			{"Plugins that are on", "kapi inspect admission --field-selector spec.enabled=true"},
			{"Those that have refused something last", "kapi inspect admission --sort-by=.status.rejected"},
			{"Names only", "kapi inspect admission -o name"},
		},
	},
	{
		resource: "flowstates", use: "flow", group: "request",
		short: "Show priority levels: seats, queues, refusals",
		long: `Show the priority levels of priority and fairness: how many seats each has and
uses now, what waits in its queues, and what it has refused.`,
		examples: []example{
			{"All levels", "kapi inspect flow"},
			{"Which flow schemas lead to which level", "kapi inspect flow -o wide"},
			{"Who sends the most through a level", "kapi inspect flow workload-low -o jsonpath='{.status.users}'"},
		},
	},
	{
		resource: "healthchecks", use: "health", group: "start",
		short: "Show the health checks, with the reasons that /readyz withholds",
		long: `Show the checks of /livez, /readyz and /healthz with the reason of a failure, which
those endpoints withhold.`,
		examples: []example{
			{"All checks", "kapi inspect health"},
			{"Only those that fail; the exit status says whether there are any", "kapi inspect health --field-selector status.state=Failed --exit-status"},
			{"When and why a check last failed", "kapi inspect health -o yaml"},
		},
	},
	{
		resource: "poststarthooks", use: "hooks", group: "start",
		short: "Show the post-start hooks as a waterfall",
		long: `Show the functions that the layers ran once the server listened, as a waterfall:
when each began, how long it took, and why one failed or where one hangs. The
server is ready when all have ended. -o table has one line each.`,
		examples: []example{
			{"All hooks on one axis of time", "kapi inspect hooks"},
			{"Hooks that have not ended; the exit status says whether there are any", "kapi inspect hooks -o table --field-selector status.state!=Done --exit-status"},
			{"Wait for one hook", "kapi inspect hooks rbac-bootstrap-roles --for=condition=Done --timeout=10s"},
		},
		view: viewHooks,
	},
	{
		resource: "bootsteps", use: "boot", group: "start",
		short: "Show the way from exec to ready as a waterfall",
		long: `Show the components of the server from the start of the process until it was
ready, as a waterfall: what waited for what, and how long each took. Earlier starts
on the same data directory have a line each. -o table has one line for each step.`,
		examples: []example{
			{"This start, and the ones before it", "kapi inspect boot"},
			{"Steps that failed, in any start that is kept", "kapi inspect boot -o table --field-selector status.state=Failed"},
			{"Durations for a script", "kapi inspect boot -o custom-columns=COMPONENT:.spec.component,TOOK:.status.duration"},
		},
		view: viewBoot,
	},
	{
		resource: "etcdmembers", use: "etcd", group: "start",
		short: "Show etcd: size, quota, leader, latency",
		long: `Show the members of etcd: how full the database is and when the quota will be
reached at this speed, who leads, and how long a sync takes.`,
		examples: []example{
			{"Size, quota and leader", "kapi inspect etcd"},
			{"With alarms and latencies", "kapi inspect etcd -o wide"},
			{"Wait until the member is well", "kapi inspect etcd --for=condition=Healthy --timeout=10s"},
		},
	},
	{
		resource: "controllers", group: "start",
		short: "Show the controllers inside the server: state, queue, errors",
		long: `Show the controllers inside the server: which run, which stand by because another
server runs them, how much waits in their queues, and what went wrong last. Which
there are is chosen with kapi serve --controllers.`,
		examples: []example{
			{"All controllers", "kapi inspect controllers"},
			{"Those that are on, what waits longest last: as whom they act, since when", "kapi inspect controllers -o wide --field-selector spec.enabled=true --sort-by=queue"},
			{"Everything about one", "kapi inspect controllers namespace"},
		},
		one: viewController,
	},
	{
		resource: "apiresourceregistrations", use: "resources", group: "api", aliases: []string{"resource"},
		short: "Show every registered resource: layer, storage version, etcd prefix",
		long: `Show every resource in every version: the layer that serves it, the version that
it is stored as, its prefix in etcd, and if it is not served, what would turn it on.`,
		examples: []example{
			{"All resources", "kapi inspect resources"},
			{"Resources that are not served, and why", "kapi inspect resources --field-selector spec.served=false -o wide"},
			{"What the layer apiextensions serves", "kapi inspect resources --field-selector spec.layer=apiextensions"},
		},
	},
	{
		resource: "resourcestorages", use: "storage", group: "api",
		short: "Show what is stored of each resource, and its watch cache",
		long: `Show how many objects of each resource are stored and how many bytes they take, how
far its watch cache is behind, and how many watches are open.`,
		examples: []example{
			{"What fills etcd, largest last", "kapi inspect storage --sort-by=.status.bytes"},
			{"Watch caches and watchers", "kapi inspect storage -o wide"},
			{"Objects of one resource", "kapi inspect storage namespaces -o jsonpath='{.status.objects}'"},
		},
	},
	{
		resource: "discoverystates", use: "discovery", group: "api",
		short: "Show which group versions discovery and OpenAPI know",
		long: `Show for each group version whether discovery has it, fresh or stale, and whether
the OpenAPI documents do.`,
		examples: []example{
			{"All group versions", "kapi inspect discovery"},
			{"Those that are not current", "kapi inspect discovery --field-selector status.freshness!=Current"},
			{"Size and hash of one OpenAPI document", "kapi inspect discovery apps.v1 -o yaml"},
		},
	},
	{
		resource: "conditiontransitions", use: "transitions", group: "api",
		short: "Show how conditions of CRDs, APIServices and namespaces changed",
		long: `Show the changes of conditions of CustomResourceDefinitions and APIServices since
the server started, oldest first, with the times that no object keeps. Of namespaces
there is what kept them from going when they were deleted.`,
		examples: []example{
			{"Everything that changed", "kapi inspect transitions"},
			{"What happened to one APIService", "kapi inspect transitions --field-selector spec.object.name=v1.apps"},
			{"Times until definitions were established", "kapi inspect transitions --field-selector spec.type=Established -o wide"},
		},
	},
	{
		resource: "apiserviceprobes", use: "probes", group: "api",
		short: "Show the way to each aggregated server, step by step",
		long: `Show the probes of aggregated servers: the Service, its endpoint, the connection,
the certificate and the answer, and at which of them a probe fails. "kapi inspect
apiservices" has the same joined with the APIService itself.`,
		examples: []example{
			{"All probes", "kapi inspect probes"},
			{"Those that fail", "kapi inspect probes --field-selector status.available=False"},
			{"Every step of every kept probe", "kapi inspect probes -o yaml"},
		},
	},
}
