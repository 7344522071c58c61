package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/kapi-dev/kapi/internal/controllers/catalog"
)

func TestNoControllersRunBeforeTheOthers(t *testing.T) {
	sets := controllerSets()
	if sets[0].Name != bareSet || sets[0].Manager != "" {
		t.Errorf("the first set is %+v, want %s without a manager", sets[0], bareSet)
	}
	for _, set := range sets[1:] {
		if set.Manager == "" {
			t.Errorf("the peer of %s runs no controllers", set.Name)
		}
	}
}

func TestManagerNames(t *testing.T) {
	names := strings.Split(managerNames(catalog.API, catalog.Workloads), ",")
	if want := len(catalog.In(catalog.API)) + len(catalog.In(catalog.Workloads)); len(names) != want {
		t.Errorf("%d names, want %d", len(names), want)
	}
	for _, name := range names {
		// kube-controller-manager's own rule for names.
		if !strings.HasSuffix(name, "-controller") {
			t.Errorf("%q is no name of kube-controller-manager", name)
		}
	}
	if !slices.Contains(names, "garbage-collector-controller") {
		t.Errorf("no garbage collector in %v", names)
	}
}

func TestOnlyController(t *testing.T) {
	for _, c := range append(catalog.Controllers(), catalog.Controller{Name: bareSet}) {
		nodes := false
		var words []string
		for _, arg := range onlyController(c.Name) {
			switch flag, value, _ := strings.Cut(arg, "="); flag {
			case "--controllers":
				words = strings.Split(value, ",")
			case "--fake-nodes":
				nodes = true
			default:
				t.Errorf("%s: unexpected argument %s", c.Name, arg)
			}
		}
		selection, err := catalog.Parse(words, nodes)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		if c.Name == bareSet {
			if selection.Any() {
				t.Errorf("%s selects %v", c.Name, selection)
			}
		} else if len(selection) != 1 || !selection.Has(c.Name) {
			t.Errorf("%s selects %v", c.Name, selection)
		}
	}
}

func TestBareMedian(t *testing.T) {
	s := &side{bare: map[string][]sample{"empty": {
		usage{"heap": {1, 2}}.totals(), usage{"heap": {3, 4}}.totals(), usage{"heap": {20, 30}}.totals(),
	}}}
	if m := s.bareMedian("empty", "heap"); m == nil || *m != 7 {
		t.Errorf("median = %v, want 7", m)
	}
	if m := s.bareMedian("filled", "heap"); m != nil {
		t.Errorf("median of nothing = %v", *m)
	}
}
