package arch_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A pattern is an import path, an import path with "/..." for it and all below
// it, or one of these words.
const (
	anyStd      = "std"      // every package of the standard library
	anyExternal = "external" // every package of another module
)

// node is a package: what it imports itself, test files left out.
type node struct {
	Imports  []string
	Standard bool
}

// graph is every package of the module and all that they link, by import path.
type graph map[string]node

// rule is a row of the table: no package that matches from may import one that
// matches deny, unless it matches allow. except takes packages out of from.
type rule struct {
	name   string
	from   []string
	except []string
	deny   []string
	allow  []string
	deep   bool // through other packages too, not only by an import of its own
	why    string
}

// violation is the way from a package to one that it must not reach.
type violation []string

func (v violation) String() string { return strings.Join(v, "\n\timports ") }

// listGraph asks the Go toolchain once for the whole test binary: the answer
// names thousands of packages.
var listGraph = sync.OnceValues(func() (graph, error) {
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Imports,Standard", module+"/...")
	out, err := cmd.Output()
	if err != nil {
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			return nil, fmt.Errorf("listing packages: %w\n%s", err, exit.Stderr)
		}
		return nil, fmt.Errorf("listing packages: %w", err)
	}
	g := graph{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath string
			node
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return g, nil
		} else if err != nil {
			return nil, fmt.Errorf("reading the list of packages: %w", err)
		}
		g[p.ImportPath] = p.node
	}
})

func load(t *testing.T) graph {
	t.Helper()
	g, err := listGraph()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// check returns the violations of r in g: for a deep rule the shortest way from
// each package, for any other each import that is denied.
func check(g graph, r rule) []violation {
	var found []violation
	denied := func(path string) bool { return g.match(r.deny, path) && !g.match(r.allow, path) }
	for _, from := range r.subjects(g) {
		if r.deep {
			if way := g.search(from, denied); way != nil {
				found = append(found, way)
			}
			continue
		}
		for _, to := range g[from].Imports {
			if denied(to) {
				found = append(found, violation{from, to})
			}
		}
	}
	return found
}

// subjects are the packages that r speaks of, sorted.
func (r rule) subjects(g graph) []string {
	var all []string
	for _, path := range g.under(r.from...) {
		if !g.match(r.except, path) {
			all = append(all, path)
		}
	}
	return all
}

// under returns the packages that match one of the patterns, sorted.
func (g graph) under(patterns ...string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(g)), func(path string) bool {
		return !g.match(patterns, path)
	})
}

func (g graph) match(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		switch pattern {
		case anyStd:
			return g[path].Standard
		case anyExternal:
			return !g[path].Standard && !g.match([]string{own}, path)
		}
		if tree, ok := strings.CutSuffix(pattern, "/..."); ok {
			return path == tree || strings.HasPrefix(path, tree+"/")
		}
		return path == pattern
	})
}

// path returns the shortest way from one package to another, or nil.
func (g graph) path(from, to string) violation {
	return g.search(from, func(path string) bool { return path == to })
}

// search returns the shortest way from a package, which itself does not count,
// to one that is wanted, or nil. It goes breadth first.
func (g graph) search(from string, wanted func(string) bool) violation {
	cameFrom := map[string]string{from: ""}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		for _, next := range g[queue[0]].Imports {
			if _, seen := cameFrom[next]; seen {
				continue
			}
			cameFrom[next] = queue[0]
			if wanted(next) {
				return trace(cameFrom, next)
			}
			queue = append(queue, next)
		}
	}
	return nil
}

// trace follows cameFrom back to the start, where it is empty.
func trace(cameFrom map[string]string, end string) violation {
	var way violation
	for at := end; at != ""; at = cameFrom[at] {
		way = append(way, at)
	}
	slices.Reverse(way)
	return way
}
