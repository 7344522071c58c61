package shorten

import (
	"slices"
	"testing"

	"github.com/kapi-dev/kapi/tui/ink"
)

// Names of one beginning and one end are told apart, in whatever width that can be.
func TestTogether(t *testing.T) {
	t.Parallel()
	glyphs := &ink.Glyphs{Ellipsis: "…"}
	names := []string{
		"poststarthook/start-apiextensions-controllers", "poststarthook/start-kube-apiserver-controllers",
		"poststarthook/start-service-ip-repair-controllers", "poststarthook/crd-informer-synced", "etcd",
	}
	for width := 24; width < 60; width++ {
		short := Together(glyphs, names, width)
		for i, text := range short {
			if ink.Width(text) > width {
				t.Errorf("%q is wider than %d", text, width)
			}
			if slices.Index(short, text) != i {
				t.Errorf("%d cells: %q is there twice: %q", width, text, short)
			}
		}
	}
}

func TestTogetherAnything(t *testing.T) {
	t.Parallel()
	glyphs := &ink.Glyphs{Ellipsis: "…"}
	names := []string{"", "界界界界界界a界", "界界界界界界b界", "e\u0301e\u0301e\u0301e\u0301e\u0301", "same same same", "same same same"}
	for width := range 20 {
		for i, text := range Together(glyphs, names, width) {
			if ink.Width(text) > width {
				t.Errorf("%d cells: %q is too wide", width, text)
			}
			if ink.Width(names[i]) <= width && text != names[i] {
				t.Errorf("%d cells: %q is cut to %q", width, names[i], text)
			}
		}
	}
}
