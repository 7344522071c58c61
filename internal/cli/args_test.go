package cli

import (
	"slices"
	"testing"
)

func TestFlagsOfKubectl(t *testing.T) {
	t.Parallel()
	tests := []struct {
		args       []string
		kubeconfig string
		server     bool
		verbose    bool
	}{
		{args: []string{"get", "ns"}},
		{args: []string{"get", "ns", "--kubeconfig", "f"}, kubeconfig: "f"},
		{args: []string{"--kubeconfig=f", "--kubeconfig=g"}, kubeconfig: "g"},
		{args: []string{"exec", "p", "--", "x", "--kubeconfig=f", "-s", "-v"}},
		{args: []string{"get", "--kubeconfig"}},
		{args: []string{"-s", "u"}, server: true},
		{args: []string{"--server=u"}, server: true},
		{args: []string{"logs", "--since=5m"}},
		{args: []string{"-v", "1"}, verbose: true},
		{args: []string{"-v=0"}},
		{args: []string{"-v", "0"}},
		{args: []string{"-v6"}, verbose: true},
		{args: []string{"--v=6"}, verbose: true},
		{args: []string{"version"}},
	}
	for _, test := range tests {
		kubeconfig, found := flagValue(test.args, "kubeconfig")
		if kubeconfig != test.kubeconfig || found != (test.kubeconfig != "") {
			t.Errorf("%q: kubeconfig %q, %v", test.args, kubeconfig, found)
		}
		if got := hasFlag(test.args, "server", "s"); got != test.server {
			t.Errorf("%q: server %v", test.args, got)
		}
		if got := verbose(test.args); got != test.verbose {
			t.Errorf("%q: verbose %v", test.args, got)
		}
	}
}

func TestCutFlag(t *testing.T) {
	t.Parallel()
	tests := []struct {
		args, rest []string
		value      string
	}{
		{args: []string{"get", "ns"}, rest: []string{"get", "ns"}},
		{args: []string{"--data-dir", "d", "get"}, rest: []string{"get"}, value: "d"},
		{args: []string{"get", "--data-dir=d"}, rest: []string{"get"}, value: "d"},
		{args: []string{"exec", "p", "--", "--data-dir=d"}, rest: []string{"exec", "p", "--", "--data-dir=d"}},
		{args: []string{"get", "--data-dir"}, rest: []string{"get", "--data-dir"}},
	}
	for _, test := range tests {
		value, rest := cutFlag(test.args, "data-dir")
		if value != test.value || !slices.Equal(rest, test.rest) {
			t.Errorf("%q: %q, %q", test.args, value, rest)
		}
	}
}
