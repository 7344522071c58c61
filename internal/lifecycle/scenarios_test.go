package lifecycle

import (
	"errors"
	"time"
)

// scenario is one run: what there is, what happens to it, and what comes of it.
// Times are those of a clock that stands still while anything runs.
type scenario struct {
	name       string
	components string // see parseSpec
	events     string // "TIME what" a line: SIGTERM, SIGINT, cancel, close
	timeout    time.Duration
	ready      error // of Options.Ready
	want       string
	err        string
}

var scenarios = []scenario{
	{
		name:       "in order and back",
		components: "etcd start=2s stop=1s\npki\nserver start=1s stop=2s",
		events:     "10s SIGTERM",
		want: `
			0s etcd starting
			2s etcd ready
			2s pki starting
			2s pki ready
			2s server starting
			3s server ready
			3s READY
			10s server stopping
			12s server stopped
			12s pki stopping
			12s pki stopped
			12s etcd stopping
			13s etcd stopped`,
	},
	{
		name:       "the end of the context is a signal",
		components: "a",
		events:     "1s cancel\n2s SIGTERM",
		want: `
			0s a starting
			0s a ready
			0s READY
			1s a stopping
			1s a stopped`,
	},
	{
		name:   "nothing to run",
		events: "1s SIGINT",
		want:   "0s READY",
	},
	{
		name:       "a closed channel of signals is no signal",
		components: "a",
		events:     "1s close\n2s cancel",
		want: `
			0s a starting
			0s a ready
			0s READY
			2s a stopping
			2s a stopped`,
	},
	{
		name: "at the same time",
		components: `
			etcd   after=-         start=3s
			pki    after=-         start=1s
			certs  after=pki       start=1s
			server after=etcd,pki  start=1s
			hooks  start=1s`,
		events: "10s SIGTERM",
		want: `
			0s etcd starting
			0s pki starting
			1s pki ready
			1s certs starting
			2s certs ready
			3s etcd ready
			3s server starting
			4s server ready
			4s hooks starting
			5s hooks ready
			5s READY
			10s hooks stopping
			10s hooks stopped
			10s server stopping
			10s server stopped
			10s certs stopping
			10s certs stopped
			10s pki stopping
			10s pki stopped
			10s etcd stopping
			10s etcd stopped`,
	},
	{
		name:       "a failed start stops what had started",
		components: "a\nb\nc start=error\nd",
		want: `
			0s a starting
			0s a ready
			0s b starting
			0s b ready
			0s c starting
			0s c failed: no start
			0s b stopping
			0s b stopped
			0s a stopping
			0s a stopped`,
		err: "starting c: no start (try another way)",
	},
	{
		name:       "a failed start cancels those that are starting",
		components: "a after=- start=hang\nb after=- start=1s\nc after=b start=error",
		want: `
			0s a starting
			0s b starting
			1s b ready
			1s c starting
			1s c failed: no start
			1s a stopped
			1s b stopping
			1s b stopped`,
		err: "starting c: no start (try another way)",
	},
	{
		name:       "a start that succeeds although it was cancelled is stopped",
		components: "a after=- start=stuck timeout=1h\nb after=- start=1s\nc after=b start=error",
		events:     "5s release",
		want: `
			0s a starting
			0s b starting
			1s b ready
			1s c starting
			1s c failed: no start
			5s a ready
			5s b stopping
			5s b stopped
			5s a stopping
			5s a stopped`,
		err: "starting c: no start (try another way)",
	},
	{
		name:       "a start that panics",
		components: "a\nb start=panic",
		want: `
			0s a starting
			0s a ready
			0s b starting
			0s b failed: panic: can't start
			0s a stopping
			0s a stopped`,
		err: "starting b: panic: can't start",
	},
	{
		name:       "a start whose goroutine ends",
		components: "a start=goexit",
		want: `
			0s a starting
			0s a failed: its goroutine ended without a result`,
		err: "starting a: its goroutine ended without a result",
	},
	{
		name:       "Ready fails",
		components: "a",
		ready:      errors.New("no place"),
		want: `
			0s a starting
			0s a ready
			0s READY
			0s a stopping
			0s a stopped`,
		err: "no place",
	},
	{
		name:       "a signal while a start waits",
		components: "a\nb start=hang\nc",
		events:     "5s SIGTERM",
		want: `
			0s a starting
			0s a ready
			0s b starting
			5s b stopped
			5s a stopping
			5s a stopped`,
	},
	{
		name:       "a signal while starts hang: each has its deadline",
		components: "a after=-\nb after=- start=stuck timeout=7s\nc after=- start=stuck timeout=3s\nd after=- start=hang",
		events:     "5s SIGTERM",
		want: `
			0s a starting
			0s b starting
			0s c starting
			0s d starting
			0s a ready
			5s d stopped
			8s c hung: starting c: not done after 3s
			12s b hung: starting b: not done after 7s
			12s a stopping
			12s a stopped`,
		err: "starting b: not done after 7s; starting c: not done after 3s",
	},
	{
		name:       "a second signal while a start hangs",
		components: "a\nb start=stuck timeout=1h",
		events:     "5s SIGTERM\n6s SIGTERM",
		want: `
			0s a starting
			0s a ready
			0s b starting
			6s EXIT 1`,
		err: "ended by a second signal",
	},
	{
		name:       "a second signal while a stop hangs",
		components: "a\nb stop=stuck timeout=1h",
		events:     "5s SIGTERM\n6s SIGINT",
		want: `
			0s a starting
			0s a ready
			0s b starting
			0s b ready
			0s READY
			5s b stopping
			6s EXIT 1`,
		err: "ended by a second signal",
	},
	{
		name:       "stops that hang: each has its deadline",
		components: "a\nb stop=stuck timeout=3s\nc stop=hang\nd stop=1s",
		events:     "5s SIGTERM",
		want: `
			0s a starting
			0s a ready
			0s b starting
			0s b ready
			0s c starting
			0s c ready
			0s d starting
			0s d ready
			0s READY
			5s d stopping
			6s d stopped
			6s c stopping
			21s c hung: stopping c: not done after 15s
			21s b stopping
			24.1s b hung: stopping b: not done after 3s
			24.1s a stopping
			24.1s a stopped`,
		err: "stopping c: not done after 15s; stopping b: not done after 3s",
	},
	{
		name:       "the time for all: who comes late has a second",
		components: "a stop=900ms\nb stop=hang\nc stop=hang timeout=1h",
		events:     "5s SIGTERM",
		timeout:    10 * time.Second,
		want: `
			0s a starting
			0s a ready
			0s b starting
			0s b ready
			0s c starting
			0s c ready
			0s READY
			5s c stopping
			15s c hung: stopping c: not done after 10s
			15s b stopping
			16s b hung: stopping b: not done after 1s
			16s a stopping
			16.9s a stopped`,
		err: "stopping c: not done after 10s; stopping b: not done after 1s",
	},
	{
		name:       "stops that fail: the others are stopped",
		components: "a\nb stop=error\nc stop=panic",
		events:     "5s SIGTERM",
		want: `
			0s a starting
			0s a ready
			0s b starting
			0s b ready
			0s c starting
			0s c ready
			0s READY
			5s c stopping
			5s c failed: stopping c: panic: can't stop
			5s b stopping
			5s b failed: stopping b: no stop
			5s a stopping
			5s a stopped`,
		err: "stopping c: panic: can't stop; stopping b: no stop (try another way)",
	},
	{
		name:       "a component that fails",
		components: "a\nb fail=5s\nc",
		want: `
			0s a starting
			0s a ready
			0s b starting
			0s b ready
			0s c starting
			0s c ready
			0s READY
			5s b ready: broken after 5s
			5s c stopping
			5s c stopped
			5s b stopping: broken after 5s
			5s b stopped: broken after 5s
			5s a stopping
			5s a stopped`,
		err: "running b: broken after 5s",
	},
	{
		name:       "a component that fails while others start, and a stop that fails then",
		components: "a fail=5s stop=error\nb start=hang",
		want: `
			0s a starting
			0s a ready
			0s b starting
			5s a ready: broken after 5s
			5s b stopped
			5s a stopping: broken after 5s
			5s a failed: broken after 5s`,
		err: "running a: broken after 5s; stopping a: no stop (try another way)",
	},
	{
		name:       "a component that ends for no reason",
		components: "a fail=nil",
		want: `
			0s a starting
			0s a ready
			0s READY
			0s a ready: it ended without saying why
			0s a stopping: it ended without saying why
			0s a stopped: it ended without saying why`,
		err: "running a: it ended without saying why",
	},
	{
		name:       "a closed channel is no failure; nor is one while stopping",
		components: "a fail=closed\nb fail=6s stop=2s",
		events:     "5s SIGTERM",
		want: `
			0s a starting
			0s a ready
			0s b starting
			0s b ready
			0s READY
			5s b stopping
			7s b stopped
			7s a stopping
			7s a stopped`,
	},
	{
		name:       "a failure, then signals: the first says to wait, the second ends",
		components: "a fail=5s stop=stuck timeout=1h",
		events:     "6s SIGTERM\n7s SIGTERM",
		want: `
			0s a starting
			0s a ready
			0s READY
			5s a ready: broken after 5s
			5s a stopping: broken after 5s
			7s EXIT 1`,
		err: "ended by a second signal",
	},
}
