package theme

import (
	"fmt"
	"io"
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/kapi-dev/kapi/internal/text"
	"github.com/kapi-dev/kapi/tui/ink"
	uiassets "github.com/kapi-dev/kapi/ui-assets"
)

// GlyphNames are the sets of signs.
func GlyphNames() []string { return []string{"ascii", "unicode"} }

// Glyphs returns a set of signs: "unicode" or "ascii". Another name is bad input.
func Glyphs(name string) (*ink.Glyphs, error) {
	if !slices.Contains(GlyphNames(), name) {
		return nil, unknown("set of glyphs", name, GlyphNames())
	}
	content, err := uiassets.FS.ReadFile("glyphs/" + name + suffix)
	if err != nil {
		return nil, fmt.Errorf("reading glyphs: %w", err)
	}
	g := &ink.Glyphs{}
	if err := yaml.UnmarshalStrict(content, g); err != nil {
		return nil, fmt.Errorf("reading the glyphs %s: %w", name, err)
	}
	return g, nil
}

// DetectGlyphs returns the name of the set that a terminal can show: ascii where the
// locale names another character set than UTF-8, and on the Linux console, whose
// font has few signs.
func DetectGlyphs(getenv func(string) string) string {
	if text.Detect(io.Discard, getenv).ASCII || getenv("TERM") == "linux" {
		return "ascii"
	}
	return "unicode"
}
