package termguard_test

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// buildProbes compiles the two programs under internal/probe into a folder and
// returns it. Both link Bubble Tea; one has the guard.
func buildProbes(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", dir+string(filepath.Separator), "./internal/probe/...")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building the probes: %v\n%s", err, out)
	}
	return dir
}

// TestRestore runs the guarded program without a terminal, where its output can
// be compared byte for byte: TERM is dumb until Restore, then as it was, unset
// included, and variables beside it are as they were all the time.
func TestRestore(t *testing.T) {
	guarded := filepath.Join(buildProbes(t), "guarded")
	for _, tc := range []struct {
		name string
		env  []string
		want string
	}{
		{
			name: "a value comes back",
			env:  []string{"TERM=xterm-256color", "COLORTERM=truecolor"},
			want: `before: TERM="dumb" set=true NO_COLOR="" COLORTERM="truecolor"` + "\n" +
				`after: TERM="xterm-256color" set=true NO_COLOR="" COLORTERM="truecolor"` + "\n",
		},
		{
			name: "an empty value stays set",
			env:  []string{"TERM="},
			want: `before: TERM="dumb" set=true NO_COLOR="" COLORTERM=""` + "\n" +
				`after: TERM="" set=true NO_COLOR="" COLORTERM=""` + "\n",
		},
		{
			name: "unset becomes unset again, and NO_COLOR stays",
			env:  []string{"NO_COLOR=1"},
			want: `before: TERM="dumb" set=true NO_COLOR="1" COLORTERM=""` + "\n" +
				`after: TERM="" set=false NO_COLOR="1" COLORTERM=""` + "\n",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), guarded)
			cmd.Env = tc.env
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("running the guarded program: %v\n%s", err, out)
			}
			if string(out) != tc.want {
				t.Errorf("output:\n%swant:\n%s", out, tc.want)
			}
		})
	}
}
