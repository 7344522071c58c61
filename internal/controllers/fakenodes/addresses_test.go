package fakenodes

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
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
	return address.String()
}

func four() []corev1.IPFamily { return []corev1.IPFamily{corev1.IPv4Protocol} }

func TestAddresses(t *testing.T) {
	within := Addresses(257)
	for text, want := range map[string]bool{
		"10.244.1.1": true, "10.244.1.254": true, "10.245.1.9": true, "10.245.2.1": false, "10.244.0.9": false, "10.243.255.1": false,
		"11.244.1.1": false, "192.168.1.1": false, "::ffff:10.244.1.1": true, "fd00:10:244:101::2": true, "fd00:10:244:102::2": false, "::1": false,
	} {
		if got := within(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// Each address has one of the other family beside it, from which it is found again.
func TestFamilies(t *testing.T) {
	both := append(four(), corev1.IPv6Protocol)
	for number, want := range map[int]string{
		1: "10.244.1.0/24 fd00:10:244:1::/64", 256: "10.245.0.0/24 fd00:10:244:100::/64", MaxNodes: "10.255.255.0/24 fd00:10:244:bff::/64",
	} {
		if got := strings.Join(subnetsOf(number, both), " "); got != want {
			t.Errorf("node %d: %s, want %s", number, got, want)
		}
	}
	if got := strings.Join(inFamilies(hostOf(300, 77), both[1:]), " "); got != "fd00:10:244:12c::4d" {
		t.Errorf("IPv6 only: %s", got)
	}
	a := newAddresses()
	a.keep("six", "fd00:10:244:3::2") // of an earlier start
	if got := take(t, a, "new"); got != "10.244.3.3" {
		t.Errorf("the next one has %s", got)
	}
	for _, text := range []string{"fd00:10:245:3::2", "fd00:10:244:3:0:0:1:2", "fd00:10:244:3::1", "::1"} {
		a.keep("none", text)
	}
	if len(a.held) != 2 {
		t.Errorf("held: %v", a.held)
	}
}
