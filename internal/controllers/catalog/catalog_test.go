package catalog_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/kapi-dev/kapi/internal/controllers/catalog"
	"github.com/kapi-dev/kapi/internal/fault"
)

func names(s catalog.Selection) []string { return slices.Sorted(maps.Keys(s)) }

func union(lists ...[]string) []string { return slices.Sorted(slices.Values(slices.Concat(lists...))) }

func without(list []string, names ...string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(n string) bool { return slices.Contains(names, n) })
}

func TestParse(t *testing.T) {
	api, workloads := catalog.In(catalog.API), catalog.In(catalog.Workloads)
	for words, want := range map[string][]string{
		"":                                  api,
		"api":                               api,
		"workloads":                         workloads,
		"all":                               union(api, workloads),
		"none":                              nil,
		"none,+namespace":                   {"namespace"},
		"namespace":                         {"namespace"},
		"namespace,job":                     {"job", "namespace"},
		"+deployment":                       union(api, []string{"deployment"}),
		"-resourcequota":                    without(api, "resourcequota"),
		"api,+deployment,-resourcequota":    union(without(api, "resourcequota"), []string{"deployment"}),
		"all,-workloads":                    api,
		"all,-workloads,+job":               union(api, []string{"job"}),
		"-namespace,+namespace":             api,
		"+resourcequota,-resourcequota":     without(api, "resourcequota"),
		"api,api,-job":                      api,
		"deployment-controller":             {"deployment"},
		"garbage-collector-controller,+hpa": {"garbagecollector", "horizontalpodautoscaling"},
		"none,+scheduler":                   {"scheduler"},
	} {
		t.Run(words, func(t *testing.T) {
			got, err := catalog.Parse(split(words), false)
			if err != nil {
				t.Fatal(err)
			}
			if want := union(want); !slices.Equal(names(got), want) {
				t.Errorf("got %v, want %v", names(got), want)
			}
			if got.Any() != (len(want) > 0) {
				t.Errorf("Any is %v", got.Any())
			}
		})
	}
}

func split(words string) []string {
	if words == "" {
		return nil
	}
	return strings.Split(words, ",")
}

func TestRefused(t *testing.T) {
	for word, hint := range map[string]string{
		"deploymant":    "did you mean deployment?",
		"+deploymant":   "did you mean deployment?",
		"-quota":        "resourcequota", // too far for a slip, so the sets, or near enough
		"kubelet":       "the sets are api, workloads, all and none",
		"*":             "all",
		"foo":           "the sets are",
		"none":          "put none first",
		"":              "the sets are",
		"-":             "the sets are",
		"++jobs":        "did you mean job?",
		"fake-nodes":    "--fake-nodes 3",
		"+none":         "--controllers=none,+namespace",
		"-attachdetach": "attach volumes",
	} {
		t.Run(word, func(t *testing.T) {
			_, err := catalog.Parse([]string{"api", word}, false)
			if fault.Code(err) != fault.CodeUsage {
				t.Fatalf("error %v has code %d", err, fault.Code(err))
			}
			if word == "-quota" {
				return // which of the two is near's business
			}
			if !strings.Contains(fault.Hint(err), hint) {
				t.Errorf("hint %q does not hold %q", fault.Hint(err), hint)
			}
		})
	}
}

func TestParseWithNodes(t *testing.T) {
	for words, want := range map[string][]string{
		"none":                       {"fake-nodes", "fake-volumes", "scheduler"},
		"none,-scheduler":            {"fake-nodes", "fake-volumes"},
		"none,-fake-volumes":         {"fake-nodes", "scheduler"},
		"none,-kube-scheduler":       {"fake-nodes", "fake-volumes"},
		"none,-scheduler,+scheduler": {"fake-nodes", "fake-volumes", "scheduler"},
		"job,-namespace":             {"fake-nodes", "fake-volumes", "job", "scheduler"},
		"-scheduler":                 union(catalog.In(catalog.API), []string{"fake-nodes", "fake-volumes"}),
	} {
		t.Run(words, func(t *testing.T) {
			selected, err := catalog.Parse(split(words), true)
			if err != nil || !slices.Equal(names(selected), want) {
				t.Errorf("got %v, %v, want %v", names(selected), err, want)
			}
		})
	}
}

// TestTable holds what the code that reads the table relies on.
func TestTable(t *testing.T) {
	seen := map[string]string{}
	for _, c := range catalog.Controllers() {
		for _, name := range append([]string{c.Name}, c.Aliases...) {
			if other := seen[name]; other != "" {
				t.Errorf("%s is the name of %s and of %s", name, other, c.Name)
			}
			seen[name] = c.Name
			if found, ok := catalog.Find(name); !ok || found.Name != c.Name {
				t.Errorf("Find(%q) is %q", name, found.Name)
			}
		}
		if c.Doc == "" || !strings.HasSuffix(c.Doc, ".") || c.Identity == "" || c.Package == "" || c.Set == "" {
			t.Errorf("%s is not complete: %+v", c.Name, c)
		}
		if !strings.HasPrefix(c.User(), "system:") {
			t.Errorf("%s acts as %q", c.Name, c.User())
		}
	}
}
