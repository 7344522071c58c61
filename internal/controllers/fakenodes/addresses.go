package fakenodes

import (
	"fmt"
	"net/netip"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// MaxNodes is the largest number of nodes: each has 256 of the addresses from
// 10.244.0.0 to 10.255.255.255, and the first 256 stay unused so that node 1 has
// 10.244.1.0/24.
const MaxNodes = 12*256 - 1

// Within the addresses of a node, pods have those from firstHost to lastHost.
const (
	nodeHost  = 1
	firstHost = 2
	lastHost  = 254
)

// subnetOf is the range of a node's pods, by the node's number.
func subnetOf(number int) netip.Prefix {
	return netip.PrefixFrom(hostOf(number, 0), 24)
}

// subnetsOf is that range in each of some families.
func subnetsOf(number int, families []corev1.IPFamily) []string {
	var subnets []string
	for _, family := range families {
		subnet := subnetOf(number)
		if family == corev1.IPv6Protocol {
			subnet = netip.PrefixFrom(sixOf(subnet.Addr()), 64)
		}
		subnets = append(subnets, subnet.String())
	}
	return subnets
}

// inFamilies is an address in each of some families.
func inFamilies(address netip.Addr, families []corev1.IPFamily) []string {
	var all []string
	for _, family := range families {
		one := address
		if family == corev1.IPv6Protocol {
			one = sixOf(address)
		}
		all = append(all, one.String())
	}
	return all
}

// sixOf is the IPv6 address beside an IPv4 one: fd00:10:244:NODE::HOST.
func sixOf(four netip.Addr) netip.Addr {
	b := four.As4()
	return netip.AddrFrom16([16]byte{0xfd, 0, 0, 0x10, 0x02, 0x44, b[1] - 244, b[2], 15: b[3]})
}

// fourOf is the IPv4 address beside one of either family. Others than those that are
// given out here are none.
func fourOf(address netip.Addr) (netip.Addr, bool) {
	if address.Is4() {
		return address, true
	}
	b := address.As16()
	four := netip.AddrFrom4([4]byte{10, b[6] + 244, b[7], b[15]})
	return four, sixOf(four) == address
}

func hostOf(number, host int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, byte(244 + number/256), byte(number % 256), byte(host)})
}

// Addresses returns what tells of the addresses of so many nodes and of the pods on
// them, behind which there is nothing.
func Addresses(count int) func(netip.Addr) bool {
	return func(address netip.Addr) bool {
		four, ok := fourOf(address.Unmap())
		if !ok {
			return false
		}
		b := four.As4()
		number := (int(b[1])-244)*256 + int(b[2])
		return b[0] == 10 && number >= 1 && number <= count
	}
}

// addresses knows which pod has which address, by its IPv4 address whatever families
// there are. It is filled from the pods that the
// informer has before any address is given out, so that none is given out twice
// after a restart.
type addresses struct {
	mu sync.Mutex
	// owner and held are inverse to each other.
	owner map[netip.Addr]types.UID
	held  map[types.UID]netip.Addr
	// last is the host that a node, by its number, has given out last: an address is
	// not used again before all others were.
	last map[int]int
}

func newAddresses() *addresses {
	return &addresses{
		owner: make(map[netip.Addr]types.UID),
		held:  make(map[types.UID]netip.Addr),
		last:  make(map[int]int),
	}
}

// take returns the address of a pod, a free one if it has none yet. It fails when
// all of the node's are taken.
func (a *addresses) take(number int, pod types.UID) (netip.Addr, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if address, ok := a.held[pod]; ok {
		return address, nil
	}
	const hosts = lastHost - firstHost + 1
	for i := range hosts {
		// last counts from 1, so that a node without an entry begins at firstHost.
		host := firstHost + (a.last[number]+i)%hosts
		address := hostOf(number, host)
		if _, taken := a.owner[address]; taken {
			continue
		}
		a.last[number] = host - firstHost + 1
		a.owner[address], a.held[pod] = pod, address
		return address, nil
	}
	return netip.Addr{}, fmt.Errorf("all %d addresses of %s are taken", hosts, subnetOf(number))
}

// keep notes the address that a pod has. The first of two that have the same
// keeps it: neither can be told.
func (a *addresses) keep(pod types.UID, text string) {
	parsed, err := netip.ParseAddr(text)
	if err != nil {
		return
	}
	address, ok := fourOf(parsed)
	if !ok || address.As4()[3] == nodeHost {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, taken := a.owner[address]; taken {
		return
	}
	a.forget(pod)
	a.owner[address], a.held[pod] = pod, address
}

// release frees the address of a pod that has ended or gone.
func (a *addresses) release(pod types.UID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.forget(pod)
}

func (a *addresses) forget(pod types.UID) {
	if address, ok := a.held[pod]; ok {
		delete(a.owner, address)
		delete(a.held, pod)
	}
}
