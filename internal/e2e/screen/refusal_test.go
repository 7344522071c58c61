package screen_test

import (
	"os"
	"path/filepath"
	"testing"
)

// TestRefusals holds that what can't be shown is said on the terminal as it is, by a
// program that is given one: without one, package cli has the tests.
func TestRefusals(t *testing.T) {
	t.Parallel()
	server := lab(t)
	settings := t.TempDir()
	if err := os.MkdirAll(filepath.Join(settings, "kapi"), 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(settings, "kapi", "tui.yaml")
	if err := os.WriteFile(file, []byte("keys:\n  sort: [q]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, refusal := range []struct {
		name, variable string
		args, says     []string
	}{
		{"a terminal that can't draw", "TERM=dumb", nil, []string{`TERM="dumb"`, "--plain"}},
		{"an unknown theme", "", []string{"--theme", "drak"}, []string{`"drak"`, "dark"}},
		{"conflicting keys", "XDG_CONFIG_HOME=" + settings, nil, []string{"keys: q is of sort and of quit", "another key"}},
	} {
		variable := refusal.variable
		if variable == "" {
			variable = "NOTHING="
		}
		t.Run(refusal.name, func(t *testing.T) {
			args := append([]string{"env", variable, kapi(t), "tui"}, refusal.args...)
			m := openTerminal(t, compact, []string{"KUBECONFIG=" + server.kubeconfig()}, args...)
			m.see(append(refusal.says, "error: ", "hint: ")...)
			m.ends(2)
		})
	}
}
