package boot

import (
	"testing"
	"time"
)

// TestProcessStart: the process is older than this test, and was there when it was
// asked first. A test that runs for long is older than what ProcessStart believes.
func TestProcessStart(t *testing.T) {
	t.Parallel()
	if started := ProcessStart(); started.After(time.Now()) {
		t.Errorf("the process starts at %v, in the future", started)
	}
	first, err := startTicks()
	if err != nil || first <= 0 {
		t.Errorf("startTicks: %d, %v", first, err)
	}
	if second, err := startTicks(); err != nil || second != first {
		t.Errorf("startTicks: %d, then %d, %v", first, second, err)
	}
}
