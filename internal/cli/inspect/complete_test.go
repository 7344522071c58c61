package inspect

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// completed are the candidates that a shell is offered for the last word, without
// their descriptions, and the directive.
func completed(t *testing.T, words ...string) (candidates []string, directive string) {
	t.Helper()
	root := newRoot()
	var out, stderr strings.Builder
	root.SetArgs(append([]string{cobra.ShellCompRequestCmd, "inspect"}, words...))
	root.SetOut(&out)
	root.SetErr(&stderr)
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Fatalf("%v: %v", words, err)
	}
	all := lines(out.String())
	for _, line := range all[:len(all)-1] {
		candidate, _, _ := strings.Cut(line, "\t")
		candidates = append(candidates, candidate)
	}
	return candidates, all[len(all)-1]
}

func TestCompletion(t *testing.T) {
	const noFiles, noSpace, keepOrder, files = ":4", ":6", ":36", ":0"
	for words, test := range map[string]struct{ want, directive string }{
		"layers|--from|F|":                   {"aggregator kube-apiserver inspect apiextensions not-found", noFiles},
		"layers|--from|F|a":                  {"aggregator apiextensions", noFiles},
		"layer|--from|F|aggregator|a":        {"apiextensions", noFiles},
		"chain|--from|F|au":                  {"audit-init authentication authorization", noFiles},
		"requests|--from|F|mx2wvw5t-33":      {"mx2wvw5t-330 mx2wvw5t-336 mx2wvw5t-339", noFiles},
		"crds|--from|F|":                     {"gadgets.example.com stucks.example.com trials.things.k8s.io widgets.example.com", noFiles},
		"crd|--from|F|widgets.example.com|":  {"gadgets.example.com stucks.example.com trials.things.k8s.io", noFiles},
		"apiservices|--from|F|v1.w":          {"v1.weather.example.com", noFiles},
		"apiservice|--from|F|v1.":            {"v1. v1.apps v1.broken.example.com v1.example.com v1.weather.example.com", noFiles},
		"request|--from|F|":                  {"last dac6d4e7-c4a4-49f3-9aad-54cb1970c65d abff8c3d-8d27-489c-b035-de17e08f85f3 3dc42186-90ac-4841-890c-64dee4aecb23 4a79bae0-bf1e-41b3-849c-158b94fc321d 67fbe89d-6841-4851-b165-19f72901c125 4800fa6a-d3c8-4730-bf71-b23e94b246a2 94431be3-e2f4-4d55-b7b9-393b7cc96940 1c49c473-b9d4-44d3-9868-7cd928920f04 4e763817-1b89-4d27-abf3-8bc07b4132ca", keepOrder},
		"request|--from|F|last|":             {"", noFiles},
		"layers|--from|F|--sort-by|":         {"name order delegate received answered passed-on in-flight last-error abandoned proxied answers group-versions paths", noFiles},
		"crds|--from|F|--sort-by|":           {"changed name objects since size state to-established to-served", noFiles},
		"filters|--from|F|--field-selector|": {"metadata.name= spec.enabled=", noSpace},
		"crds|--from|F|--field-selector|":    {"metadata.name=", noFiles},
		"requests|--from|F|--filter|author":  {"authorization", noFiles},
		"requests|--from|F|--layer|":         {"aggregator kube-apiserver inspect apiextensions not-found", noFiles},
		"requests|--status|":                 {">=400 4xx 5xx 403 429 0", noFiles},
		"requests|--verb|":                   {"get list watch create update patch delete deletecollection", noFiles},
		"layers|--server-id|--from|F|x":      {"", noFiles},
		"layers|--from|F|--server-id|":       {"apiserver-wlv32tlttr4jl3gtroqexyxapa", noFiles},
		"route|":                             {"GET POST PUT PATCH DELETE get list watch create update patch delete deletecollection", noFiles},
		"route|--from|F|GET|/apis/example":   {"/apis/example.com/v1/stucks /apis/example.com/v1/widgets /apis/example.com/v1beta1/widgets", noSpace},
		"route|--from|F|GET|/r":              {"/readyz", noSpace},
		"route|--from|F|GET|/api/":           {"/api/v1/bindings /api/v1/configmaps /api/v1/pods", noSpace},
		"route|--from|F|GET|/api|":           {"", noFiles},
		"-o|":                                {"json yaml", noFiles},
		"bundle|-o|":                         {"", files},
		"diff|":                              {"", files},
		"layers|--from|":                     {"", files},
		"layers|--kubeconfig|":               {"", files},
		"route|GET|/version|-f|":             {"", files},
		"layers|-l|":                         {"", noFiles},
		"layers|--from|testdata/none.json|":  {"", noFiles},
		"layers|":                            {"", noFiles},
		"crds|--server|https://127.0.0.1:1|": {"", noFiles},
	} {
		args := strings.Split(strings.ReplaceAll(words, "|F|", "|"+kapiFile+"|"), "|")
		got, directive := completed(t, args...)
		if joined := strings.Join(got, " "); joined != test.want || directive != test.directive {
			t.Errorf("%s: %q %s, want %q %s", words, joined, directive, test.want, test.directive)
		}
	}
	if got, _ := completed(t, "layers", "-o", ""); !slices.Equal(got, formats()) {
		t.Errorf("formats are %q", got)
	}
	if got, _ := completed(t, ""); !slices.Contains(got, "layers") || !slices.Contains(got, "snapshot") {
		t.Errorf("commands are %q", got)
	}
}

// TestCompletionOfFlags: every flag of every command has a completion, so that no
// shell offers the files of the working directory for it.
func TestCompletionOfFlags(t *testing.T) {
	root := NewCmd(nil)
	for _, cmd := range append(root.Commands(), root) {
		cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
			if flag.Value.Type() == "bool" {
				return
			}
			complete, ok := cmd.GetFlagCompletionFunc(flag.Name)
			if !ok && cmd.InheritedFlags().Lookup(flag.Name) == nil {
				t.Errorf("%s --%s has no completion", cmd.CommandPath(), flag.Name)
			}
			if ok && flag.Name != "context" {
				cmd.SetContext(t.Context())
				complete(cmd, nil, "") // finds the kinds that it names, and asks no server in vain
			}
		})
	}
}
