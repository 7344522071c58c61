package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden pictures anew")

// Every capture in testdata has its picture beside it.
func TestPictures(t *testing.T) {
	captures, err := filepath.Glob("testdata/*.ansi")
	if err != nil || len(captures) == 0 {
		t.Fatalf("found no captures: %v", err)
	}
	for _, file := range captures {
		name := strings.TrimSuffix(filepath.Base(file), ".ansi")
		t.Run(name, func(t *testing.T) {
			background := "dark"
			if strings.HasSuffix(name, "light") {
				background = "light"
			}
			got := take(t, read(t, file), "-title", "kapi <"+name+">", "-background", background)
			wellFormed(t, got)
			golden := filepath.Join("testdata", name+".svg")
			if *update {
				if err := os.WriteFile(golden, got, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if want := read(t, golden); string(got) != want {
				t.Errorf("the picture is not %s; -update writes it anew. It is\n%s", golden, got)
			}
		})
	}
}

func TestColors(t *testing.T) {
	dark := palettes["dark"]
	for sequence, want := range map[string]string{
		"\x1b[31m":              "#e5534b",
		"\x1b[91m":              "#ff7b72",
		"\x1b[38;5;1m":          "#e5534b",
		"\x1b[38;5;16m":         "#000000",
		"\x1b[38;5;208m":        "#ff8700",
		"\x1b[38;5;231m":        "#ffffff",
		"\x1b[38;5;255m":        "#eeeeee",
		"\x1b[38;2;1;2;255m":    "#0102ff",
		"\x1b[38:2::1:2:255m":   "#0102ff",
		"\x1b[38:2:1:2:255m":    "#0102ff",
		"\x1b[38:5:208m":        "#ff8700",
		"\x1b[38;5;208;1m":      "#ff8700",
		"\x1b[31;39m":           "#d7dde4",
		"\x1b[31m\x1b[m":        "#d7dde4",
		"\x1b[31m\x1b[48;5;4m":  "#e5534b",
		"\x1b[38m":              "#d7dde4",
		"\x1b[38;2;1m":          "#d7dde4",
		"\x1b[31;38;5m":         "#d7dde4",
		"\x1b[31m\x1b[2K\x1b[H": "#e5534b",
	} {
		if got := dark.of(only(t, sequence).fg, dark.fg); got != want {
			t.Errorf("%q makes %s, not %s", sequence, got, want)
		}
	}
}

func TestAttributes(t *testing.T) {
	for sequence, want := range map[string]style{
		"\x1b[1;2;3;4;7;9m":                          {bold: true, dim: true, italic: true, underline: true, reverse: true, strike: true},
		"\x1b[1;2;3;4;7;9m\x1b[22;23;24;27;29m":      {},
		"\x1b[4:3m":                                  {underline: true},
		"\x1b[4m\x1b[4:0m":                           {},
		"\x1b[1m\x1b]8;;https://a.example/\x1b\\":    {bold: true},
		"\x1b[1m\x1b]0;a title\a\x1b(B\x1b7":         {bold: true},
		"\x1b[48;5;4;1m":                             {bold: true, bg: color{indexed, 4}},
		"\x1b[107;38;2;0;0;1m":                       {bg: color{indexed, 15}, fg: color{direct, 1}},
		"\x1b[1m\x1bP a string of the device \x1b\\": {bold: true},
	} {
		if got := only(t, sequence); got != want {
			t.Errorf("%q makes %+v, not %+v", sequence, got, want)
		}
	}
}

// Sequences that do not end, and bytes that are no text, are no reason to fail.
func TestBroken(t *testing.T) {
	for _, text := range []string{"\x1b", "a\x1b", "a\x1b[", "a\x1b[31", "a\x1b]8;;", "a\x1b(", "a\xff\xfe", "a\x00\x07", "\u0301a", "\u200d"} {
		got := draw(parse(text), palettes["dark"], text)
		wellFormed(t, got)
	}
}

// What is on the right of a wide, a combining or an unusual character stands where
// it stood on the terminal.
func TestColumns(t *testing.T) {
	for text, want := range map[string]int{
		"abc|":            3,
		"日本|":             4,
		"e\u0301a|":       2,
		"✓ ok|":           4,
		"─────|":          5,
		"█▌░|":            3,
		"\x1b[1mb\x1b[m|": 1,
		"a日b|":            4,
		"שלום|":           4,
		"½→|":             2,
		"a  b|":           4,
	} {
		found := false
		for _, e := range elements(t, draw(parse(text), palettes["dark"], "")) {
			at := e.x + (len([]rune(e.text))-1)*cellWidth
			if strings.HasSuffix(e.text, "|") {
				found = true
				if e.length > 0 {
					at = e.x + e.length - cellWidth
				}
				if at != want*cellWidth {
					t.Errorf("%q: the last character is at %d, not in column %d", text, at, want)
				}
			}
		}
		if !found {
			t.Errorf("%q: the last character is nowhere", text)
		}
	}
}

// Words of a column are not drawn with those of the next, and blanks not at all.
func TestRuns(t *testing.T) {
	var texts []string
	for _, e := range elements(t, draw(parse("  two words   next\n\n\x1b[7m   \x1b[m\n"), palettes["dark"], "")) {
		texts = append(texts, e.text)
	}
	if got := strings.Join(texts, "/"); got != "two words/next" {
		t.Errorf("runs are %s", got)
	}
}

func TestReverse(t *testing.T) {
	got := string(draw(parse("\x1b[31;7mx"), palettes["dark"], ""))
	for _, want := range []string{`<path fill="#e5534b" d="M0 0h9v20h-9z"/>`, ".a{fill:#14181d}"} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %s in\n%s", want, got)
		}
	}
}

func TestWrongUsage(t *testing.T) {
	for _, c := range []struct {
		args       []string
		text, want string
	}{
		{nil, "", "empty"},
		{[]string{"-background", "pink"}, "a", "pink"},
		{[]string{"file"}, "a", "standard input"},
		{[]string{"-nothing"}, "a", "not defined"},
	} {
		err := run(c.args, strings.NewReader(c.text), io.Discard)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v does not say %q", c.args, err, c.want)
		}
	}
	if err := run(nil, strings.NewReader("a"), full{}); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("a picture that can't be written is %v", err)
	}
}

// full takes nothing.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestWidth(t *testing.T) {
	if got := string(take(t, "a\n", "-columns", "10")); !strings.Contains(got, `viewBox="0 0 122 52"`) {
		t.Errorf("ten columns and a line are\n%s", got)
	}
}

func take(t *testing.T, capture string, args ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := run(args, strings.NewReader(capture), &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// only is the style of the one cell that a sequence and a letter make.
func only(t *testing.T, sequence string) style {
	t.Helper()
	s := parse(sequence + "x")
	if len(s.lines) != 1 || len(s.lines[0]) != 1 || s.lines[0][0].text != "x" {
		t.Fatalf("%q and a letter make %+v", sequence, s.lines)
	}
	return s.lines[0][0].style
}

// element is a text of a picture.
type element struct {
	x, length int
	text      string
}

func elements(t *testing.T, picture []byte) []element {
	t.Helper()
	var list []element
	var in *element
	decoder := xml.NewDecoder(bytes.NewReader(picture))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatalf("the picture is no XML: %v\n%s", err, picture)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if token.Name.Local != "text" {
				continue
			}
			list = append(list, element{})
			in = &list[len(list)-1]
			for _, attribute := range token.Attr {
				n, _ := strconv.Atoi(attribute.Value) // others are not looked at
				switch attribute.Name.Local {
				case "x":
					in.x = n
				case "textLength":
					in.length = n
				}
			}
		case xml.EndElement:
			in = nil
		case xml.CharData:
			if in != nil {
				in.text += string(token)
			}
		}
	}
}

func wellFormed(t *testing.T, picture []byte) {
	t.Helper()
	elements(t, picture)
}

func read(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
