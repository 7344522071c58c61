package datadir

import (
	"os"
	"path/filepath"
	"testing"
)

// TestIdentity: it stays with the directory, and a copy or a successor at the same
// place has its own.
func TestIdentity(t *testing.T) {
	parent := t.TempDir()
	identity := func(name string) string {
		t.Helper()
		path := filepath.Join(parent, name)
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
		id, err := At(path).Identity()
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	a := identity("a")
	if again := identity("a"); again != a {
		t.Errorf("%s, and then %s", a, again)
	}
	if b := identity("b"); b == a {
		t.Errorf("two directories are %s", a)
	}
	if err := os.Rename(filepath.Join(parent, "a"), filepath.Join(parent, "c")); err != nil {
		t.Fatal(err)
	}
	if successor := identity("a"); successor == a {
		t.Errorf("another directory at the same place is %s too", a)
	}
	if _, err := At(filepath.Join(parent, "none")).Identity(); err == nil {
		t.Error("a directory that is not there has an identity")
	}
}
