package ink

import (
	"testing"
	"unicode/utf8"
)

// TestShorten: whatever the letters are, the text ends, fits, and keeps its end.
func TestShorten(t *testing.T) {
	t.Parallel()
	g := &Glyphs{Ellipsis: "…"}
	for _, s := range []string{"", "a", "poststarthook/rbac/bootstrap-roles", "poststarthook/界界界界", "界界界界界界界界", "a\u0301e\u0301o\u0301", "שלום עולם", "👩‍👩‍👧‍👦 family"} {
		for width := range 40 {
			short := g.Shorten(s, width)
			if Width(short) > width {
				t.Errorf("%q in %d cells: %q has %d", s, width, short, Width(short))
			}
			if !utf8.ValidString(short) {
				t.Errorf("%q in %d cells: %q is no text", s, width, short)
			}
			if Width(s) <= width && short != s {
				t.Errorf("%q in %d cells: %q, though it fits", s, width, short)
			}
		}
	}
	if got, want := g.Shorten("poststarthook/bootstrap-roles", 20), "poststarthook…-roles"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
