package theme

import (
	"path/filepath"
	"slices"
	"strings"

	uiassets "github.com/kapi-dev/kapi/ui-assets"

	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/tui/ink"
)

// Theme is a loaded theme. It does not change, so any number may draw with it.
type Theme struct {
	// Name is the file's ("dark").
	Name string
	// Background is what the terminal's own has to be; Unknown is any.
	Background Background
	// Glyphs are the signs that go with it.
	Glyphs *ink.Glyphs

	// sequences are before and after, by token, of what is not selected and of what is.
	sequences [ink.Tokens][2][2]string
}

// Options say which theme is loaded, and for what terminal.
type Options struct {
	// Name is a theme's, or the path of a file: what has a slash or ends in .yaml.
	// Empty or "auto" takes the one for the terminal: mono without colours, ansi16
	// with 16 of them, or else light or dark.
	Name string
	// Dir is where the user's themes are. NAME.yaml in it goes before a built-in theme
	// of that name. Empty, or a directory that does not exist, is none.
	Dir string
	// Glyphs is "unicode" or "ascii". Empty or "auto" is unicode; DetectGlyphs tells
	// from the environment.
	Glyphs string
	// Profile are the colours that the terminal has, Background is its own.
	Profile    Profile
	Background Background
}

// automatic is the name for the theme that fits the terminal.
const automatic = "auto"

// Load reads a theme and makes its sequences. The errors are bad input: an unknown
// name, or a file with something in it that is not understood, named with the line.
func Load(o Options) (*Theme, error) {
	glyphs, err := Glyphs(orElse(o.Glyphs, "unicode"))
	if err != nil {
		return nil, err
	}
	p, err := resolve(o.Dir, orElse(o.Name, fitting(o)))
	if err != nil {
		return nil, err
	}
	if o.Profile == None {
		colorless, err := resolve("", "mono")
		if err != nil {
			return nil, err
		}
		p = p.without(colorless)
	}
	t := &Theme{Name: p.name, Background: p.background, Glyphs: glyphs}
	for token := range ink.Tokens {
		own := p.looks[token]
		t.sequences[token][0] = own.sequences(o.Profile)
		t.sequences[token][1] = own.selected(p.selected).sequences(o.Profile)
	}
	return t, nil
}

// orElse returns a value, or the standard in place of an empty or automatic one.
func orElse(value, standard string) string {
	if value == "" || value == automatic {
		return standard
	}
	return value
}

// fitting is the name of the theme for a terminal.
func fitting(o Options) string {
	switch {
	case o.Profile == None:
		return "mono"
	case o.Profile == ANSI16:
		return "ansi16"
	case o.Background == Light:
		return "light"
	default:
		return "dark"
	}
}

// Sequences implements ink.Style.
func (t *Theme) Sequences(token ink.Token, selected bool) (before, after string) {
	if token >= ink.Tokens {
		token = ink.Text
	}
	pair := &t.sequences[token][0]
	if selected {
		pair = &t.sequences[token][1]
	}
	return pair[0], pair[1]
}

// Names returns the names of all themes in order: the built-in ones and those in
// the user's directory, which may be "" for none.
func Names(dir string) []string {
	files, _ := uiassets.FS.ReadDir("themes") // the pattern is a constant
	names := make([]string, 0, len(files))
	for _, file := range files {
		names = append(names, strings.TrimSuffix(file.Name(), suffix))
	}
	if dir != "" {
		own, _ := filepath.Glob(filepath.Join(escaped(dir), "*"+suffix)) // the pattern is well formed
		for _, path := range own {
			names = append(names, strings.TrimSuffix(filepath.Base(path), suffix))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// escaped is a directory as a pattern that matches nothing else.
func escaped(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// unknown is the error for a name that is none of those that there are.
func unknown(what, name string, known []string) error {
	return fault.WithHint(
		fault.Usagef("unknown %s %q%s", what, name, suggestion(name, known)),
		"there are %s", strings.Join(known, ", "),
	)
}
