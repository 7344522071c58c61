package etcd

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWrongOwner: a directory of another user, and a place where none can be
// made.
func TestWrongOwner(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("needs root, to become another user")
	}
	used := testConfig(t)
	mustStop(t, mustStart(t, used))
	fresh := testConfig(t)
	must(t, os.Chmod(filepath.Dir(filepath.Dir(used.Dir)), 0o755)) // lets others pass
	for name, c := range map[string]Config{"existing": used, "new": fresh} {
		parent := filepath.Dir(c.Dir)
		before := tree(t, parent)
		ch := startChild(t, "start as nobody", parent, 0, 0)
		code, stderr := ch.wait(t), ch.stderr.String()
		t.Logf("%s: exit code %d, stderr:\n%s", name, code, stderr)
		for _, want := range []string{"belongs to user 0, and this is user 65534", "hint: Run as user 0"} {
			if code != 1 || !strings.Contains(stderr, want) {
				t.Errorf("%s: stderr has no %q", name, want)
			}
		}
		if after := tree(t, parent); !maps.Equal(before, after) {
			t.Errorf("%s: changed: %v, before %v", name, after, before)
		}
	}
}
