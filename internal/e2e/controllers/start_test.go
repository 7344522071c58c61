package controllers_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/kapi-dev/kapi/internal/controllers/catalog"
	"github.com/kapi-dev/kapi/internal/kapitest"
)

// TestQuietStartAndStop: a start with all controllers says little, and a stop no
// more than that, and neither speaks of errors.
func TestQuietStartAndStop(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		args  []string
		runs  []string
		lines int // at most, until it is ready and all run
	}{
		"api": {nil, servedAPI(), 12},
		"all": {[]string{"--controllers=all", "--fake-nodes=3"}, append(append(servedAPI(), catalog.In(catalog.Workloads)...), catalog.In(catalog.Nodes)...), 16},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := kapitest.Start(t, append(test.args, "--log-format=json")...)
			awaitRunning(t, server, test.runs...)
			newHome(t, server.Client(t))
			begun := strings.Count(server.Log(), "\n")
			if begun > test.lines {
				t.Errorf("a start prints %d lines, want at most %d:\n%s", begun, test.lines, server.Log())
			}
			if err := server.Stop(); err != nil {
				t.Error(err)
			}
			log := server.Log()
			if ended := strings.Count(log, "\n") - begun; ended > 10 {
				t.Errorf("a stop prints %d lines:\n%s", ended, log)
			}
			for _, line := range complaints(t, log) {
				t.Errorf("from start to stop: %s", line)
			}
		})
	}
}

// TestStopWhileStarting: a stop right after the start, before the controllers run,
// is one in order.
func TestStopWhileStarting(t *testing.T) {
	t.Parallel()
	server := kapitest.New(t, "--controllers=all", "--fake-nodes=3", "--log-format=json")
	for range 3 {
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		if err := server.Stop(); err != nil {
			t.Errorf("%v\n%s", err, server.Log())
		}
		for _, line := range complaints(t, server.Log()) {
			t.Error(line)
		}
	}
}

// ofTheServer are errors that a server without controllers prints now and then when
// it is started or stopped.
var ofTheServer = []string{
	"failed to sync with latest state: context canceled", // a watch of etcd that begins while it ends
	"is not allocated; repairing",                        // the Service kubernetes of a new data directory
	"failed to set a status.condition for FlowSchema",    // of flow control, at a stop right after the start
}

// complaints are the lines of a log in JSON that are warnings or errors.
func complaints(t testing.TB, log string) []string {
	t.Helper()
	var found []string
	for line := range strings.Lines(log) {
		var entry struct{ Level string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Errorf("not a line of JSON: %s", line)
		}
		if slices.ContainsFunc(ofTheServer, func(known string) bool { return strings.Contains(line, known) }) {
			continue
		}
		if entry.Level == "error" || entry.Level == "warn" {
			found = append(found, line)
		}
	}
	return found
}
