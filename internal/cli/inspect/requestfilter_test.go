package inspect

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/fault"
)

func TestParseStatuses(t *testing.T) {
	for words, want := range map[string]struct{ yes, no []int32 }{
		"":              {[]int32{0, 101, 200, 404, 599}, nil},
		"403":           {[]int32{403}, []int32{0, 402, 404, 4030}},
		"=403":          {[]int32{403}, []int32{402}},
		"4xx":           {[]int32{400, 499}, []int32{399, 500, 0, 4}},
		"5XX":           {[]int32{500, 599}, []int32{499, 600}},
		">=400":         {[]int32{400, 503}, []int32{399, 0}},
		">400":          {[]int32{401}, []int32{400}},
		"<=299":         {[]int32{299, 0}, []int32{300}},
		"<200":          {[]int32{101, 0}, []int32{200}},
		"!=200":         {[]int32{0, 201, 500}, []int32{200}},
		"0":             {[]int32{0}, []int32{200}},
		"401,403":       {[]int32{401, 403}, []int32{402}},
		"1xx,>=500,429": {[]int32{101, 500, 429}, []int32{200, 428}},
		" 403 , 4xx":    {[]int32{403, 499}, []int32{500}},
		">= 500":        {[]int32{500}, []int32{499}},
		"!= 200":        {[]int32{201}, []int32{200}},
	} {
		var all []string
		if words != "" {
			all = strings.Split(words, ",")
		}
		test, err := parseStatuses(all)
		if err != nil {
			t.Errorf("%q: %v", words, err)
			continue
		}
		for _, code := range want.yes {
			if !test(code) {
				t.Errorf("%q does not keep %d", words, code)
			}
		}
		for _, code := range want.no {
			if test(code) {
				t.Errorf("%q keeps %d", words, code)
			}
		}
	}
	for _, word := range []string{"", "x", "xx", "0xx", "6xx", "44xx", "4x", "4xxx", ">=", "!", "!!200", "~200", "=>200", "<>200", "-1", ">=-1", "1000", "40 3", "200-299", "４０３", "4.5", "0x190", "+403"} {
		_, err := parseStatuses([]string{"200", word})
		if err == nil {
			t.Errorf("%q is taken for a status", word)
			continue
		}
		result{err: err}.fails(t, fault.CodeUsage, "is no status", "'>=400'")
	}
}

func TestMatches(t *testing.T) {
	for _, test := range []struct {
		pattern, value string
		want           bool
	}{
		{"alice", "alice", true},
		{"alice", "alice2", false},
		{"alice", "Alice", false},
		{"*", "", true},
		{"*", "system:serviceaccount:kube-system:default", true},
		{"system:*", "system:apiserver", true},
		{"system:*", "asystem:", false},
		{"*:default", "system:serviceaccount:a:default", true},
		{"*太郎", "山田太郎", true},
		{"山*", "山田太郎", true},
		{"a*b*c", "aXXbYYc", true},
		{"a*b*c", "acb", false},
		{"/apis/*/widgets", "/apis/example.com/v1/namespaces/default/widgets", true},
		{"/apis/*", "/apis/", true},
		{"*/exec", "/api/v1/namespaces/a/pods/b/exec", true},
		{"/api/v1/*/pods/*", "/api/v1/namespaces/a/pods/b", true},
		{"/api/*/pods", "/api/v1/pods/log", false},
		{"[a]*", "[a]b", true},
		{"[a]", "a", false},
		{"[", "[", true},
		{"a]", "a]", true},
		{"?", "a", false},
		{"?*", "?x", true},
		{`\*`, `\x`, true},
		{`a\b`, `a\b`, true},
		{"a\x00b", "a\x00b", true},
		{"{a,b}", "a", false},
		{"cafe\u0301*", "cafe\u0301 x", true},
		{"", "", true},
		{"", "a", false},
	} {
		if got := matches(test.pattern, test.value); got != test.want {
			t.Errorf("matches(%q, %q) = %t", test.pattern, test.value, got)
		}
	}
	for _, test := range []struct {
		wanted, path string
		want         bool
	}{
		{"/apis/", "/apis/apps/v1", true},
		{"/apis/", "/api/v1", false},
		{"/api", "/apis", true},
		{"/apis/*", "/apis/apps/v1", true},
		{"*/pods", "/api/v1/pods", true},
		{"*/pods", "/api/v1/pods/a", false},
		{"", "/x", true},
	} {
		if got := begins(test.wanted, test.path); got != test.want {
			t.Errorf("begins(%q, %q) = %t", test.wanted, test.path, got)
		}
	}
}

// TestRequestFlags: each flag keeps the requests that it names, and they are combined.
func TestRequestFlags(t *testing.T) {
	trace := func(name string, change func(*v1alpha1.RequestTrace)) *v1alpha1.RequestTrace {
		one := &v1alpha1.RequestTrace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		one.Spec = v1alpha1.RequestTraceSpec{Verb: "list", Method: "GET", Path: "/api/v1/pods", User: &v1alpha1.RequestUser{Name: "alice"}}
		one.Status = v1alpha1.RequestTraceStatus{Code: 200, AnsweredBy: "kube-apiserver", Duration: metav1.Duration{Duration: time.Millisecond}}
		one.Status.TerminatedBy = v1alpha1.EndedBy{Kind: v1alpha1.EndedByLayer, Name: "kube-apiserver"}
		change(one)
		return one
	}
	ended := func(kind v1alpha1.EndedByKind, name string, code int32) func(*v1alpha1.RequestTrace) {
		return func(t *v1alpha1.RequestTrace) {
			t.Status.TerminatedBy, t.Status.Code, t.Status.AnsweredBy = v1alpha1.EndedBy{Kind: kind, Name: name}, code, ""
			if kind != v1alpha1.EndedByFilter {
				t.Status.AnsweredBy = "kube-apiserver"
			}
		}
	}
	all := []*v1alpha1.RequestTrace{
		trace("plain", func(*v1alpha1.RequestTrace) {}),
		trace("nobody", func(t *v1alpha1.RequestTrace) { t.Spec.User = nil }),
		trace("created", func(t *v1alpha1.RequestTrace) { t.Spec.Verb, t.Spec.Method, t.Status.Code = "create", "POST", 201 }),
		trace("path", func(t *v1alpha1.RequestTrace) { t.Spec.Verb, t.Spec.Path = "get", "/apis/例" }),
		trace("filter", ended(v1alpha1.EndedByFilter, "authorization", 403)),
		trace("plugin", ended(v1alpha1.EndedByAdmission, "LimitRanger", 403)),
		trace("layer", func(t *v1alpha1.RequestTrace) {
			t.Status.AnsweredBy, t.Status.TerminatedBy.Name = "apiextensions", "apiextensions"
		}),
		trace("slow", func(t *v1alpha1.RequestTrace) { t.Status.Duration.Duration = 2 * time.Second }),
	}
	for flags, want := range map[string]string{
		"":                                     "plain nobody created path filter plugin layer slow",
		"--path /apis/":                        "path",
		"--path *pods":                         "plain nobody created filter plugin layer slow",
		"--user bob":                           "",
		"--user al* --verb create":             "created",
		"--verb POST":                          "created",
		"--verb GET,create --path /ap":         "plain nobody created path filter plugin layer slow",
		"--verb get":                           "plain nobody path filter plugin layer slow",
		"--verb get --path /apis/":             "path",
		"--status 403":                         "filter plugin",
		"--status 201,403":                     "created filter plugin",
		"--status 201 --status 403":            "created filter plugin",
		"--filter authorization":               "filter",
		"--filter Limit*":                      "plugin",
		"--filter kube-apiserver":              "",
		"--layer apiextensions":                "layer",
		"--layer *":                            "plain nobody created path filter plugin layer slow",
		"--slower-than 1s":                     "slow",
		"--slower-than 2s":                     "slow",
		"--slower-than 2001ms":                 "",
		"--status 4xx --user alice --filter *": "filter plugin",
	} {
		wanted := &requestFilter{}
		cmd := newRequestsCmd(&session{})
		cmd.ResetFlags()
		wanted.add(cmd)
		if err := cmd.ParseFlags(strings.Fields(flags)); err != nil {
			t.Fatal(err)
		}
		keep, err := wanted.compile()
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, one := range all {
			if keep(one) {
				names = append(names, one.Name)
			}
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%q keeps %q, want %q", flags, got, want)
		}
	}
}

func TestRequestsFails(t *testing.T) {
	for _, test := range []struct{ words, text, hint string }{
		{"--status 4x", `--status="4x" is no status`, "'>=400'"},
		{"--slower-than -1s", "--slower-than=-1s is below zero", ""},
		{"--slower-than fast", `invalid argument "fast"`, ""},
		{"--tail -1", "--tail=-1 is below zero", "0 is all"},
		{"--field-selector spec.nothing=1", `"spec.nothing" is not a field`, "metadata.name"},
	} {
		r := run(t, append([]string{"requests", "--from", kapiFile}, strings.Fields(test.words)...)...)
		r.fails(t, fault.CodeUsage, test.text, test.hint)
	}
}
