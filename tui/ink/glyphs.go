package ink

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/kapi-dev/kapi/internal/text"
)

// Glyphs are the signs of a screen. There is a set of Unicode and one of ASCII, in
// ui-assets. Each is one cell wide unless it says otherwise.
type Glyphs struct {
	// ASCII says that everything must be of ASCII, but for names of objects.
	ASCII bool `json:"ascii"`
	// Good, Warning, Bad, Unknown, Running and Off stand before a word for a state.
	Good    string `json:"good"`
	Warning string `json:"warning"`
	Bad     string `json:"bad"`
	Unknown string `json:"unknown"`
	Running string `json:"running"`
	Off     string `json:"off"`
	// Cursor stands before the selected row, Changed before what has changed.
	Cursor  string `json:"cursor"`
	Changed string `json:"changed"`
	// Ellipsis stands for what was cut.
	Ellipsis string `json:"ellipsis"`
	// Ascending and Descending mark the column that is sorted by.
	Ascending  string `json:"ascending"`
	Descending string `json:"descending"`
	// Open and Closed stand before a part that can be folded.
	Open   string `json:"open"`
	Closed string `json:"closed"`
	// Branch, Last and Stem are the lines of a tree, two cells wide.
	Branch string `json:"branch"`
	Last   string `json:"last"`
	Stem   string `json:"stem"`
	// Horizontal and Vertical are borders; Corners are those of a box: top left,
	// top right, bottom left, bottom right.
	Horizontal string    `json:"horizontal"`
	Vertical   string    `json:"vertical"`
	Corners    [4]string `json:"corners"`
	// Arrow leads from one part to the next, Crumb separates where one is.
	Arrow string `json:"arrow"`
	Crumb string `json:"crumb"`
	// Dot separates facts on one line.
	Dot string `json:"dot"`
	// Spark are the heights of a sparkline, lowest first.
	Spark []string `json:"spark"`
	// Full, Half and Empty are parts of a bar.
	Full  string `json:"full"`
	Half  string `json:"half"`
	Empty string `json:"empty"`
}

// Clean returns a text that is safe on one line, in signs that the set has.
func (g *Glyphs) Clean(s string) string { return text.Screen{ASCII: g.ASCII}.Clean(s) }

// Cut returns a clean text in at most width cells. With an ellipsis, one stands at
// its end even where nothing of the text is missing: more follows.
func (g *Glyphs) Cut(s string, width int, ellipsis bool) string {
	if width <= 0 {
		return ""
	}
	tail := ""
	if ellipsis {
		tail = g.Ellipsis
	}
	if room := width - Width(tail); Width(s) > room {
		return ansi.Truncate(s, room, "") + tail
	}
	return s + tail
}

// Shorten returns a clean text in at most width cells; what is cut out is in the
// middle, since names differ at their ends.
func (g *Glyphs) Shorten(s string, width int) string {
	whole := Width(s)
	if whole <= width {
		return s
	}
	room := width - Width(g.Ellipsis)
	if room < 3 {
		return g.Cut(s, width, true)
	}
	cut := whole - room/3
	tail := ansi.TruncateLeft(s, cut, "")
	for Width(tail) > room/3 { // a wide letter that the cut goes through is kept whole
		cut++
		tail = ansi.TruncateLeft(s, cut, "")
	}
	return ansi.Truncate(s, room-Width(tail), "") + g.Ellipsis + tail
}

// Pad returns a clean text followed by blanks up to width cells.
func Pad(s string, width int) string { return s + strings.Repeat(" ", max(0, width-Width(s))) }

// PadLeft returns a clean text after blanks up to width cells.
func PadLeft(s string, width int) string { return strings.Repeat(" ", max(0, width-Width(s))) + s }
