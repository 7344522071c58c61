package page

import (
	"os/exec"
	"testing"
)

// TestQuote asks a real shell what it reads.
func TestQuote(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"", "web", "a$(touch pwned)", "a b", "it's", `"`, "`id`", "-aa -o yaml", "a;b&c|d", "system:node:花子", "a\\b", "*"} {
		out, err := exec.CommandContext(t.Context(), "sh", "-c", "printf %s "+Quote(word)).Output()
		if err != nil || string(out) != word {
			t.Errorf("%q as %s: a shell reads %q, %v", word, Quote(word), out, err)
		}
	}
	if got := Quote("kube-system/web"); got != "kube-system/web" {
		t.Errorf("what is safe is quoted: %s", got)
	}
}
