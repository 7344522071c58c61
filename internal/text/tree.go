package text

import (
	"bufio"
	"io"
	"strings"
)

// Node is one line of a tree, or some if it is long.
type Node struct {
	// Name is printed as a heading before the label; it may be empty.
	Name string
	// Label is a clean text, in the tone Tone.
	Label string
	Tone  Tone
	// Notes are printed dimly beneath, each on lines of its own.
	Notes []string
	// Children follow, indented.
	Children []Node
}

// branches are the lines of a tree: before a child, before what is beneath it, and
// the same two for the last child.
type branches struct{ child, beneath, last, beneathLast string }

var (
	lines      = branches{child: "├─ ", beneath: "│  ", last: "└─ ", beneathLast: "   "}
	linesASCII = branches{child: "|- ", beneath: "|  ", last: "`- ", beneathLast: "   "}
)

// leastLabel is how many columns a label has at least on a screen that has them;
// deeper nodes are no longer indented.
const leastLabel = 16

// Tree prints root and what is beneath it. Long labels and notes are wrapped. The
// error is the writer's.
func (s Screen) Tree(w io.Writer, root Node) error {
	t := tree{out: bufio.NewWriter(w), screen: s, branches: lines}
	if s.ASCII {
		t.branches = linesASCII
	}
	t.node(root, "", "")
	return t.out.Flush()
}

type tree struct {
	out      *bufio.Writer
	screen   Screen
	branches branches
}

// node prints one node: first stands before its first line, rest before all others.
func (t tree) node(n Node, first, rest string) {
	below := rest
	if len(n.Children) > 0 && t.fits(rest+t.branches.beneath) {
		below += t.branches.beneath
	}
	t.label(n, first, below)
	for _, note := range n.Notes {
		for _, text := range Wrap(t.screen.Clean(note), t.screen.room(Width(below))) {
			t.line(below, Cell{Text: text, Tone: Dim})
		}
	}
	for i, child := range n.Children {
		head, tail := t.branches.child, t.branches.beneath
		if i == len(n.Children)-1 {
			head, tail = t.branches.last, t.branches.beneathLast
		}
		if !t.fits(rest + head) {
			head, tail = "", ""
		}
		t.node(child, rest+head, rest+tail)
	}
}

// label prints name and label. Wrapped together, they are painted apart: the name
// is on the first line if it fits there.
func (t tree) label(n Node, first, rest string) {
	name, label := t.screen.Clean(n.Name), t.screen.Clean(n.Label)
	whole := strings.TrimSpace(name + " " + label)
	for i, text := range Wrap(whole, t.screen.room(Width(rest))) {
		switch after, found := strings.CutPrefix(text, name); {
		case i > 0:
			t.line(rest, Cell{Text: text, Tone: n.Tone})
		case found:
			t.line(first, Cell{Text: name, Tone: Heading}, Cell{Text: after, Tone: n.Tone})
		default:
			t.line(first, Cell{Text: text, Tone: Heading})
		}
	}
}

// fits tells whether a label still has room after a prefix.
func (t tree) fits(prefix string) bool {
	return t.screen.Width <= 0 || Width(prefix)+leastLabel <= t.screen.Width
}

func (t tree) line(prefix string, cells ...Cell) {
	line := lineBuilder{screen: t.screen}
	line.put(Dim, prefix)
	for _, cell := range cells {
		line.put(cell.Tone, cell.Text)
	}
	_, _ = t.out.WriteString(line.String() + "\n") // Flush reports the error
}
