package fakenodes

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

func TestAddressesAreUniqueAndUsedAgainLast(t *testing.T) {
	a := newAddresses()
	// A pod of an earlier start has one already.
	a.keep("old", "10.244.3.2")
	first := take(t, a, "first")
	if first != "10.244.3.3" || take(t, a, "first") != first {
		t.Fatalf("first has %s", first)
	}
	seen := map[string]bool{"10.244.3.2": true, first: true}
	for i := range 251 {
		got := take(t, a, types.UID(fmt.Sprint(i)))
		if seen[got] {
			t.Fatalf("%s was given out twice", got)
		}
		seen[got] = true
	}
	if got, err := a.take(3, "one too many"); err == nil {
		t.Fatalf("the 254th pod of a node has %s", got)
	}
	a.release("7")
	a.release("old")
	a.release("never there")
	if got := take(t, a, "next"); got != "10.244.3.2" && got != "10.244.3.11" {
		t.Errorf("a freed address is not used again: %s", got)
	}
}

func TestAddressesThatAreKept(t *testing.T) {
	a := newAddresses()
	a.keep("pod", "10.244.3.9")
	a.keep("other", "10.244.3.9")
	a.keep("host network", "10.244.3.1")
	a.keep("nonsense", "nonsense")
	a.keep("six", "fd00::1")
	a.release("other")
	if owner := a.owner[hostOf(3, 9)]; owner != "pod" {
		t.Errorf("the address is %q's", owner)
	}
	if len(a.held) != 1 || len(a.owner) != 1 {
		t.Errorf("held: %v", a.held)
	}
	// The informer shows what was given out.
	given := take(t, a, "new")
	a.keep("new", given)
	if len(a.held) != 2 || len(a.owner) != 2 {
		t.Errorf("held: %v", a.held)
	}
}

func TestSubnets(t *testing.T) {
	for number, want := range map[int]string{1: "10.244.1.0/24", 255: "10.244.255.0/24", 256: "10.245.0.0/24", MaxNodes: "10.255.255.0/24"} {
		if got := subnetOf(number).String(); got != want {
			t.Errorf("node %d: %s, want %s", number, got, want)
		}
	}
}

func take(t *testing.T, a *addresses, pod types.UID) string {
	t.Helper()
	address, err := a.take(3, pod)
	if err != nil {
		t.Fatal(err)
	}
	return address
}
