// Package lifecycle runs the components of a process: started in order, watched
// while they run, stopped in reverse order, each with a deadline.
//
//	pid-file → start … all ready → Ready → ready-file, READY=1
//	                                         │ signal, ctx, or a component failed
//	           pid-file removed ← stop … ← ready-file removed, STOPPING=1
//
// Invariants:
//   - A component is started when those that it depends on are ready, and it is
//     stopped before any of them.
//   - What is ready gets its Stop called exactly once, whatever happens to the
//     others, unless the user asks for an end at once by a second signal.
//   - All decisions are taken, and all of the observer's calls are made, in the
//     goroutine of Run. A component's functions run in goroutines of their own,
//     which Run waits for until their deadline.
//
// It is not a supervisor: nothing is restarted. It knows nothing of what the
// components do.
//
// It may import the standard library, go-systemd/daemon and internal/fault.
package lifecycle
