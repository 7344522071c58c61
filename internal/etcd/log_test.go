package etcd

import (
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
)

// TestQuietLog: starting and stopping is not worth a warning, except where the
// disk is slow.
func TestQuietLog(t *testing.T) {
	t.Parallel()
	core, seen := observer.New(zapcore.WarnLevel)
	c := testConfig(t)
	c.Logger = zap.New(core, zap.AddStacktrace(zapcore.InfoLevel))
	for range 2 {
		m := mustStart(t, c)
		fill(t, m.Client(), 10, sampleValue)
		mustStop(t, m)
	}
	for _, e := range seen.All() {
		if e.Stack != "" {
			t.Errorf("%s has a stack trace", e.Message)
		}
		if !strings.Contains(e.Message, "slow") && !strings.Contains(e.Message, "took too long") {
			t.Errorf("logged: %s %s %v", e.Level, e.Message, e.ContextMap())
		}
	}
}
