package screen_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// place is a page, how one goes there, and some of what it has to show.
type place struct {
	name, key string
	// line is what is typed after a colon.
	line string
	// shows is on the page in every size.
	shows []string
	// cursor says that something is selected.
	cursor bool
}

var places = []place{
	{"dashboard", "1", "dashboard", []string{"2 bad", "v1beta1.metrics.k8s.io", "gadgets.example.com", "checks ok", "APIServices", "CRDs", "etcd"}, true},
	{"chain", "2", "chain", []string{"FILTER", "authentication", "authorization", "403:", "LAYER", "aggregator", "apiextensions"}, true},
	{"requests", "3", "requests", []string{"CODE", "VERB", "list", "403", "authorization", "alice"}, true},
	{"groups", "4", "groups", []string{"metrics.k8s.io", "unavailable", "core", "apps", "served"}, true},
	{"crds", "5", "crds", []string{"1 of 2 broken", "gadgets.example.com", "NamesConflict", "widgets.example.com", "Established"}, true},
	{"apiservices", "6", "apiservices", []string{"v1beta1.metrics.k8s.io", "Unavailable", "endpoint", "v1.apps", "Available"}, true},
	{"hooks", "7", "hooks", []string{"ready after", "slowest hook", "Components", "etcd"}, true},
	{"etcd", "8", "etcd", []string{"leader", "quota", "RESOURCE", "clusterroles", "BYTES"}, true},
	{"flow", "9", "flow", []string{"LEVEL", "exempt", "catch-all", "workload-low", "Who"}, true},
	{"auth", "0", "auth", []string{"authenticators", "client-certificate", "authorizers", "admission plugins", "NamespaceLifecycle"}, true},
	{"health", "", "health", []string{"readyz", "livez", "healthz", "informer-sync"}, true},
	{"discovery", "", "discovery", []string{"clients see what was", "metrics.k8s.io/v1beta1", "apps/v1", "current"}, true},
	{"controllers", "", "controllers", []string{"garbagecollector", "running"}, false},
	{"logs", "", "logs", []string{"The server runs in another process", "serve --tui"}, false},
	{"route", "", "route GET /api/v1/namespaces/shop/secrets --as alice", []string{"alice", "403", "authorization"}, true},
	{"configmaps", "", "configmaps", []string{"shop", "checkout", "extension-apiserver-authentication"}, true},
	{"checkout", "", "configmaps/checkout -n shop", []string{"currency", "EUR"}, true},
	{"help", "?", "help", []string{"help", "copy its name", "esc closes"}, false},
}

// troubles are on no screen of a server that answers.
var troubles = []string{"loading", "connecting", "this page failed", "is kapi's fault", "stale 1", "stale 2"}

func (p place) checks(at size) []check {
	list := []check{has(p.shows...), lacks(troubles...)}
	if p.name == "help" {
		return list
	}
	if p.name != "logs" { // it is of another process
		list = append(list, head("live"))
	}
	return append(list, full(at))
}

// openTUI opens the terminal UI on a server.
func openTUI(t testing.TB, at size, kubeconfig string, env []string, args ...string) *terminal {
	t.Helper()
	words := append([]string{kapi(t), "tui"}, args...)
	return openTerminal(t, at, append([]string{"KUBECONFIG=" + kubeconfig}, env...), words...)
}

// look is a terminal in which all pages are looked at.
type look struct {
	name   string
	env    []string
	cursor string
	check  func(testing.TB, *terminal)
}

var looks = []look{
	{"colors", nil, "❯", hasColors},
	{"NO_COLOR", []string{"NO_COLOR=1"}, "❯", hasNoColors},
	{"ASCII", []string{"LC_ALL=C"}, ">", isASCII},
}

// TestPages opens each page by its key and by its name. All looks go through them at
// the same time: it is the server that one waits for.
func TestPages(t *testing.T) {
	t.Parallel()
	server := lab(t)
	type viewer struct {
		look
		*terminal
	}
	var viewers []viewer
	for _, look := range looks {
		for _, at := range []size{compact, wide} {
			viewers = append(viewers, viewer{look, openTUI(t, at, server.kubeconfig(), look.env, "dashboard")})
		}
	}
	all := func(do func(viewer)) {
		for _, v := range viewers {
			do(v)
		}
	}
	visit := func(p place, enter func(*terminal)) {
		t.Helper()
		all(func(v viewer) { enter(v.terminal) })
		all(func(v viewer) {
			checks := p.checks(v.size)
			if p.cursor {
				checks = append(checks, selects(v.cursor))
			}
			if seen, err := v.try(checks...); err != nil {
				t.Errorf("%s, %s, %s: %v\n%s", p.name, v.name, v.size, err, seen)
			}
			v.check(t, v.terminal)
		})
	}
	all(func(v viewer) { v.await(head("live")) })
	for _, p := range places {
		if p.key != "" {
			visit(p, func(m *terminal) { m.press(p.key) })
		}
	}
	all(func(v viewer) { v.press("Escape") })
	for _, p := range places {
		visit(p, func(m *terminal) { m.command(p.line) })
	}
	all(func(v viewer) {
		v.press("C-c")
		v.see("once more to quit") // for a few seconds
		// The second must come soon: two at once, of which one may be the first again.
		v.press("C-c", "C-c")
	})
	all(func(v viewer) { v.ends(0) })
}

// selects wants a line with the cursor in front of it.
func selects(cursor string) check {
	return func(s screen) error {
		for _, line := range s.lines() {
			if strings.HasPrefix(strings.TrimLeft(line, " "), cursor) {
				return nil
			}
		}
		return fmt.Errorf("no line is marked with %s", cursor)
	}
}

// colored is an escape sequence that sets a colour, alone or after others.
var colored = regexp.MustCompile(`\x1b\[(?:\d+;)*(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:[;:]\d+)*m`)

func hasColors(t testing.TB, m *terminal) {
	t.Helper()
	if !colored.MatchString(m.attributes()) {
		t.Error("there is no colour on the screen")
	}
}

func hasNoColors(t testing.TB, m *terminal) {
	t.Helper()
	if found := colored.FindAllString(m.attributes(), 3); found != nil {
		t.Errorf("there are colours in spite of NO_COLOR: %q", found)
	}
}

func isASCII(t testing.TB, m *terminal) {
	t.Helper()
	for i, line := range m.capture().lines() {
		for _, r := range line {
			if r > '~' {
				t.Errorf("line %d has %q, which is not ASCII: %s", i+1, r, line)
				break
			}
		}
	}
}
