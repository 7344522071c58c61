package e2e_test

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/kapitest"
)

// mostApplied is how many objects kubectl is given: each costs it a request.
const mostApplied = 20

// TestInspectForPrograms gives what is printed to the programs that read it.
func TestInspectForPrograms(t *testing.T) {
	t.Parallel()
	server := kapitest.Shared(t)
	defineThings(t, server, "programs.e2e.test")
	commands := map[string][]string{
		// kubectl has the types of these two in its OpenAPI documents but not in
		// itself, and fails at a dry run of its own output too, unless told so.
		"customresourcedefinitions": {"--openapi-patch=false"},
		"apiservices":               {"--openapi-patch=false"},
	}
	for _, kind := range kinds.All() {
		commands[kind.Resource] = nil
	}
	for command, flags := range commands {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			end := runToEnd(t, inspectCmd(t, server, command, "-o", "json"))
			var list struct {
				APIVersion string            `json:"apiVersion"`
				Kind       string            `json:"kind"`
				Items      []json.RawMessage `json:"items"`
			}
			if err := json.Unmarshal([]byte(end.stdout), &list); err != nil || end.code != 0 || end.stderr != "" && !strings.Contains(end.stderr, "are not shown") || list.Kind != "List" {
				t.Fatalf("%v %d %s\n%.500s", err, end.code, end.stderr, end.stdout)
			}
			readByJQ(t, end.stdout, len(list.Items))
			if len(list.Items) == 0 {
				return // kubectl applies no empty list
			}
			document := end.stdout
			if len(list.Items) > mostApplied {
				list.Items = list.Items[:mostApplied]
				document = jsonOf(t, list)
			}
			out, stderr, err := server.Try(t, document, append([]string{"kubectl", "apply", "--dry-run=client", "-f", "-"}, flags...)...)
			if err != nil || strings.Count(out, "(dry run)\n") != len(list.Items) {
				t.Errorf("kubectl apply of %d objects: %v\n%s%s", len(list.Items), err, out, stderr)
			}
		})
	}
}

func readByJQ(t *testing.T, document string, want int) {
	t.Helper()
	path, err := exec.LookPath("jq")
	if err != nil {
		t.Log("jq is not installed here")
		return
	}
	cmd := exec.CommandContext(t.Context(), path, "-e", "--argjson", "n", jsonOf(t, want),
		`.kind == "List" and (.items | length) == $n and ([.items[] | .kind, .apiVersion, .metadata.name] | all(length > 0))`)
	cmd.Stdin = strings.NewReader(document)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("jq: %v\n%s", err, out)
	}
}

func jsonOf(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
