// Package boot knows how a server starts and whether it is well: its post-start
// hooks (PostStartHook), the steps of its last ten starts (BootStep), and its
// health checks with the reasons that /livez and /readyz withhold (HealthCheck).
//
// It starts nothing itself. Hooks and checks are upstream's and are run by
// upstream; this package watches them from outside, and while nobody looks it
// does nothing: hooks are polled only until all of them are done, checks are run
// only when they are read.
//
// What is known of a hook depends on who adds it:
//
//   - Those that kapi adds go through [Hooks.Func]: their times are exact, and an
//     error is on disk before upstream sees it and ends the process.
//   - All others are found by [Hooks.Attach] in the finished chain. Upstream
//     exports no way to call or to replace them (the fields of an entry are
//     unexported, a name can't be added twice), so their end is polled, and an
//     error is taken from the message with which the process ends ([Hooks.Fatal]).
//
// It may import k8s.io/apiserver, internal/datadir, the API types and
// internal/inspect/store.
package boot
