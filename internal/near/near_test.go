package near

import "testing"

func TestDistance(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"port", "prot", 1}, {"kitten", "sitting", 3}, {"ca", "abc", 3}, {"äöü", "äoü", 1}} {
		if got := Distance(row.a, row.b); got != row.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", row.a, row.b, got, row.want)
		}
		if got := Distance(row.b, row.a); got != row.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", row.b, row.a, got, row.want)
		}
	}
}

func TestHint(t *testing.T) {
	t.Parallel()
	names := []string{"dark", "light", "high-contrast"}
	for name, want := range map[string]string{
		"drak": "did you mean dark?", "LIGHT": "did you mean light?", "zzzzzzzzz": "there are: dark, high-contrast, light",
	} {
		if got := Hint(name, names); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if got := Hint("a", nil); got != "there are: " {
		t.Errorf("no names: %q", got)
	}
}
