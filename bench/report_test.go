package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

// sampleReport has a row of every kind: reached, missed, without a goal, with
// an absolute goal, with figures of one side only, and one without any.
func sampleReport() report {
	r := report{
		Machine: machine{OS: "linux", Arch: "amd64", Kernel: "6.1.0", CPUs: 2, MemoryMB: 24000, Filesystem: "ext4"},
		Sides: [2]sideReport{
			{Label: "peer", Versions: map[string]string{"kubernetes": "v1.37.2", "etcd": "v3.7.3", "go": "go1.26"}},
			{Label: "kapi", Versions: map[string]string{"kapi": "(devel)", "kubernetes": "v1.37.2"}},
		},
	}
	r.add(scenario{Name: "s", Rows: []row{
		{Name: "startup.ready", Unit: "s", Better: lower, Goal: goal{Ratio: 0.3}},
		{Name: "throughput.get", Unit: "/s", Better: higher, Goal: goal{Ratio: 2}},
		{Name: "throughput.get.p99", Unit: "ms", Better: lower},
		{Name: "stop", Unit: "s", Better: lower, Goal: goal{Absolute: 1}},
		{Name: "goroutines", Better: lower, Goal: goal{Ratio: 0.5}},
		{Name: "absent", Better: lower},
	}}, [2][]sample{
		{
			{"startup.ready": 3.1, "throughput.get": 3260, "throughput.get.p99": 12.345, "stop": 0.1234, "goroutines": 2670},
			{"startup.ready": 2.9, "throughput.get": 3300, "throughput.get.p99": 11, "stop": 0.1, "goroutines": 2671},
			{"startup.ready": 3.5, "throughput.get": 3100, "throughput.get.p99": 14, "stop": 0.2, "goroutines": 2669},
		},
		{
			{"startup.ready": 0.8, "throughput.get": 4890.4, "throughput.get.p99": 0.0456, "stop": 0},
			{"startup.ready": 0.9, "throughput.get": 5000, "throughput.get.p99": 0.05, "stop": 0.01},
			{"startup.ready": 0.7, "throughput.get": 4000, "throughput.get.p99": 0.04, "stop": 0.001},
		},
	})
	return r
}

func TestTable(t *testing.T) {
	var got bytes.Buffer
	writeTable(&got, sampleReport())
	golden := filepath.Join("testdata", "table.golden")
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("the table differs from %s (go test ./bench -update writes it):\n%s", golden, got.String())
	}
}

func TestJSONKeepsEverySample(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out.json")
	if err := writeJSON(file, sampleReport()); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var back report
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if len(back.Rows) != 5 {
		t.Fatalf("%d rows, want 5", len(back.Rows))
	}
	start := back.Rows[0]
	if len(start.First.Samples) != 3 || len(start.Second.Samples) != 3 || start.Reached == nil || !*start.Reached {
		t.Errorf("first row = %+v", start)
	}
	if g := back.Rows[4]; g.Second != nil || g.Ratio != nil || g.Reached != nil {
		t.Errorf("a row without figures of the second side has some: %+v", g)
	}
	if back.Pairs != 3 || back.Machine.CPUs != 2 || back.Sides[0].Versions["etcd"] != "v3.7.3" {
		t.Errorf("report = %+v", back)
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 0.0456: "0.046", 0.5: "0.500", 3.14159: "3.14", 31.4159: "31.4", 314.159: "314", 31415.9: "31416", -2.5: "-2.50",
	} {
		if got := number(v); got != want {
			t.Errorf("number(%v) = %q, want %q", v, got, want)
		}
	}
}
