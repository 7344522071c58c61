package etcd

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"
)

// TestKill: a member that is killed while it writes, or while it starts, has
// all writes that were acknowledged when it comes back, and its revision does
// not go back.
func TestKill(t *testing.T) {
	t.Parallel()
	c := testConfig(t)
	dir := filepath.Dir(c.Dir)
	const size = 300
	acked := map[string]int64{}
	var newest int64
	for round := range 10 {
		ch := startChild(t, "write", dir, round*100_000, size)
		if round%3 == 1 {
			// Anywhere from the first instruction to the first writes.
			stop := time.AfterFunc(rand.N(60*time.Millisecond), ch.kill)
			defer stop.Stop()
		} else {
			n := rand.N(300) + 1
			for more := true; more && len(ch.acked) < n; {
				more = ch.line(t)
			}
			ch.kill()
		}
		if code := ch.wait(t); code != -1 {
			t.Fatalf("round %d: exit code %d:\n%s", round, code, ch.stderr.String())
		}
		if ch.ready >= 0 && ch.ready < newest {
			t.Errorf("round %d: began with revision %d, but %d was acknowledged before", round, ch.ready, newest)
		}
		for k, rev := range ch.acked {
			acked[k] = rev
			newest = max(newest, rev)
		}
	}
	mustHaveAcked(t, c, acked, size)
}

// mustHaveAcked starts a member on what children have left.
func mustHaveAcked(t *testing.T, c Config, acked map[string]int64, size int) {
	t.Helper()
	if len(acked) == 0 {
		t.Fatal("nothing was acknowledged")
	}
	m := mustStart(t, c)
	got := content(t, m.Client())
	missing := 0
	for k := range acked {
		var i int
		if _, err := fmt.Sscanf(k, "key-%d", &i); err != nil {
			t.Fatal(err)
		}
		if got[k] != childValue(i, size) {
			missing++
			if missing <= 5 {
				t.Errorf("%s was acknowledged and is %.40q", k, got[k])
			}
		}
	}
	t.Logf("%d writes acknowledged, %d missing, %d keys found", len(acked), missing, len(got))
	mustStop(t, m)
}
