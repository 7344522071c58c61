package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// observed returns an instance of one sleeping process. What it serves is served
// by the test: goroutines says how many it has, the heap is the test's own.
func observed(t *testing.T, goroutines int) *instance {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/metrics", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "# TYPE go_goroutines gauge\ngo_goroutines_other 1\ngo_goroutines %d\n", goroutines)
	})
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return &instance{procs: []*process{shell(t, "exec sleep 1000")}, http: server.Client(), urls: []string{server.URL}}
}

func TestMeasureUsage(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("no /proc on this system")
	}
	l := &lab{opts: &options{}}
	used, err := l.measureUsage(t.Context(), []*instance{observed(t, 7), observed(t, 9)})
	if err != nil {
		t.Fatal(err)
	}
	for n, u := range used {
		for _, f := range figures() {
			if len(u[f.Name]) != 1 {
				t.Errorf("instance %d: %s = %v, want one value", n, f.Name, u[f.Name])
			}
		}
		if want := float64(7 + 2*n); u["goroutines"][0] != want {
			t.Errorf("instance %d: %v goroutines, want %v", n, u["goroutines"], want)
		}
		if u["memory"][0] <= 0 || u["threads"][0] != 1 {
			t.Errorf("instance %d: %v", n, u)
		}
	}
}

func TestHeapIsOfLiveObjects(t *testing.T) {
	inst := observed(t, 1)
	held := make([]byte, 64<<20)
	with, err := inst.heapOf(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	runtime.KeepAlive(held)
	without, err := inst.heapOf(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if without > with-32 {
		t.Errorf("%v MB with 64 MB held, %v without", with, without)
	}
}

func TestEachControllerIsComparedWithNone(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("no /proc on this system")
	}
	l := &lab{opts: &options{}}
	goroutines := map[string]int{bareSet: 100, "a": 103, "b": 99}
	var started []*instance
	got := sample{}
	err := l.measureEach(t.Context(), []string{bareSet, "a", "b"}, func(name string) (*instance, error) {
		started = append(started, observed(t, goroutines[name]))
		return started[len(started)-1], nil
	}, got)
	if err != nil {
		t.Fatal(err)
	}
	if got["controllers-each.a.goroutines"] != 3 || got["controllers-each.b.goroutines"] != -1 {
		t.Errorf("got %v", got)
	}
	if _, ok := got["controllers-each."+bareSet+".goroutines"]; ok || len(got) != 2*len(eachFigures()) {
		t.Errorf("got %v", got)
	}
	for _, inst := range started {
		if inst.procs[0].exited() == nil {
			t.Error("a server is still there")
		}
	}
}

func TestNumberAfter(t *testing.T) {
	const text = "go_goroutines_max 5\ngo_goroutines 12\nbytes 1.5e+06\nword x\n"
	if n, err := numberAfter(text, "go_goroutines "); err != nil || n != 12 {
		t.Errorf("goroutines = %v, %v", n, err)
	}
	if n, err := numberAfter(text, "bytes "); err != nil || n != 1.5e6 {
		t.Errorf("bytes = %v, %v", n, err)
	}
	for _, prefix := range []string{"missing ", "word "} {
		if n, err := numberAfter(text, prefix); err == nil {
			t.Errorf("%q = %v, want an error", prefix, n)
		}
	}
}

func TestCopyModule(t *testing.T) {
	path := filepath.Join(t.TempDir(), "copy.mod")
	if _, err := copyModule(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{path: "module github.com/kapi-dev/kapi\n", strings.TrimSuffix(path, "mod") + "sum": "k8s.io/kubernetes "} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(data), want) {
			t.Errorf("%s lacks %q", file, want)
		}
	}
}
