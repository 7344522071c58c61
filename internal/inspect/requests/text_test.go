package requests

import (
	"strings"
	"testing"
)

func TestClean(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "plain": "plain", "a\x1b[31mb": "a[31mb", "line\r\nline": "lineline", "\u202eabc": "abc", "é\u200bé": "éé",
		"bad\xffbyte": "bad\uFFFDbyte", "seven77": "seven77", "ten characters": "ten charac", "éééééééééééé": "éééééééééé",
		strings.Repeat("\x01", 100) + "x": "", "a\u2028b": "ab",
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
		"fieldManager=%1b[0m": "fieldManager=%5B0m", many: strings.TrimSuffix(strings.Repeat("limit=1&", maxParameters), "&"),
		"fieldManager=" + strings.Repeat("x", 1000): "fieldManager=" + strings.Repeat("x", maxParameter),
	} {
		p := newPacker(0)
		before := p.keep("before", 100)
		if got := p.query(raw); got != want || before != "before" {
			t.Errorf("%q is kept as %q, want %q", raw, got, want)
		}
	}
}
