package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"

	"github.com/kapi-dev/kapi/internal/kapitest"
)

// TestInspectCrowd lists 10,000 definitions in pages: memory does not grow with
// what they say, only with the lines of the table. They are served in front of
// the shared server, which would take minutes to have so many; all else is its own.
func TestInspectCrowd(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere no process tells how much memory it has had")
	}
	server := kapitest.Shared(t)
	const few, many = 1_000, 10_000
	for _, test := range []struct {
		args   string
		growth int64 // bytes at most from few to many
	}{
		{"crds", 48 << 20},
		{"crds -o json", 24 << 20},
		{"crds -o name -l even=yes", 24 << 20},
	} {
		var peaks []int64
		for _, count := range []int{few, many} {
			crowd := newCrowd(t, server, count)
			cmd := inspectCmd(t, server, append(strings.Fields(test.args), "--server", crowd.URL, "--certificate-authority", crowd.authority, "--token", "any")...)
			file := filepath.Join(t.TempDir(), "peak")
			cmd.Env = append(cmd.Env, "KAPI_DATADIR="+t.TempDir(), kapitest.PeakVariable+"="+file)
			var lines lineCounter
			end := runInto(t, cmd, &lines)
			if end.code != 0 || lines.lines < count/2 {
				t.Fatalf("kapi inspect %s of %d definitions: %d lines, %d %s", test.args, count, lines.lines, end.code, end.stderr)
			}
			crowd.check(t, test.args)
			peaks = append(peaks, peakIn(t, file))
		}
		t.Logf("kapi inspect %s: %d MiB at most for %d definitions, %d MiB for %d", test.args, peaks[0]>>20, few, peaks[1]>>20, many)
		if growth := peaks[1] - peaks[0]; growth > test.growth {
			t.Errorf("kapi inspect %s: %d MiB more for %d definitions than for %d, want %d at most", test.args, growth>>20, many, few, test.growth>>20)
		}
	}
}

// peakIn reads what a command has written of its memory, in bytes.
func peakIn(t testing.TB, file string) int64 {
	t.Helper()
	var kilobytes int64
	if _, err := fmt.Sscanf(readFile(t, file), "%d kB", &kilobytes); err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}

// lineCounter is a stdout of which only the number of lines is kept.
type lineCounter struct{ lines int }

// Write implements io.Writer.
func (c *lineCounter) Write(p []byte) (int, error) {
	c.lines += strings.Count(string(p), "\n")
	return len(p), nil
}

// crowd is a server with many definitions, in front of another server.
type crowd struct {
	*httptest.Server
	authority string // file
	count     int
	pattern   string // a definition, as JSON

	mu    sync.Mutex
	lists []url.Values // queries of the lists
}

func newCrowd(t *testing.T, behind *kapitest.Server, count int) *crowd {
	t.Helper()
	config := behind.Config(t)
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Header.Del("Authorization")
	}}
	c := &crowd{count: count, pattern: jsonOf(t, crowded()), authority: filepath.Join(t.TempDir(), "ca.crt")}
	mux := http.NewServeMux()
	mux.Handle("/", proxy)
	mux.HandleFunc("GET /apis/apiextensions.k8s.io/v1/customresourcedefinitions", c.list)
	ca := newAuthority(t)
	if err := cert.WriteCert(c.authority, ca.PEM); err != nil {
		t.Fatal(err)
	}
	c.Server = serveTLS(t, listen(t, "127.0.0.1"), ca, mux, "127.0.0.1")
	return c
}

// list answers with a page, as a server does: from "continue" on, "limit" items.
func (c *crowd) list(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	c.mu.Lock()
	c.lists = append(c.lists, query)
	c.mu.Unlock()
	from, to := 0, c.count
	if token := query.Get("continue"); token != "" {
		from, _ = strconv.Atoi(token)
	}
	list := metav1.ListMeta{ResourceVersion: "1000"}
	if limit, err := strconv.Atoi(query.Get("limit")); err == nil && limit > 0 && from+limit < to {
		to = from + limit
		left := int64(c.count - to)
		list.Continue, list.RemainingItemCount = strconv.Itoa(to), &left
	}
	about, err := json.Marshal(list)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinitionList","metadata":%s,"items":[`, about)
	for i := from; i < to; i++ {
		if i > from {
			fmt.Fprint(w, ",")
		}
		numbered := strings.NewReplacer("NUMBER", fmt.Sprintf("%05d", i), "EVEN", []string{"yes", "no"}[i%2])
		fmt.Fprint(w, numbered.Replace(c.pattern))
	}
	fmt.Fprint(w, "]}")
}

// crowded is a definition with a schema of some kilobytes; NUMBER and EVEN stand
// for what each has of its own.
func crowded() *apiextensionsv1.CustomResourceDefinition {
	crd := things("NUMBER.crowd.e2e.test")
	crd.Labels = map[string]string{"even": "EVEN"}
	crd.CreationTimestamp = metav1.Now()
	crd.UID = "crowd"
	properties := map[string]apiextensionsv1.JSONSchemaProps{}
	for n := range 40 {
		properties[fmt.Sprintf("property%d", n)] = apiextensionsv1.JSONSchemaProps{Type: "string", Description: strings.Repeat("what it means ", 6)}
	}
	crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties = properties
	crd.Status.AcceptedNames = crd.Spec.Names
	crd.Status.StoredVersions = []string{"v1"}
	crd.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{
		{Type: apiextensionsv1.NamesAccepted, Status: apiextensionsv1.ConditionTrue, Reason: "NoConflicts"},
		{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue, Reason: "InitialNamesAccepted"},
	}
	return crd
}

// check looks at how the definitions were asked for: once, in pages.
func (c *crowd) check(t *testing.T, args string) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	listed := 0
	for _, query := range c.lists {
		limit, err := strconv.Atoi(query.Get("limit"))
		if err != nil || limit < 1 || limit > 1000 {
			t.Errorf("kapi inspect %s: a list with the query %v", args, query)
		}
		listed += limit
	}
	if listed < c.count || listed >= c.count+1000 {
		t.Errorf("kapi inspect %s: %d lists of %d definitions in all, there are %d", args, len(c.lists), listed, c.count)
	}
}
