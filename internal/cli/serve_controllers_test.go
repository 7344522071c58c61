package cli

import (
	"slices"
	"strings"
	"testing"
)

func TestCompleteControllers(t *testing.T) {
	for typed, want := range map[string][]string{
		"cro":               {"cronjob"},
		"api,+cro":          {"api,+cronjob"},
		"all,-endpointslic": {"all,-endpointslice", "all,-endpointslicemirroring"},
		"non":               {"none"},
		"+non":              nil,
		"fake-n":            nil,
		"+fake":             {"+fake-volumes"},
		"xyz":               nil,
	} {
		got, _ := completeControllers(nil, nil, typed)
		for i, proposal := range got {
			got[i], _, _ = strings.Cut(proposal, "\t")
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", typed, got, want)
		}
	}
	all, _ := completeControllers(nil, nil, "")
	if len(all) < 30 || !slices.ContainsFunc(all, func(s string) bool { return strings.HasPrefix(s, "namespace\tEmpties") }) {
		t.Errorf("%q", all)
	}
}
