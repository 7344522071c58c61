package text

import (
	"errors"
	"regexp"
	"strings"
	"testing"
)

var people = Table{
	Columns: []Column{{Name: "name"}, {Name: "age", Right: true}, {Name: "says", Shrink: true}, {Name: "state"}},
	Rows: [][]Cell{
		{{Text: "grace"}, {Text: "85"}, {Text: "it is easier to ask forgiveness than it is to get permission"}, {Text: "Ready", Tone: Good}},
		{{Text: "久保田"}, {Text: "7"}, {Text: "e\u0301te\u0301"}, {Text: "Failed", Tone: Bad}},
		{{Text: "x"}},
		{{Text: "y"}, {}, {Text: "only this   "}, {}},
	},
}

func printed(t *testing.T, table Table, s Screen) string {
	t.Helper()
	var out strings.Builder
	if err := table.Write(&out, s); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func expect(t *testing.T, got, want string) {
	t.Helper()
	if want = strings.TrimPrefix(want, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTable(t *testing.T) {
	expect(t, printed(t, people, Screen{}), `
NAME     AGE   SAYS                                                           STATE
grace     85   it is easier to ask forgiveness than it is to get permission   Ready
久保田     7   e`+"\u0301te\u0301"+`                                                            Failed
x
y              only this
`)
	expect(t, printed(t, people, Screen{Width: 40}), `
NAME    AGE  SAYS                 STATE
grace    85  it is easier to as…  Ready
久保田    7  e`+"\u0301te\u0301"+`                  Failed
x
y            only this
`)
	expect(t, printed(t, people, Screen{Width: 40, ASCII: true}), `
NAME    AGE  SAYS                 STATE
grace    85  it is easier to ...  Ready
久保田    7  e`+"\u0301te\u0301"+`                  Failed
x
y            only this
`)
	people := people
	people.NoHeaders = true
	expect(t, printed(t, people, Screen{Width: 20}), `
grace   85  it is e…
久保田   7  e`+"\u0301te\u0301"+`
x
y           only th…
`)
}

// Colours change nothing but the colours.
func TestTableInColor(t *testing.T) {
	for width := range 100 {
		painted := printed(t, people, Screen{Width: width, Color: true})
		if !strings.Contains(painted, "\x1b[1mN") && width > 2 {
			t.Fatalf("headings are not bold: %q", painted)
		}
		expect(t, regexp.MustCompile("\x1b\\[[0-9]*m").ReplaceAllString(painted, ""), printed(t, people, Screen{Width: width}))
	}
}

func TestTableNeverWider(t *testing.T) {
	for width := 1; width < 100; width++ {
		for _, ascii := range []bool{false, true} {
			out := printed(t, people, Screen{Width: width, ASCII: ascii})
			lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
			if len(lines) != 5 {
				t.Fatalf("at width %d there are %d lines", width, len(lines))
			}
			for _, line := range lines {
				if Width(line) > width || strings.HasSuffix(line, " ") {
					t.Errorf("at width %d: %q", width, line)
				}
			}
		}
	}
}

// The name is cut last, and numbers never are.
func TestTableCutsInTurn(t *testing.T) {
	table := Table{
		Columns: []Column{{Name: "name"}, {Name: "count", Right: true}, {Name: "text"}, {Name: "more", Shrink: true}},
		Rows:    [][]Cell{{{Text: "a-very-long-name"}, {Text: "1234567890123"}, {Text: "some more text"}, {Text: "even more text"}}},
	}
	table.NoHeaders = true
	for width, want := range map[int]string{
		70: "a-very-long-name   1234567890123   some more text   even more text\n",
		63: "a-very-long-name  1234567890123  some more text  even more text\n",
		60: "a-very-long-name  1234567890123  some more text  even more …\n",
		54: "a-very-long-name  1234567890123  some more …  even mo…\n",
		45: "a-very-long-name  1234567890123  some mo…  e…\n",
		30: "a-very-long-name  12345678901…\n",
	} {
		if got := printed(t, table, Screen{Width: width}); got != want {
			t.Errorf("at width %d: %q, want %q", width, got, want)
		}
	}
}

func TestStream(t *testing.T) {
	var out strings.Builder
	stream := NewStream(&out, Screen{}, []Column{{Name: "name"}, {Name: "n", Right: true}, {Name: "state"}}, false)
	batches := [][][]Cell{
		nil,
		{{{Text: "a"}, {Text: "1"}, {Text: "Running"}}},
		{{{Text: "longer"}, {Text: "100"}, {Text: "Done"}}, {{Text: "b"}, {Text: "2"}, {Text: "Done"}}},
	}
	for _, batch := range batches {
		if err := stream.Write(batch); err != nil {
			t.Fatal(err)
		}
	}
	expect(t, out.String(), `
NAME   N   STATE
a      1   Running
longer   100   Done
b          2   Done
`)
}

var errFull = errors.New("disk full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWriteErrors(t *testing.T) {
	if err := people.Write(full{}, Screen{}); err == nil {
		t.Error("a table is written to nowhere")
	}
	if err := NewStream(full{}, Screen{}, people.Columns, false).Write(people.Rows); err == nil {
		t.Error("a stream is written to nowhere")
	}
}

func TestClean(t *testing.T) {
	for text, want := range map[string]string{
		"plain":                 "plain",
		"two\nlines\tand\ttabs": "two lines and tabs",
		"\x1b[31mred\x1b[0m":    "\uFFFD[31mred\uFFFD[0m",
		"\u009b2J":              "\uFFFD2J",
		"title\x1b]0;x\x07":     "title\uFFFD]0;x\uFFFD",
		"abc\u202Edef\u2066":    "abc\uFFFDdef\uFFFD",
		"bad\xffbytes\xc3":      "bad\uFFFDbytes\uFFFD",
		"久保田 e\u0301":           "久保田 e\u0301",
		"nul\x00del\x7f":        "nul\uFFFDdel\uFFFD",
		"line\u2028next\u0085":  "line next ",
	} {
		if got := Clean(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	if got := (Screen{ASCII: true}).Clean("12µs → \x1b"); got != "12us -> ?" {
		t.Errorf("got %q", got)
	}
	rows := Table{Columns: []Column{{Name: "a"}, {Name: "b"}}, Rows: [][]Cell{{{Text: "x\ny"}, {Text: "\x1b[2J"}}}, NoHeaders: true}
	expect(t, printed(t, rows, Screen{Width: 80}), "x y   \uFFFD[2J\n")
}
