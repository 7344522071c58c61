package arch_test

import (
	"slices"
	"strings"
	"testing"
)

// fake is a small module with one of each thing that the table forbids.
func fake() graph {
	return graph{
		"os": {Standard: true}, "sync": {Standard: true},
		"k8s.io/apiserver/pkg/server":                   {},
		"k8s.io/apiserver-network-proxy/client":         {},
		"example.com/helper":                            {Imports: []string{"k8s.io/apiserver/pkg/server"}},
		internal + "/fault":                             {Imports: []string{"os"}},
		internal + "/termguard":                         {Imports: []string{"os", "sync"}},
		internal + "/chain":                             {Imports: []string{"k8s.io/apiserver/pkg/server"}},
		internal + "/chainlink":                         {Imports: []string{"k8s.io/apiserver/pkg/server"}},
		internal + "/client":                            {Imports: []string{"k8s.io/apiserver-network-proxy/client", internal + "/fault"}},
		module + "/tui":                                 {Imports: []string{internal + "/client", module + "/tui/pages"}},
		module + "/tui/pages":                           {Imports: []string{"example.com/helper"}},
		module + "/cmd/kapi":                            {Imports: []string{internal + "/chain", internal + "/fault"}},
		internal + "/termguard/internal/probe/whatever": {Imports: []string{"example.com/helper"}},
	}
}

func TestCheckFindsViolations(t *testing.T) {
	for _, tc := range []struct {
		name string
		rule rule
		want []string
	}{
		{
			name: "a direct import, and the row's exception",
			rule: rule{from: []string{own}, except: []string{internal + "/chain/..."}, deny: []string{"k8s.io/apiserver/..."}},
			want: []string{internal + "/chainlink > k8s.io/apiserver/pkg/server"},
		},
		{
			name: "allowed packages are taken out of what is denied",
			rule: rule{from: []string{module + "/cmd/..."}, deny: []string{own}, allow: leaves},
			want: []string{module + "/cmd/kapi > " + internal + "/chain"},
		},
		{
			name: "a deep row finds the way through other packages",
			rule: rule{from: []string{module + "/tui/..."}, deny: server, deep: true},
			want: []string{
				module + "/tui > " + module + "/tui/pages > example.com/helper > k8s.io/apiserver/pkg/server",
				module + "/tui/pages > example.com/helper > k8s.io/apiserver/pkg/server",
			},
		},
		{
			name: "the same row, not deep, sees no import of its own",
			rule: rule{from: []string{module + "/tui/..."}, deny: server},
		},
		{
			name: "a path that only begins alike is another package",
			rule: rule{from: []string{internal + "/client"}, deny: []string{"k8s.io/apiserver/..."}, deep: true},
		},
		{
			name: "the standard library, but for os",
			rule: rule{from: []string{internal + "/termguard"}, deny: []string{anyStd, anyExternal, own}, allow: []string{"os"}},
			want: []string{internal + "/termguard > sync"},
		},
		{
			name: "other modules are external, our own is not",
			rule: rule{from: []string{internal + "/client", module + "/tui/pages"}, deny: []string{anyExternal}},
			want: []string{
				internal + "/client > k8s.io/apiserver-network-proxy/client",
				module + "/tui/pages > example.com/helper",
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			for _, v := range check(fake(), tc.rule) {
				got = append(got, strings.Join(v, " > "))
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("violations:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(tc.want, "\n"))
			}
		})
	}
}

// Every row says what it is for, and a row that speaks of nothing can be told
// from one whose packages are all in order.
func TestRulesAreComplete(t *testing.T) {
	names := map[string]bool{}
	for _, r := range rules {
		if r.name == "" || r.why == "" || len(r.from) == 0 || len(r.deny) == 0 {
			t.Errorf("incomplete row: %+v", r)
		}
		if names[r.name] {
			t.Errorf("two rows are named %q", r.name)
		}
		names[r.name] = true
	}
	unknown := rule{from: []string{internal + "/to/come"}, deny: []string{own}}
	if got := unknown.subjects(fake()); got != nil {
		t.Errorf("a row about a package that does not exist speaks of %v", got)
	}
}
