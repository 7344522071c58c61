package pagestest

import (
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	uiassets "github.com/kapi-dev/kapi/ui-assets"

	"github.com/kapi-dev/kapi/tui/ink"
)

// Glyphs are the signs of a set in ui-assets: "unicode" or "ascii".
func Glyphs(t testing.TB, set string) *ink.Glyphs {
	t.Helper()
	file, err := uiassets.FS.ReadFile("glyphs/" + set + ".yaml")
	if err != nil {
		t.Fatalf("reading the signs: %v", err)
	}
	glyphs := &ink.Glyphs{}
	if err := yaml.Unmarshal(file, glyphs); err != nil {
		t.Fatalf("reading the signs: %v", err)
	}
	return glyphs
}

// Paper is one of Unicode, at a time.
func Paper(t testing.TB, width, height int, now time.Time) ink.Paper {
	t.Helper()
	return ink.Paper{Width: width, Height: height, Glyphs: Glyphs(t, "unicode"), Now: now}
}
