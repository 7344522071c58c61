package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/kapi-dev/kapi/internal/fault"
)

func TestOptions(t *testing.T) {
	o, err := parseOptions([]string{
		"--rows", "startup,throughput.get", "--pairs=3", "--a=kapi=old/kapi", "--a-env=GOGC=50", "--a-env=A=b", "--b-arg=--v=2",
	}, &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	if o.A.Kind != "kapi" || !strings.HasSuffix(o.A.Bin, "/old/kapi") || o.A.Bin[0] != '/' || o.B.Kind != "kapi" || o.B.Bin != "" {
		t.Errorf("sides = %+v, %+v", o.A, o.B)
	}
	if !slices.Equal(o.A.Env, []string{"GOGC=50", "A=b"}) || !slices.Equal(o.B.Args, []string{"--v=2"}) {
		t.Errorf("sides = %+v, %+v", o.A, o.B)
	}
	if bins, targets := planBinaries(o); bins.Kapi == "" || bins.Etcd != "" || len(targets) != 1 {
		t.Errorf("builds %+v, want only kapi", targets)
	}
}

func TestWrongOptionsAreUsageErrors(t *testing.T) {
	for _, c := range []struct{ arg, names string }{
		{"--pairs=0", "--pairs"},
		{"--ops=-1", "--ops"},
		{"--a=etcd", "etcd"},
		{"--b=kapi=", "kapi="},
		{"--a=peer=/bin/x", "peer=/bin/x"},
		{"--rows=nonsense", "nonsense"},
		{"--nonsense", "nonsense"},
		{"--crds=-1", "--crds"},
		{"--at-once=0", "--at-once"},
		{"--rows=controllers.api.emp", "controllers.api.emp"},
		{"extra", "extra"},
	} {
		_, err := parseOptions([]string{c.arg}, &bytes.Buffer{})
		if fault.Code(err) != fault.CodeUsage {
			t.Errorf("%s: exit code %d (%v), want %d", c.arg, fault.Code(err), err, fault.CodeUsage)
			continue
		}
		if !strings.Contains(err.Error(), c.names) {
			t.Errorf("%s: %q does not name %s", c.arg, err, c.names)
		}
	}
}

func TestSelected(t *testing.T) {
	all := []scenario{
		{Name: "one", Rows: []row{{Name: "a"}, {Name: "a.p50"}, {Name: "ab"}}},
		{Name: "two", Rows: []row{{Name: "b"}}},
		{Name: "slow", OptIn: true, Rows: []row{{Name: "c"}}},
	}
	for _, c := range []struct{ names, want string }{
		{"", "one:a one:a.p50 one:ab two:b"},
		{"a", "one:a one:a.p50"},
		{"a.p50,two", "one:a.p50 two:b"},
		{"slow", "slow:c"},
		{"c", "slow:c"},
	} {
		var got []string
		for _, s := range selected(all, strings.FieldsFunc(c.names, func(r rune) bool { return r == ',' })) {
			for _, r := range s.Rows {
				got = append(got, s.Name+":"+r.Name)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("--rows %q runs %v, want %s", c.names, got, c.want)
		}
	}
	if len(all[0].Rows) != 3 {
		t.Error("selecting rows changed the scenario")
	}
}

func TestManagerIsBuiltForItsRowsOnly(t *testing.T) {
	for rows, want := range map[string]bool{"startup": false, "controllers.none": false, "controllers.api": true, "controllers-each": true} {
		o, err := parseOptions([]string{"--rows", rows}, &bytes.Buffer{})
		if err != nil {
			t.Fatal(err)
		}
		if bins, _ := planBinaries(o); (bins.Manager != "") != want {
			t.Errorf("--rows %s: kube-controller-manager %q, want one: %v", rows, bins.Manager, want)
		}
	}
}

func TestRowNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range scenarios() {
		for _, r := range s.Rows {
			if seen[r.Name] {
				t.Errorf("two rows are named %s", r.Name)
			}
			seen[r.Name] = true
		}
	}
}
