// Package shorten cuts names that stand below each other so that those which differ
// can still be told apart. It knows nothing of tables and charts.
package shorten

import (
	"slices"

	"github.com/charmbracelet/x/ansi"

	"github.com/kapi-dev/kapi/tui/ink"
)

// Together returns clean texts in at most width cells each. What is cut out of one is
// in its middle, where others would read the same elsewhere: as few as can be do. The
// texts themselves are returned where all of them fit.
func Together(glyphs *ink.Glyphs, texts []string, width int) []string {
	if !slices.ContainsFunc(texts, func(text string) bool { return ink.Width(text) > width }) {
		return texts
	}
	short := make([]string, len(texts))
	alike := map[string][]int{} // by what is shown
	for i, text := range texts {
		short[i] = fitting(glyphs, glyphs.Shorten(text, width), width)
		alike[short[i]] = append(alike[short[i]], i)
	}
	for i := range texts {
		same := alike[short[i]]
		if len(same) < 2 || same[0] != i || one(texts, same) {
			continue
		}
		for n, text := range apart(glyphs, texts, same, width) {
			short[same[n]] = text
		}
	}
	return short
}

// one tells whether some of the texts are one and the same.
func one(texts []string, some []int) bool {
	return !slices.ContainsFunc(some, func(i int) bool { return texts[i] != texts[some[0]] })
}

// apart cuts some of the texts where most of them differ, nearest to where one is cut
// that stands alone.
func apart(glyphs *ink.Glyphs, texts []string, some []int, width int) []string {
	room := width - ink.Width(glyphs.Ellipsis)
	usual := room / 3
	var best []string
	most := 0
	for far := 0; far <= room; far++ {
		for _, tail := range [2]int{usual + far, usual - far} {
			if tail < 0 || tail > room {
				continue
			}
			cut, seen := make([]string, len(some)), map[string]bool{}
			for n, i := range some {
				cut[n] = fitting(glyphs, cutAt(glyphs, texts[i], room, tail), width)
				seen[cut[n]] = true
			}
			if len(seen) > most {
				best, most = cut, len(seen)
			}
			if most == len(some) {
				return best
			}
		}
	}
	return best
}

// cutAt keeps room cells of a text, so many of them at its end.
func cutAt(glyphs *ink.Glyphs, text string, room, tail int) string {
	whole := ink.Width(text)
	if whole <= room+ink.Width(glyphs.Ellipsis) {
		return text
	}
	return ansi.Truncate(text, room-tail, "") + glyphs.Ellipsis + ansi.TruncateLeft(text, whole-tail, "")
}

// fitting cuts what is too wide still: between wide letters a cut may leave a cell too
// many.
func fitting(glyphs *ink.Glyphs, text string, width int) string {
	if ink.Width(text) <= width {
		return text
	}
	return glyphs.Cut(text, width, true)
}
