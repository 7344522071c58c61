package tui

import (
	"strings"
	"testing"

	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages"
)

func TestKeymap(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		rebound map[string][]string
		// wrong and hint are in the error; bound is a key and what it does.
		wrong, hint string
		bound       map[string]page.ActionID
		unbound     []string
	}{
		"none":           {bound: map[string]page.ActionID{"j": page.Down, "down": page.Down, "q": actQuit, " ": actPause, "5": "page-crds", "enter": page.Enter}},
		"another key":    {rebound: map[string][]string{"sort": {"o", "Ctrl+S"}}, bound: map[string]page.ActionID{"o": page.Sort, "ctrl+s": page.Sort}, unbound: []string{"s"}},
		"no key":         {rebound: map[string][]string{"delete": {}}, unbound: []string{"ctrl+x"}},
		"two change":     {rebound: map[string][]string{"sort": {"S"}, "reverse": {"s"}}, bound: map[string]page.ActionID{"S": page.Sort, "s": page.Reverse}},
		"space":          {rebound: map[string][]string{"pause": {"p"}, "wide": {"space"}}, bound: map[string]page.ActionID{" ": page.Wide}},
		"F keys":         {rebound: map[string][]string{"help": {"F1", "?"}}, bound: map[string]page.ActionID{"f1": actHelp, "?": actHelp}},
		"alt":            {rebound: map[string][]string{"theme": {"alt+T"}}, bound: map[string]page.ActionID{"alt+T": actTheme}},
		"wide runes":     {rebound: map[string][]string{"theme": {"花"}}, bound: map[string]page.ActionID{"花": actTheme}},
		"no such action": {rebound: map[string][]string{"srot": {"s"}}, wrong: `"srot" is no action`, hint: "sort"},
		"no such key":    {rebound: map[string][]string{"sort": {"hyper+s"}}, wrong: `"hyper+s" is no key`, hint: "shift+tab"},
		"empty key":      {rebound: map[string][]string{"sort": {""}}, wrong: "is no key"},
		"conflict":       {rebound: map[string][]string{"sort": {"j"}}, wrong: "j is of down and of sort", hint: "[]"},
		"two conflicts":  {rebound: map[string][]string{"sort": {"j", "q"}}, wrong: "q is of"},
		"same key twice": {rebound: map[string][]string{"sort": {"o", "o"}}, wrong: "o is of sort"},
		"no way out":     {rebound: map[string][]string{"quit": {}}, wrong: "quit has no key left", hint: "no way out"},
		"no interrupt":   {rebound: map[string][]string{"interrupt": {}}, wrong: "interrupt has no key left"},
		"no palette":     {rebound: map[string][]string{"command": {}}, wrong: "command has no key left"},
		// Terminals send the same for these, and Bubble Tea calls it by the other name.
		"ctrl+m is enter":     {rebound: map[string][]string{"sort": {"ctrl+m"}}, wrong: "enter"},
		"ctrl+i is tab":       {rebound: map[string][]string{"sort": {"ctrl+i"}}, wrong: "tab"},
		"ctrl+[ is esc":       {rebound: map[string][]string{"sort": {"ctrl+["}}, wrong: "esc"},
		"ctrl+? is backspace": {rebound: map[string][]string{"sort": {"ctrl+?"}}, bound: map[string]page.ActionID{"backspace": page.Sort}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			keys, err := newKeymap(test.rebound)
			if test.wrong != "" {
				if err == nil || fault.Code(err) != fault.CodeUsage || !strings.Contains(err.Error(), test.wrong) || !strings.Contains(fault.Hint(err), test.hint) {
					t.Errorf("got %v (%s), want %q (%s)", err, fault.Hint(err), test.wrong, test.hint)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for key, id := range test.bound {
				if act := keys.byKey[key]; act == nil || act.id != id {
					t.Errorf("%q is bound to %+v, want %s", key, act, id)
				}
			}
			for _, key := range test.unbound {
				if act, ok := keys.byKey[key]; ok {
					t.Errorf("%q is bound to %s", key, act.id)
				}
			}
		})
	}
}

// A key that was rebound does the new thing, and the screen says so.
func TestReboundKey(t *testing.T) {
	t.Parallel()
	r := stage(t, scene{at: "crds"}, func(o *Options) {
		o.Settings.Keys = map[string][]string{"filter": {"ctrl+g"}, "quit": {"f10"}}
	})
	r.wants("ctrl-g filter", "f10 quit")
	r.press("/")
	if r.app.panel != nil {
		t.Error("the old key still opens the filter")
	}
	r.press("ctrl+g")
	r.say("stuck")
	r.press("enter")
	r.lacks("gadgets")
	r.press("q")
	if r.quits != 0 {
		t.Error("the old key still quits")
	}
	r.press("f10")
	if r.quits != 1 {
		t.Error("the new key does not quit")
	}
}

// Every action has a name, words for the help, and something that does it; every page
// is reached by its name, and by the names of what it shows.
func TestRegistry(t *testing.T) {
	t.Parallel()
	groups := map[string]bool{groupMove: true, groupFind: true, groupObject: true, groupTable: true, groupView: true}
	seen := map[page.ActionID]bool{}
	reference := string(Reference())
	for _, act := range actions() {
		if act.id == "" || act.help == "" || !groups[act.group] || len(act.keys) == 0 || seen[act.id] {
			t.Errorf("%+v is not whole, or there twice", act.id)
		}
		if !strings.Contains(reference, "`"+string(act.id)+"`") {
			t.Errorf("the reference lacks %s", act.id)
		}
		if _, err := keyName(act.keys[0]); err != nil {
			t.Errorf("%s: its own key can't be written in tui.yaml: %v", act.id, err)
		}
		seen[act.id] = true
	}
	digits := map[string]bool{}
	for _, entry := range pages.All() {
		if entry.Digit != "" && (digits[entry.Digit] || !seen[page.ActionID("page-"+entry.Name)]) {
			t.Errorf("%s shares its digit, or has no action", entry.Name)
		}
		digits[entry.Digit] = true
		for _, name := range append([]string{entry.Name, entry.Short}, entry.Resources...) {
			if got, ok := pages.ByName(name); !ok || got.Name != entry.Name {
				t.Errorf("%q leads to %q, want %s", name, got.Name, entry.Name)
			}
		}
	}
	if len(digits) != 11 {
		t.Errorf("%d digits", len(digits))
	}
}

// Runes that come in one read are keys one after the other; a paste is none.
func TestKeysTypedFast(t *testing.T) {
	t.Parallel()
	r := stage(t, scene{at: "crds"})
	r.send(keyMsg("jj"))
	if s, _ := r.app.subject(); s.Name != "widgets.lab.example" {
		t.Errorf("jj leads to %s", s.Name)
	}
	r.send(keyMsg("gj/stuck"))
	r.press("enter")
	r.lacks("gadgets")
	r.press("esc")
	r.send(pasteMsg("q"))
	r.send(pasteMsg("]"))
	r.send(pasteMsg(""))
	if r.quits != 0 {
		t.Error("a paste quits")
	}
	r.press("/")
	r.send(pasteMsg("花子\nwi\x1b[2J"))
	r.view()
	r.press("ctrl+u")
	r.say(strings.Repeat("花", 300))
	r.view()
	r.healthy()
}
