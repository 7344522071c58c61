package theme_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/theme"
)

// TestOwnTheme extends a built-in theme, even the one of its own name.
func TestOwnTheme(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "dark.yaml", "extends: dark\ntokens: {good: {fg: \"#010203\", underline: true}}\n")
	write(t, dir, "mine.yaml", "name: mine\nextends: dark\nbackground: light\nselected: {bg: red}\ntokens: {bad: {fg: 200, italic: true}}\n")
	write(t, dir, "broken.yaml", "tokens: [\n")

	own, err := theme.Load(theme.Options{Name: "mine", Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		token    ink.Token
		selected bool
		want     string
	}{
		{ink.Bad, false, "\x1b[3;38;5;200m"},
		{ink.Bad, true, "\x1b[3;38;5;200;41m"},
		{ink.Good, false, "\x1b[4;38;2;1;2;3m"}, // of the user's dark
		{ink.Text, false, ""},
		{ink.Text, true, "\x1b[41m"},
		{99, true, "\x1b[41m"},
	} {
		if got, _ := own.Sequences(test.token, test.selected); got != test.want {
			t.Errorf("token %d, selected %v: %q, want %q", test.token, test.selected, got, test.want)
		}
	}
	if own.Name != "mine" || own.Background != theme.Light {
		t.Errorf("it is %q for %v", own.Name, own.Background)
	}

	builtIn, err := theme.Load(theme.Options{Name: "dark"})
	if err != nil {
		t.Fatal(err)
	}
	heading, _ := own.Sequences(ink.Heading, false)
	if want, _ := builtIn.Sequences(ink.Heading, false); heading != want {
		t.Errorf("what the user has not changed is %q, want %q", heading, want)
	}
	if names := theme.Names(dir); !slices.Equal(names, []string{"ansi16", "broken", "dark", "high-contrast", "light", "mine", "mono"}) {
		t.Errorf("the names are %v", names)
	}
	// A path needs no directory of themes, only what it extends does.
	if _, err := theme.Load(theme.Options{Name: filepath.Join(dir, "mine.yaml")}); err != nil {
		t.Error(err)
	}
}

// TestWithoutColors looks as mono where the theme needs colours.
func TestWithoutColors(t *testing.T) {
	mono, err := theme.Load(theme.Options{Name: "mono"})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, dir, "mine.yaml", "tokens: {good: {italic: true}, bad: {fg: red, italic: true}}\nselected: {bg: blue}\n")
	own, err := theme.Load(theme.Options{Name: "mine", Dir: dir, Profile: theme.None})
	if err != nil {
		t.Fatal(err)
	}
	if good, _ := own.Sequences(ink.Good, false); good != "\x1b[3m" {
		t.Errorf("good is %q: its own look needs no colours", good)
	}
	bad, _ := own.Sequences(ink.Bad, false)
	if want, _ := mono.Sequences(ink.Bad, false); bad != want {
		t.Errorf("bad is %q, want %q as in mono", bad, want)
	}
	if selected, _ := own.Sequences(ink.Text, true); selected != "\x1b[7m" {
		t.Errorf("the selected row is %q", selected)
	}
	if selected, _ := mono.Sequences(ink.Match, true); selected != "" {
		t.Errorf("a match on a reversed row is %q, and does not stand out", selected)
	}
}

// TestAutomaticTheme fits the terminal.
func TestAutomaticTheme(t *testing.T) {
	for _, test := range []struct {
		options theme.Options
		want    string
	}{
		{theme.Options{}, "dark"},
		{theme.Options{Name: "auto", Background: theme.Dark}, "dark"},
		{theme.Options{Background: theme.Light}, "light"},
		{theme.Options{Background: theme.Light, Profile: theme.ANSI16}, "ansi16"},
		{theme.Options{Profile: theme.None}, "mono"},
		{theme.Options{Name: "light", Profile: theme.None}, "light"},
	} {
		got, err := theme.Load(test.options)
		if err != nil {
			t.Fatal(err)
		}
		if got.Name != test.want {
			t.Errorf("%+v: %s, want %s", test.options, got.Name, test.want)
		}
	}
}

// TestBadFiles names the file, the line, what is wrong and what was probably meant.
func TestBadFiles(t *testing.T) {
	for name, test := range map[string]struct {
		content string
		want    []string
	}{
		"key":        {"tokns: {}\n", []string{`line 1: unknown key "tokns" of the theme; did you mean tokens?`}},
		"token":      {"tokens:\n  warnin: {}\n", []string{`line 2: unknown key "warnin" of tokens; did you mean warning?`}},
		"attribute":  {"tokens:\n  text: {blod: true}\n", []string{`line 2: unknown key "blod" of the token text; did you mean bold?`}},
		"colour":     {"selected: {bg: gren}\ntokens: {}\n", []string{`line 1: selected: unknown colour "gren"; did you mean green?`}},
		"number":     {"tokens: {text: {fg: 256}}\n", []string{`unknown colour "256"`}},
		"hex":        {"tokens: {text: {fg: \"#12345g\"}}\n", []string{`unknown colour "#12345g"`}},
		"negative":   {"tokens: {text: {fg: -1}}\n", []string{`unknown colour "-1"`}},
		"sign":       {"tokens: {text: {fg: \"#+12345\"}}\n", []string{`unknown colour "#+12345"`}},
		"flag":       {"tokens: {text: {bold: yes}}\n", []string{"line 1: bold of the token text is neither true nor false"}},
		"background": {"background: grey\ntokens: {}\n", []string{`background is "grey", and not dark, light or any`}},
		"name":       {"name: dark\ntokens: {}\n", []string{`line 1: name is "dark", and that of the file is "theme"`}},
		"twice":      {"tokens: {}\ntokens: {}\n", []string{`line 2: the key "tokens" of the theme is there twice`}},
		"list":       {"- a\n", []string{"line 1: the theme is not a mapping"}},
		"look":       {"tokens: {text: red}\n", []string{"the token text is not a mapping"}},
		"alias":      {"selected: &a {bold: true}\ntokens: {text: *a}\n", []string{"the token text is not a mapping"}},
		"yaml":       {"tokens: {\n", []string{"yaml: line"}},
		"empty":      {"# nothing\n", []string{"there is nothing in it"}},
		"no tokens":  {"name: theme\n", []string{"it has no tokens, and extends no theme"}},
		"all of it":  {"a: 1\nb: 2\n", []string{"line 1:", "line 2:"}},
		"base":       {"extends: drak\n", []string{`unknown theme "drak"; did you mean dark?`}},
		"itself":     {"extends: itself\n", []string{"unknown theme"}},
		"large":      {strings.Repeat("#", 1<<20+1), []string{"it is larger than 1 MiB"}},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, t.TempDir(), "theme.yaml", test.content)
			_, err := theme.Load(theme.Options{Name: path})
			if err == nil {
				t.Fatal("it was loaded")
			}
			for _, want := range append(test.want, path) {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error is %q\nand does not say %q", err, want)
				}
			}
			if fault.Code(err) != fault.CodeUsage {
				t.Errorf("the exit code is %d", fault.Code(err))
			}
		})
	}
}

// TestCircle is one of themes that extend each other, under whatever paths.
func TestCircle(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yaml", "extends: b\n")
	write(t, dir, "b.yaml", "extends: a\n")
	path := filepath.Join(dir, "c.yaml")
	write(t, dir, "c.yaml", "extends: "+path+"\n")
	for _, name := range []string{"a", "b", "c", path} {
		if _, err := theme.Load(theme.Options{Name: name, Dir: dir}); err == nil || fault.Code(err) != fault.CodeUsage {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestUnknownNames says what there is.
func TestUnknownNames(t *testing.T) {
	_, err := theme.Load(theme.Options{Name: "lihgt"})
	if err == nil || err.Error() != `unknown theme "lihgt"; did you mean light?` || !strings.Contains(fault.Hint(err), "high-contrast") {
		t.Errorf("the error is %v, the hint %q", err, fault.Hint(err))
	}
	_, err = theme.Load(theme.Options{Glyphs: "utf8"})
	if err == nil || !strings.Contains(err.Error(), `unknown set of glyphs "utf8"`) {
		t.Errorf("the error is %v", err)
	}
	_, err = theme.Load(theme.Options{Name: filepath.Join(t.TempDir(), "none.yaml")})
	if !errors.Is(err, fs.ErrNotExist) || fault.Code(err) != fault.CodeUsage {
		t.Errorf("the error is %v", err)
	}
	for _, name := range []string{"../themes/dark", "dark.yaml", "./", "\x00", "a/../../glyphs/ascii"} {
		if _, err := theme.Load(theme.Options{Name: name}); err == nil {
			t.Errorf("%q was loaded", name)
		}
	}
}

// TestGlyphs are complete, one cell wide, and of ASCII where they say so.
func TestGlyphs(t *testing.T) {
	for _, name := range theme.GlyphNames() {
		g, err := theme.Glyphs(name)
		if err != nil {
			t.Fatal(err)
		}
		one := []string{
			g.Good, g.Warning, g.Bad, g.Unknown, g.Running, g.Off, g.Cursor, g.Changed, g.Ellipsis, g.Ascending,
			g.Descending, g.Open, g.Closed, g.Horizontal, g.Vertical, g.Arrow, g.Crumb, g.Dot, g.Full, g.Half, g.Empty,
		}
		one = append(append(one, g.Spark...), g.Corners[:]...)
		for i, sign := range one {
			if ink.Width(sign) != 1 {
				t.Errorf("%s: sign %d, %q, is %d wide", name, i, sign, ink.Width(sign))
			}
		}
		two := []string{g.Branch, g.Last, g.Stem}
		for _, sign := range two {
			if ink.Width(sign) != 2 {
				t.Errorf("%s: %q is %d wide", name, sign, ink.Width(sign))
			}
		}
		for _, sign := range append(one, two...) {
			if g.Clean(sign) != sign {
				t.Errorf("%s: %q is not clean: %q", name, sign, g.Clean(sign))
			}
			if g.ASCII && strings.Trim(sign, " ") != strings.Map(ascii, sign) {
				t.Errorf("%s: %q is not ASCII", name, sign)
			}
		}
		states := []string{g.Good, g.Warning, g.Bad, g.Unknown, g.Running, g.Off}
		if slices.Sort(states); len(slices.Compact(states)) != 6 {
			t.Errorf("%s: states share signs", name)
		}
	}
}

func ascii(r rune) rune {
	if r > ' ' && r < 0x7f {
		return r
	}
	return -1
}

func write(t *testing.T, dir, name, content string) (path string) {
	t.Helper()
	path = filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
