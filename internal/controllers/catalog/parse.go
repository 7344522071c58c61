package catalog

import (
	"maps"
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

// WithNodes returns the selection for a number of fake nodes: with some, the set
// nodes is on but for what words (as for Parse) take away; with none, fake-nodes is off.
func (s Selection) WithNodes(count int, words []string) Selection {
	out := maps.Clone(s)
	delete(out, FakeNodes)
	if count > 0 {
		for _, name := range In(Nodes) {
			out[name] = true
		}
		for _, word := range words {
			if name, minus := strings.CutPrefix(word, "-"); minus {
				for _, taken := range members(name) {
					delete(out, taken)
				}
			}
		}
		out[FakeNodes] = true
	}
	return out
}

// Parse reads the words of --controllers, from left to right. A word is a set, a
// name or an alias; with + it is added and with - taken away. Without a word that
// has neither, the set api is what is added to and taken from. Words that stand for
// nothing are an error of usage.
func Parse(words []string) (Selection, error) {
	out := Selection{}
	if !slices.ContainsFunc(words, plain) {
		out.add(members(string(API)))
	}
	for _, word := range words {
		if err := Check(word); err != nil {
			return nil, err
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
	case name == None && name != word:
		return fault.WithHint(fault.Usagef("%q takes nothing away and adds nothing", word), "%s is for the beginning: --controllers=none,+namespace", None)
	case isSet(name):
		return nil
	}
	if _, known := Find(name); known {
		return nil
	}
	return fault.WithHint(fault.Usagef("there is no controller or set of controllers %q", name), "%s", meant(name))
}

// meant is the way out for a word that is none: the one that was meant, or the sets.
func meant(name string) string {
	if best, d := near.Of(name, Words()); len(name) > 1 && near.Enough(name, d) {
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
