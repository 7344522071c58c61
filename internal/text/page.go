package text

import (
	"bufio"
	"io"
	"strings"
)

// Page prints headings, blocks, tables and trees one after the other. It remembers
// the first error of its writer until Close, so that what prints a page need not ask.
type Page struct {
	// Screen is what the page is laid out for.
	Screen Screen

	out *bufio.Writer
}

// NewPage begins a page.
func NewPage(w io.Writer, s Screen) *Page { return &Page{Screen: s, out: bufio.NewWriter(w)} }

// Close writes what is left, and returns the first error. It leaves the writer open.
func (p *Page) Close() error { return p.out.Flush() }

// Line prints cells one after the other on one line, cut at the edge of the screen.
func (p *Page) Line(cells ...Cell) {
	line := lineBuilder{screen: p.Screen}
	for _, cell := range cells {
		line.put(cell.Tone, p.Screen.Clean(cell.Text))
	}
	p.write(line.String() + "\n")
}

// Blank prints an empty line.
func (p *Page) Blank() { p.write("\n") }

// Heading prints an empty line and a heading in upper case.
func (p *Page) Heading(title string) {
	p.Blank()
	p.Line(Cell{Text: strings.ToUpper(title), Tone: Heading})
}

// Text prints a sentence, wrapped, with all its lines indented.
func (p *Page) Text(indent int, tone Tone, sentence string) {
	for _, line := range Wrap(p.Screen.Clean(sentence), p.Screen.room(indent)) {
		p.Line(Cell{Text: strings.Repeat(" ", indent)}, Cell{Text: line, Tone: tone})
	}
}

// Block prints text of several lines (a stack, say): the lines stay lines, cut at the
// edge of the screen.
func (p *Page) Block(indent int, tone Tone, block string) {
	for line := range strings.Lines(strings.ReplaceAll(block, "\t", "    ")) {
		line = strings.TrimRight(line, "\r\n ")
		p.Line(Cell{Text: strings.Repeat(" ", indent)}, Cell{Text: line, Tone: tone})
	}
}

// Table prints a table.
func (p *Page) Table(t Table) { _ = t.Write(p.out, p.Screen) } // Close reports the error

// Waterfall prints a waterfall.
func (p *Page) Waterfall(f Waterfall) { _ = f.Write(p.out, p.Screen) } // Close reports the error

// Tree prints a tree.
func (p *Page) Tree(root Node) { _ = p.Screen.Tree(p.out, root) } // Close reports the error

// Pair is a line of a block of facts.
type Pair struct {
	Key   string
	Value string
	Tone  Tone
}

// Pairs prints a block of facts, "Name:  value", with the values beneath each other.
// Long values are wrapped; those without a value are left out.
func (p *Page) Pairs(pairs ...Pair) {
	widest := 0
	for _, pair := range pairs {
		if pair.Value != "" {
			widest = max(widest, Width(p.Screen.Clean(pair.Key))+1)
		}
	}
	const gap = 2
	for _, pair := range pairs {
		if pair.Value == "" {
			continue
		}
		key := Cell{Text: p.Screen.Clean(pair.Key) + ":", Tone: Heading}
		if p.Screen.Width > 0 && p.Screen.Width < widest+gap+leastLabel {
			p.Line(key)
			p.Text(gap, pair.Tone, pair.Value)
			continue
		}
		for i, line := range Wrap(p.Screen.Clean(pair.Value), p.Screen.room(widest+gap)) {
			if i > 0 {
				key.Text = ""
			}
			blanks := strings.Repeat(" ", widest+gap-Width(key.Text))
			p.Line(key, Cell{Text: blanks}, Cell{Text: line, Tone: pair.Tone})
		}
	}
}

func (p *Page) write(text string) { _, _ = p.out.WriteString(text) } // Close reports the error
