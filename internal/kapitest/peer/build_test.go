package peer

import (
	"strings"
	"testing"
)

func TestVersionFlags(t *testing.T) {
	flags, err := versionFlags("v1.37.2")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"-X k8s.io/component-base/version.gitVersion=v1.37.2",
		"-X k8s.io/component-base/version.gitMajor=1",
		"-X k8s.io/component-base/version.gitMinor=37",
	} {
		if !strings.Contains(flags, want) {
			t.Errorf("%q lacks %q", flags, want)
		}
	}
	if _, err := versionFlags("(devel)"); err == nil {
		t.Error("a version that is none was accepted")
	}
}
