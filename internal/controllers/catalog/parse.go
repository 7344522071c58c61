package catalog

import (
	"slices"
	"strings"

	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/internal/near"
)

// Selection is the set of the names of the controllers that are on.
type Selection map[string]bool

// Has tells whether a controller is on.
func (s Selection) Has(name string) bool { return s[name] }

// Any tells whether at least one controller is on.
func (s Selection) Any() bool { return len(s) > 0 }

// Parse reads the words of --controllers, from left to right. A word is a set, a
// name or an alias; with + it is added and with - taken away. Without a word that
// has neither, the set api is what is added to and taken from. nodes says that there
// are fake nodes: then the set nodes is on at first, and fake-nodes in the end. Words
// that stand for nothing are an error of usage.
func Parse(words []string, nodes bool) (Selection, error) {
	out := Selection{}
	if !slices.ContainsFunc(words, plain) {
		out.add(members(string(API)))
	}
	if nodes {
		out.add(In(Nodes))
	}
	for i, word := range words {
		if err := Check(word); err != nil {
			return nil, err
		}
		if word == None && slices.ContainsFunc(words[:i], plain) {
			return nil, fault.WithHint(fault.Usagef("%q comes after %q, and takes nothing away", word, words[i-1]), "put %s first, or leave it out", None)
		}
		name, minus := strings.CutPrefix(word, "-")
		name = strings.TrimPrefix(name, "+")
		if minus {
			out.remove(members(name))
		} else {
			out.add(members(name))
		}
	}
	return out, nil
}

// Check returns why a word can't stand in --controllers, with the way out.
func Check(word string) error {
	name := word
	if !plain(word) {
		name = word[1:]
	}
	switch {
	case name == FakeNodes:
		return fault.WithHint(fault.Usagef("controller %q is turned on by another flag", word), "say how many nodes there are to be: --fake-nodes 3")
	case name == "*":
		return fault.WithHint(fault.Usagef("%q is no word here", word), "what kube-controller-manager calls * is %s here: all but those of nodes without machines", All)
	case name == None && name != word:
		return fault.WithHint(fault.Usagef("%q takes nothing away and adds nothing", word), "%s is for the beginning: --controllers=none,+namespace", None)
	case isSet(name):
		return nil
	}
	if _, known := Find(name); known {
		return nil
	}
	if why := absent()[name]; why != "" {
		return fault.WithHint(fault.Usagef("kapi does not have kube-controller-manager's controller %q", name), "leave it out: %s", why)
	}
	return fault.WithHint(fault.Usagef("there is no controller or set of controllers %q", name), "%s", meant(name))
}

// absent are the controllers of kube-controller-manager that kapi does not have, by
// both of their names, with the reason.
func absent() map[string]string {
	const (
		clouds  = "there is no cloud"
		devices = "it is for devices that fail"
		kubelet = "there are no kubelets"
		volumes = "there is nothing to attach volumes to, and nothing behind them"
		alpha   = "its API is not served unless a feature gate of upstream's is on"
	)
	return map[string]string{
		"node-ipam-controller": "fake nodes have addresses for their pods", "nodeipam": "fake nodes have addresses for their pods",
		"ttl-controller": kubelet, "ttl": kubelet,
		"selinux-warning-controller":                kubelet,
		"persistentvolume-attach-detach-controller": volumes, "attachdetach": volumes,
		"persistentvolume-expander-controller": volumes, "persistentvolume-expander": volumes,
		"device-taint-eviction-controller":     devices,
		"resourcepoolstatusrequest-controller": alpha,
		"service-lb-controller":                clouds,
		"service":                              clouds,
		"node-route-controller":                clouds,
		"route":                                clouds,
		"cloud-node-lifecycle-controller":      clouds,
		"cloud-node-lifecycle":                 clouds,
	}
}

// meant is the way out for a word that is none: the one that was meant, or the sets.
func meant(name string) string {
	if best, d := near.Of(name, Words()); len(name) > 3 && near.Enough(name, d) {
		return "did you mean " + best + "?"
	}
	return "the sets are api, workloads, all and none"
}

// Words returns the names of all sets and controllers that --controllers takes,
// without aliases.
func Words() []string {
	words := []string{string(API), string(Workloads), All, None}
	for _, c := range Controllers() {
		if c.Name != FakeNodes {
			words = append(words, c.Name)
		}
	}
	return words
}

func plain(word string) bool { return !strings.HasPrefix(word, "+") && !strings.HasPrefix(word, "-") }

func isSet(name string) bool {
	return name == string(API) || name == string(Workloads) || name == All || name == None
}

// members are the controllers that a set or a name stands for.
func members(name string) []string {
	switch name {
	case None:
		return nil
	case All:
		return append(In(API), In(Workloads)...)
	case string(API), string(Workloads):
		return In(Set(name))
	}
	if c, ok := Find(name); ok {
		return []string{c.Name}
	}
	return nil
}

func (s Selection) add(names []string) {
	for _, name := range names {
		s[name] = true
	}
}

func (s Selection) remove(names []string) {
	for _, name := range names {
		delete(s, name)
	}
}
