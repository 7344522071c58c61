package configs

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// unit is a systemd unit: section, key, values in order. A key without a value
// resets the list before it, which systemd needs to be told apart from a key
// that is not there.
type unit map[string]map[string][]string

// parseUnit reads the part of systemd's syntax that our unit uses, and fails on
// everything else: a line that systemd would ignore with a warning is an error.
func parseUnit(t *testing.T, path string) unit {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	u, section := unit{}, ""
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		switch key, value, isPair := strings.Cut(line, "="); {
		case line == "" || line[0] == '#':
		case line[0] == '[' && strings.HasSuffix(line, "]"):
			section = strings.Trim(line, "[]")
			u[section] = map[string][]string{}
		case section == "" || !isPair || strings.HasSuffix(line, `\`):
			t.Fatalf("%s:%d: want a [section], key=value on one line, or a comment: %q", path, n, line)
		default:
			u[section][key] = append(u[section][key], value)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return u
}

// TestService holds what the unit promises: how kapi is started and stopped, and
// that its data is private.
func TestService(t *testing.T) {
	u := parseUnit(t, "kapi.service")
	for _, section := range []string{"Unit", "Service", "Install"} {
		if len(u[section]) == 0 {
			t.Errorf("the unit has no [%s]", section)
		}
	}
	for key, want := range map[string][]string{
		"Type":                  {"notify"},
		"ExecStart":             {"/usr/bin/kapi serve --data-dir=/var/lib/kapi"},
		"KillSignal":            {"SIGTERM"},
		"KillMode":              {"mixed"},
		"Restart":               {"on-failure"},
		"DynamicUser":           {"yes"},
		"StateDirectory":        {"kapi"},
		"StateDirectoryMode":    {"0700"},
		"UMask":                 {"0077"},
		"CapabilityBoundingSet": {""},
		"NoNewPrivileges":       {"yes"},
		"ProtectSystem":         {"strict"},
		"PrivateTmp":            {"yes"},
		"SystemCallFilter":      {"@system-service", "~@privileged @resources"},
	} {
		if got := u["Service"][key]; !slices.Equal(got, want) {
			t.Errorf("[Service] %s = %q, want %q", key, got, want)
		}
	}
}

// TestServiceVerify asks systemd itself, where it is installed. It would also
// look for the binary, which is not there, so the copy names one that is.
func TestServiceVerify(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	raw, err := os.ReadFile("kapi.service")
	if err != nil {
		t.Fatal(err)
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "kapi.service")
	text := strings.ReplaceAll(string(raw), "/usr/bin/kapi", shell)
	if err := os.WriteFile(copied, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	// systemd-analyze exits 0 for a key that it does not know; it says so.
	out, err := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", copied).CombinedOutput()
	if err != nil || strings.Contains(string(out), "kapi.service") {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}
