package e2e_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/kapi-dev/kapi/internal/kapitest"
)

// TestInspectWatchAcrossRestart stops the server under commands that watch it, and
// starts it again: they go on, and say on stderr what has happened. Between the
// two it is a server that does not run, and one whose certificate is of another.
func TestInspectWatchAcrossRestart(t *testing.T) {
	t.Parallel()
	host, port := fixedAddress(t)
	server := kapitest.Start(t, "--bind-address", host, "--secure-port", port)
	defineThings(t, server, "before.e2e.test")
	watches := map[string]*followed{}
	for _, args := range []string{
		// First what shows nothing when it has begun: it has the time that all others need.
		"apiservices v1.after.e2e.test --for=condition=Available --timeout=10m",
		"crds --watch", "crds --watch -o json", "apiservices --watch -o name", "transitions --watch", "transitions --watch -o json --output-watch-events",
		"layers --watch -o json", "requests --watch -o json",
	} {
		watches[args] = startWatch(t, inspectCmd(t, server, strings.Fields(args)...))
	}
	shows := func(args, text string) {
		t.Helper()
		await(t, "kapi inspect "+args+" prints "+text, func(context.Context) bool { return strings.Contains(watches[args].stdout.String(), text) })
	}
	shows("crds --watch", "things.before.e2e.test")
	shows("crds --watch -o json", `"name":"things.before.e2e.test"`)
	shows("apiservices --watch -o name", "/v1.before.e2e.test\n")
	shows("transitions --watch", "things.before.e2e.test")
	shows("transitions --watch -o json --output-watch-events", `"name":"things.before.e2e.test"`)
	shows("layers --watch -o json", `"name":"not-found"`)
	shows("requests --watch -o json", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions")

	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	awaitNotice(t, watches, "connection lost, waiting for the server: ")
	t.Run("no server", func(t *testing.T) { inspectStopped(t, server) })
	t.Run("another certificate", func(t *testing.T) { inspectStranger(t, server) })
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	awaitNotice(t, watches, "connected again\n")

	defineThings(t, server, "after.e2e.test")
	shows("crds --watch", "things.after.e2e.test")
	shows("crds --watch -o json", `"name":"things.after.e2e.test"`)
	shows("apiservices --watch -o name", "/v1.after.e2e.test\n")
	shows("transitions --watch", "things.after.e2e.test")
	shows("transitions --watch -o json --output-watch-events", `"name":"things.after.e2e.test"`)
	shows("apiservices v1.after.e2e.test --for=condition=Available --timeout=10m", "condition met: Available=True\n")
	raw{method: "GET", path: "/api/v1/namespaces/after-the-restart"}.send(t, server.Config(t))
	shows("requests --watch -o json", "/api/v1/namespaces/after-the-restart")
	for args, watching := range watches {
		if code := endOf(t, args, watching); code != 0 && code != 130 {
			t.Errorf("kapi inspect %s: exits with %d", args, code)
		}
		checkWatch(t, args, watching)
	}
}

func awaitNotice(t *testing.T, watches map[string]*followed, notice string) {
	t.Helper()
	for args, watching := range watches {
		await(t, "kapi inspect "+args+" says "+notice, func(context.Context) bool { return strings.Contains(watching.stderr.String(), notice) })
	}
}

// endOf interrupts what does not end by itself.
func endOf(t *testing.T, args string, watching *followed) int {
	t.Helper()
	if !strings.Contains(args, "--for") {
		return watching.interrupt(t)
	}
	if err := watching.cmd.Wait(); err != nil {
		t.Errorf("kapi inspect %s: %v", args, err)
	}
	return watching.cmd.ProcessState.ExitCode()
}

// checkWatch looks at all that a watch has printed: JSON is an object a line, a
// table has one heading, and stderr has the two notices once.
func checkWatch(t *testing.T, args string, watching *followed) {
	t.Helper()
	stdout, stderr := watching.stdout.String(), watching.stderr.String()
	if strings.Contains(args, "json") {
		for line := range strings.Lines(stdout) {
			// Of a watch with events the object is inside.
			var one struct {
				Kind, APIVersion, Type string
				Object                 struct{ Kind, APIVersion string }
			}
			err := json.Unmarshal([]byte(line), &one)
			if err != nil || (one.Kind == "" || one.APIVersion == "") && (one.Type == "" || one.Object.Kind == "" || one.Object.APIVersion == "") {
				t.Errorf("kapi inspect %s: %v in the line\n%s", args, err, line)
			}
		}
	} else if strings.Count(stdout, "NAME ") > 1 {
		t.Errorf("kapi inspect %s: more than one heading\n%s", args, stdout)
	}
	if strings.Count(stderr, "connection lost") != 1 || strings.Count(stderr, "connected again") != 1 {
		t.Errorf("kapi inspect %s: stderr:\n%s", args, stderr)
	}
	for line := range strings.Lines(stderr) {
		if !strings.HasPrefix(line, "connect") && !strings.HasSuffix(line, " is gone\n") {
			t.Errorf("kapi inspect %s: stderr has the line %q", args, line)
		}
	}
}

// inspectStopped is what is said of a server that has been stopped.
func inspectStopped(t *testing.T, stopped *kapitest.Server) {
	for _, args := range []string{"", "layers", "crds --watch", "hooks --for=condition=Done", "bundle -o x.tgz", "request last", "route GET /api"} {
		cmd := inspectCmd(t, stopped, strings.Fields(args)...)
		cmd.Dir = t.TempDir()
		end := runToEnd(t, cmd)
		if end.code != 1 || end.stdout != "" || !strings.HasPrefix(end.stderr, "error: no server answers at https://") ||
			!strings.Contains(end.stderr, "\nhint: no server runs on data directory "+stopped.Dir+": start it with \"kapi serve\"\n") {
			t.Errorf("kapi inspect %s: %+v", args, end)
		}
	}
}

// inspectStranger asks the shared server with the kubeconfig of another one.
func inspectStranger(t *testing.T, other *kapitest.Server) {
	address := kapitest.Shared(t).Config(t).Host
	end := runToEnd(t, inspectCmd(t, other, "layers", "--server", address))
	if end.code != 1 || !strings.HasPrefix(end.stderr, "error: the certificate of the server at "+address+" is not trusted: ") ||
		!strings.Contains(end.stderr, "\nhint: kubeconfig "+other.Kubeconfig()+" ") || !strings.Contains(end.stderr, " is of another server") {
		t.Errorf("%+v", end)
	}
}
