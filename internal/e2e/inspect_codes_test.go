package e2e_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"k8s.io/client-go/util/cert"

	"github.com/kapi-dev/kapi/internal/kapitest"
)

// TestInspectExitCodes has each exit code but those of interrupts.
func TestInspectExitCodes(t *testing.T) {
	t.Parallel()
	server := kapitest.Shared(t)
	user := newNamespace(t, server.Client(t)) // as the name of somebody who may do nothing
	for _, test := range []struct {
		args   string
		code   int
		stderr string
	}{
		{"layers", 0, "^$"},
		{"route GET /api --exit-status", 0, "^$"},
		{"layers nothing", 1, `^error: .*"nothing" not found`},
		{"layers --server https://127.0.0.1:1", 1, "^error: no server answers at https://127.0.0.1:1: .*refused\nhint: "},
		{"layers --nonsense", 2, "^error: unknown flag"},
		{"layers -o nonsense", 2, "^error: .*\nhint: formats: table"},
		{"layers --context nonsense", 2, "nonsense"},
		{"layers --kubeconfig /no/such/file", 2, "/no/such/file"},
		{"route GET /api/v1/secrets --exit-status --as " + user, 3, "^$"},
		{"layers --as " + user, 4, "^error: .* is forbidden: User .*\nhint: ClusterRole kapi:inspect gives it; .*--clusterrole=kapi:inspect"},
		{"requests --as " + user, 4, "^error: .* is forbidden: User .*\nhint: ClusterRole kapi:inspect-requests gives it"},
		{"route GET /api --as-uid x", 1, ""}, // no user for the id
		{"crds --as " + user, 4, "^error: .* is forbidden: User .*\nhint: .*kubectl create clusterrole NAME .*--resource=customresourcedefinitions.apiextensions.k8s.io"},
		{"crds --watch --as " + user, 4, "is forbidden"},
		{"layers --watch --as " + user, 4, "is forbidden"},
	} {
		end := runToEnd(t, inspectCmd(t, server, strings.Fields(test.args)...))
		if end.code != test.code || !regexp.MustCompile("(?s)"+test.stderr).MatchString(end.stderr) {
			t.Errorf("kapi inspect %s: exits with %d, want %d; stderr:\n%s", test.args, end.code, test.code, end.stderr)
		}
		if test.code != 0 && test.code != 3 && end.stdout != "" {
			t.Errorf("kapi inspect %s: fails, and prints\n%s", test.args, end.stdout)
		}
	}
}

// TestInspectHintedRole does what the hint says to somebody who may not.
func TestInspectHintedRole(t *testing.T) {
	t.Parallel()
	server := kapitest.Shared(t)
	user := newNamespace(t, server.Client(t))
	advice := regexp.MustCompile(`with: kubectl (.*) NAME (.*)--user=`)
	for _, command := range []string{"filters", "requests"} {
		refused := runToEnd(t, inspectCmd(t, server, command, "--as", user))
		parts := advice.FindStringSubmatch(refused.stderr)
		if refused.code != 4 || parts == nil {
			t.Fatalf("kapi inspect %s: %+v", command, refused)
		}
		line := fmt.Sprintf("kubectl %s %s-%s %s --user=%s", parts[1], user, command, parts[2], user)
		server.Run(t, strings.Fields(line)...)
		eventually(t, func(context.Context) error {
			if end := runToEnd(t, inspectCmd(t, server, command, "--as", user)); end.code != 0 {
				return fmt.Errorf("after %q: %s", line, end.stderr)
			}
			return nil
		})
	}
}

// TestInspectUnknownCaller is a token that the server does not know.
func TestInspectUnknownCaller(t *testing.T) {
	t.Parallel()
	server := kapitest.Shared(t)
	config := server.Config(t)
	authority := filepath.Join(t.TempDir(), "ca.crt")
	if err := cert.WriteCert(authority, config.CAData); err != nil {
		t.Fatal(err)
	}
	cmd := inspectCmd(t, server, "layers", "--server", config.Host, "--certificate-authority", authority, "--token", "planted-token")
	cmd.Env = append(cmd.Env, "KAPI_DATADIR="+t.TempDir())
	end := runToEnd(t, cmd)
	if end.code != 4 || !strings.Contains(end.stderr, "401 Unauthorized") || !strings.Contains(end.stderr, "\nhint: ") || strings.Contains(end.stderr, "planted-token") {
		t.Errorf("%+v", end)
	}
}

// TestInspectNoDataDirectory is the first thing that somebody types who has not
// read anything.
func TestInspectNoDataDirectory(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	cmd := kapitest.Command(t.Context(), home, "inspect")
	end := runToEnd(t, cmd)
	if end.code == 0 || end.stdout != "" || !strings.Contains(end.stderr, "\nhint: ") || !strings.Contains(end.stderr, "kapi serve") {
		t.Errorf("%+v", end)
	}
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Errorf("it leaves %v %v", left, err)
	}
}

// TestInspectInterrupted is Ctrl-C while something is watched or waited for.
func TestInspectInterrupted(t *testing.T) {
	t.Parallel()
	server := kapitest.Shared(t)
	for args, shown := range map[string]string{
		"layers --watch":         "aggregator ",
		"layers --watch -o json": `"kind":"ServerLayer"`,
		"apiservices --watch":    "v1.apps ",
		"requests --watch":       "NAME ",
	} {
		watching := startWatch(t, inspectCmd(t, server, strings.Fields(args)...))
		await(t, args+" prints "+shown, func(context.Context) bool { return strings.Contains(watching.stdout.String(), shown) })
		if code := watching.interrupt(t); code != 130 || watching.stderr.String() != "" {
			t.Errorf("kapi inspect %s: exits with %d; stderr:\n%s", args, code, &watching.stderr)
		}
	}
	waiting := startWatch(t, inspectCmd(t, server, "apiservices", "v1.apps", "v1.never.example.com", "--for=condition=Available", "--timeout=10m"))
	await(t, "one of the two is there", func(context.Context) bool { return strings.Contains(waiting.stdout.String(), "v1.apps condition met") })
	if code := waiting.interrupt(t); code != 130 || strings.Count(waiting.stdout.String(), "\n") != 1 || waiting.stderr.String() != "" {
		t.Errorf("--for: exits with %d\n%s%s", code, &waiting.stdout, &waiting.stderr)
	}
}

// TestInspectQuietEnd closes the pipe of commands that have more to say.
func TestInspectQuietEnd(t *testing.T) {
	t.Parallel()
	server := kapitest.Shared(t)
	for _, command := range []string{
		"kapi inspect resources -o json | head -1",
		"kapi inspect resources -o yaml | head -1",
		"kapi inspect resources -o wide | head -1",
		"kapi inspect requests --include-inspect -o json | head -c 1",
		"kapi inspect snapshot | head -c 1",
		"kapi inspect | head -1",
	} {
		end := runToEnd(t, inShell(t, server, "bash", "-o", "pipefail", "-c", command))
		if end.code != 0 && end.code != 141 || end.stdout == "" || end.stderr != "" {
			t.Errorf("%s: %+v", command, end)
		}
	}
}
