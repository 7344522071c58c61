package inspect

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kapi-dev/kapi/internal/fault"
)

// TestRouteGolden is `kapi inspect route` on a kapi, without and with sending.
func TestRouteGolden(t *testing.T) {
	f := newFakeKapi(t)
	g := &golden{}
	for _, words := range []string{
		"route GET /apis/apps/v1/deployments",
		"route delete /api/v1/namespaces/default/configmaps/a --as alice --as-group dev",
		"route list /apis/example.com/v1/namespaces/default/widgets --as 山田太郎",
		"route GET /nirgends/はい",
		"route create /api/v1/namespaces/default/pods",
		"route GET /apis/broken.example.com/v1/things",
		"route GET /api/v1/namespaces/default --live",
		"route BREW /coffee",
		"route GET /nirgends/はい --exit-status",
	} {
		g.route(t, f, widths, words)
	}
	g.route(t, f, nil, "route GET /nirgends/はい -o json")
	g.route(t, f, nil, "route GET /nirgends/はい -o yaml")
	g.route(t, f, nil, "route GET /apis/apps/v1/deployments -o jsonpath={.status.storageKey}")
	g.section(t, widths[:1], "", "route", "GET", "/version", "--from", kapiFile)
	g.compare(t, ".", "route")
}

// route leaves the address of the server out: it is another one each time.
func (g *golden) route(t *testing.T, f *fakeKapi, widths []int, words string) {
	t.Helper()
	args := strings.Fields(words)
	if widths == nil {
		widths = []int{0}
	}
	for _, width := range widths {
		r := inEnvironment(t, width, "", f.args(args...))
		if err := fits(r.stdout, width); err != nil && !strings.Contains(words, "-o") {
			t.Errorf("%s: %v", words, err)
		}
		g.write(width, "", args, r)
	}
}

// TestRouteSends: what is sent is what was explained, under an audit ID.
func TestRouteSends(t *testing.T) {
	body := filepath.Join(t.TempDir(), "pod.yaml")
	if err := os.WriteFile(body, []byte("kind: Pod\nmetadata:\n  name: 花\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := newFakeKapi(t)
	run(t, f.args("route", "create", "/api/v1/namespaces/default/pods", "--live", "-f", body)...).ok(t)
	line, header := f.lastSent()
	if line != "POST /api/v1/namespaces/default/pods" || header.Get("Content-Type") != "application/json" {
		t.Errorf("sent %q as %q", line, header.Get("Content-Type"))
	}
	out := run(t, f.args("route", "delete", "/api/v1/namespaces/default/configmaps/a", "--live", "--as", "alice", "--as-group", "dev", "-o", "json")...).ok(t)
	line, header = f.lastSent()
	if line != "DELETE /api/v1/namespaces/default/configmaps/a" || header.Get("Impersonate-User") != "alice" || header.Get("Impersonate-Group") != "dev" {
		t.Errorf("sent %q as %v", line, header)
	}
	var both struct{ Items []struct{ Kind string } }
	if err := json.Unmarshal([]byte(out), &both); err != nil || len(both.Items) != 2 || both.Items[0].Kind != "RouteExplanation" || both.Items[1].Kind != "RequestTrace" {
		t.Errorf("error %v, printed %s", err, out)
	}
}

// TestRouteSeen: of a server that keeps no traces there is what the client saw.
func TestRouteSeen(t *testing.T) {
	f := newFakeKapi(t)
	f.failures["/apis/inspect.kapi.dev/v1alpha1/requesttraces"] = forbidden("inspect.kapi.dev", "requesttraces")
	out := run(t, f.args("route", "GET", "/nirgends/はい", "--live", "-o", "json")...).ok(t)
	if !strings.Contains(out, `"code": 404`) || !strings.Contains(out, "RequestTrace") {
		t.Errorf("it prints %s", out)
	}
}

func TestRouteFails(t *testing.T) {
	f := newFakeKapi(t)
	missing := filepath.Join(t.TempDir(), "none.yaml")
	for _, test := range []struct{ words, text, hint string }{
		{"route", "takes 2 argument(s), not 0", "give a verb and a path"},
		{"route GET", "takes 2 argument(s), not 1", "give a verb and a path"},
		{"route GET api", `path "api" does not begin with a slash`, "/api/v1"},
		{"route GET /version -f x", "-f gives the body of a request that is sent", "add --live"},
		{"route GET /version --as-group dev", "--as-group needs --as", "name the user"},
		{"route GET /version -o tree", `-o "tree" is not a format`, "formats: table"},
		{"route BREW /version", `VERB "BREW"`, ""},
		{"route create /api/v1/namespaces/default/pods --live -f " + missing, "reading the body", "-f takes a file"},
		{"route GET /version --from " + kapiFile, "is a recording", "ask the server itself"},
	} {
		r := run(t, f.args(strings.Fields(test.words)...)...)
		r.fails(t, fault.CodeUsage, test.text, test.hint)
	}
	if line, _ := f.lastSent(); line != "" {
		t.Errorf("sent %q although the input is wrong", line)
	}
}
