package page

import (
	"net/url"
	"reflect"
	"testing"
)

// A location that is written is read as the same one.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	names := []string{"", "a", "a/b/c", "花子", "שלום", "e\u0301", "v1.", "with blank"}
	for _, page := range []string{"crds", "object", "花"} {
		for _, name := range names {
			for _, value := range append(names, "a&b=c", "?", "%zz", "#", "a+b", "\x1b[2J\n") {
				at := At(page, name, "filter", value, "view", "yaml")
				got, err := Parse(at.String())
				if err != nil || !reflect.DeepEqual(got, at) {
					t.Errorf("%q is read as %+v (%v), want %+v", at.String(), got, err, at)
				}
			}
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Location{
		"":                   {},
		"crds":               {Page: "crds"},
		"crds/":              {Page: "crds"},
		"crds?":              {Page: "crds"},
		"chain/layer/x":      {Page: "chain", Name: "layer/x"},
		"etcd?prefix=%2Fa":   {Page: "etcd", Query: url.Values{"prefix": {"/a"}}},
		"route?path=/a?b=c":  {Page: "route", Query: url.Values{"path": {"/a?b=c"}}},
		"a?groups=x&groups=": {Page: "a", Query: url.Values{"groups": {"x", ""}}},
	} {
		got, err := Parse(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q is %+v, %v; want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"a?%zz", "a?b=%", "a?b;c"} {
		if got, err := Parse(text); err == nil {
			t.Errorf("%q is %+v", text, got)
		}
	}
}

func TestAt(t *testing.T) {
	t.Parallel()
	at := At("crds", "x", "filter", "", "odd")
	if at.Query != nil || at.Get("filter") != "" || at.Zero() || !(Location{}).Zero() {
		t.Errorf("%+v", at)
	}
}
