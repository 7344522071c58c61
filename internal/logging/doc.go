// Package logging brings every log line of the process to one writer in one
// form: our own (log/slog), klog's (the server packages) and zap's (etcd).
//
//	slog.Logger ──────────┐
//	klog.Infof … Fatalf ──┤ header parsed          ┌ text: time LEVEL component message key=value
//	klog.InfoS, logr ─────┼──→ handler ──→ core ───┤
//	zap.Logger ───────────┘ level   redact, demote └ json: one object a line
//
// The lines are filtered by where they come from, so that a normal start stays
// quiet although a thousand call sites talk:
//
//	-v    kapi          klog                    zap (etcd)
//	0     info          warning                 warning
//	1     debug         info, V(0) and V(1)     warning
//	2     debug         … V(2)                  info
//	5     debug         … V(5)                  debug
//
// No secret leaves the process by this way: attributes with a secret's name
// are replaced, and what looks like a credential inside a text is masked.
//
// It is not a log rotation, not an audit log, and it changes no process-wide
// state by itself: KlogSink.Install does, and only internal/globals calls that.
//
// It may import log/slog, klog, logr, zap and internal/fault.
package logging
