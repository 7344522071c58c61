package requests

import (
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "plain": "plain", "a\x1b[31mb": "a\uFFFD[31mb", "a\r\nb": "a\uFFFD\uFFFDb", "\u202eabc": "\uFFFDabc", "é\u200bé": "é\uFFFDé",
		"sys\u202etem": "sys\uFFFDtem", "a\u009b31mb": "a\uFFFD31mb", "\u2066a\u2069\u200f": "\uFFFDa\uFFFD\uFFFD",
		"bad\xffbyte": "bad\uFFFDbyte", "seven77": "seven77", "ten characters": "ten charac", "éééééééééééé": "éééééééééé",
		strings.Repeat("\x01", 100) + "x": strings.Repeat("\uFFFD", 10), "a\u2028b": "a\uFFFDb",
	} {
		if got := clean(text, 10); got != want {
			t.Errorf("%q is cleaned to %q, want %q", text, got, want)
		}
	}
}

func TestQuery(t *testing.T) {
	many := strings.Repeat("limit=1&", 100)
	for raw, want := range map[string]string{
		"limit=hunter2": "limit=malformed", "resourceVersionMatch=" + strings.Repeat("a", 21): "resourceVersionMatch=malformed",
		"resourceVersion=1796015132720578": "resourceVersion=1796015132720578", "limit=-1": "limit=-1",
		"": "", "watch=1": "watch=1", "a=b": "", "limit=5&a=b&watch=true": "limit=5&watch=true",
		"fieldManager=a%20b%26c": "fieldManager=a+b%26c", "pretty": "pretty=", "limit=%zz": "", "watch=1;x=y": "",
		"fieldManager=%1b[0m": "fieldManager=%EF%BF%BD%5B0m", many: strings.TrimSuffix(strings.Repeat("limit=1&", maxParameters), "&"),
		"fieldManager=" + strings.Repeat("x", 1000): "fieldManager=" + strings.Repeat("x", maxParameter),
	} {
		p := newPacker(0)
		before := p.keep("before", 100)
		if got := p.query(raw); got != want || before != "before" {
			t.Errorf("%q is kept as %q, want %q", raw, got, want)
		}
	}
}

// A path is shown decoded, unless that would hide what it is.
func TestShownPath(t *testing.T) {
	for sent, want := range map[string]string{
		"/api/v1/namespaces/default/pods": "/api/v1/namespaces/default/pods",
		"/nirgends/%E3%81%AF%E3%81%84":    "/nirgends/はい",
		"/api/v1/x/a%2Fb":                 "/api/v1/x/a%2Fb",
		"/apis/%1b%5b31mred":              "/apis/%1b%5b31mred",
		"/apis/%E2%80%AEevil":             "/apis/%E2%80%AEevil",
		"/apis/a%0Ab":                     "/apis/a%0Ab",
	} {
		u, err := url.Parse(sent)
		if err != nil {
			t.Fatal(err)
		}
		if got := shownPath(u); got != want {
			t.Errorf("%s is shown as %s, want %s", sent, got, want)
		}
	}
	long := "/" + strings.Repeat("é", maxPath)
	if got := shortened(long, maxPath); utf8.RuneCountInString(got) != maxPath || !strings.HasSuffix(got, "é…") {
		t.Errorf("a long path ends in %q, with %d characters", got[len(got)-6:], utf8.RuneCountInString(got))
	}
}
