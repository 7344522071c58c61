package tui

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/internal/near"
	"github.com/kapi-dev/kapi/tui/page"
)

// keymap is which key does what.
type keymap struct {
	actions []action
	byKey   map[string]*action
}

// newKeymap binds the keys of the registry; rebound replaces those of an action.
// An action that does not exist, a key twice, and an action that can't be left
// without a key are bad input.
func newKeymap(rebound map[string][]string) (*keymap, error) {
	k := &keymap{actions: actions(), byKey: map[string]*action{}}
	for _, id := range slices.Sorted(maps.Keys(rebound)) {
		act := k.find(page.ActionID(id))
		if act == nil {
			return nil, fault.WithHint(fault.Usagef("keys: %q is no action", id), "%s", near.Hint(id, k.ids()))
		}
		act.keys = nil
		for _, key := range rebound[id] {
			name, err := keyName(key)
			if err != nil {
				return nil, fault.WithHint(fault.Usagef("keys: %s: %w", id, err), `write it as "s", "ctrl+s", "shift+tab", "f5", "space"; in quotes, since YAML reads y and n as true and false`)
			}
			act.keys = append(act.keys, name)
		}
		if len(act.keys) == 0 && (act.id == actQuit || act.id == actInterrupt || act.id == actPalette) {
			return nil, fault.WithHint(fault.Usagef("keys: %s has no key left", id), "there would be no way out: give it one")
		}
	}
	var conflicts []string
	for i := range k.actions {
		act := &k.actions[i]
		for _, key := range act.keys {
			if other, ok := k.byKey[key]; ok {
				conflicts = append(conflicts, fmt.Sprintf("%s is of %s and of %s", shownKey(key), other.id, act.id))
				continue
			}
			k.byKey[key] = act
		}
	}
	if len(conflicts) > 0 {
		return nil, fault.WithHint(fault.Usagef("keys: %s", strings.Join(conflicts, "; ")), "give one of them another key, or [] for none")
	}
	return k, nil
}

func (k *keymap) find(id page.ActionID) *action {
	for i := range k.actions {
		if k.actions[i].id == id {
			return &k.actions[i]
		}
	}
	return nil
}

func (k *keymap) ids() []string {
	ids := make([]string, 0, len(k.actions))
	for _, act := range k.actions {
		ids = append(ids, string(act.id))
	}
	return ids
}

// keyOf is the key of an action as it is shown; empty if it has none.
func (k *keymap) keyOf(id page.ActionID) string {
	if act := k.find(id); act != nil && len(act.keys) > 0 {
		return shownKey(act.keys[0])
	}
	return ""
}

// namedKeys are the keys with names, as Bubble Tea calls them.
var namedKeys = []string{
	"enter", "esc", "tab", "shift+tab", "backspace", "delete", "insert", "up", "down", "left", "right",
	"home", "end", "pgup", "pgdown", "shift+up", "shift+down", "shift+left", "shift+right",
	"f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11", "f12",
}

// sameKeys are keys for which terminals send the same as for one with a name.
var sameKeys = map[string]string{"ctrl+m": "enter", "ctrl+i": "tab", "ctrl+[": "esc", "ctrl+?": "backspace"}

// keyName reads a key as people write it, and returns it as Bubble Tea does.
func keyName(key string) (string, error) {
	lower := strings.ToLower(key)
	if same, ok := sameKeys[lower]; ok {
		return same, nil
	}
	switch {
	case lower == "space" || key == " ":
		return " ", nil
	case slices.Contains(namedKeys, lower):
		return lower, nil
	case len([]rune(key)) == 1:
		return key, nil
	}
	for _, prefix := range []string{"ctrl+", "alt+"} {
		rest, ok := strings.CutPrefix(lower, prefix)
		if ok && len([]rune(rest)) == 1 {
			if prefix == "alt+" {
				return prefix + key[len(prefix):], nil
			}
			return prefix + rest, nil
		}
	}
	return "", fmt.Errorf("%q is no key", key)
}

// shownKey is a key as it is written on the screen.
func shownKey(key string) string {
	if key == " " {
		return "space"
	}
	if rest, ok := strings.CutPrefix(key, "ctrl+"); ok {
		return "ctrl-" + rest
	}
	return key
}
