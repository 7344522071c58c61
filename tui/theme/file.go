package theme

import (
	"errors"
	"fmt"
	"image/color"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/tui/ink"
	uiassets "github.com/kapi-dev/kapi/ui-assets"
)

const (
	suffix = ".yaml"
	// most is how large a theme may be: it is read whole.
	most = 1 << 20
)

// tokenNames are the tokens as files name them.
var tokenNames = [ink.Tokens]string{
	ink.Text: "text", ink.Muted: "muted", ink.Heading: "heading", ink.Title: "title", ink.Accent: "accent",
	ink.Good: "good", ink.Warning: "warning", ink.Bad: "bad",
	ink.Key: "key", ink.Border: "border", ink.Changed: "changed", ink.Match: "match",
	ink.Name: "name", ink.Value: "value", ink.Punct: "punct",
	ink.Series1: "series1", ink.Series2: "series2", ink.Series3: "series3",
}

// resolve reads a theme by name or path, and those that it extends.
func resolve(dir, name string) (palette, error) {
	return extend(dir, name, nil)
}

// extend reads a theme. seen are those that extend it: a user's theme may extend
// the built-in one of its own name, but nothing extends itself.
func extend(dir, name string, seen []string) (palette, error) {
	where, content, err := find(dir, name, seen)
	if err != nil {
		return palette{}, err
	}
	name = strings.TrimSuffix(filepath.Base(where), suffix)
	r := reader{}
	f := r.read(content, name)
	if err := errors.Join(r.errs...); err != nil {
		return palette{}, fault.WithHint(
			fault.Usage(fmt.Errorf("reading the theme %s: %w", where, err)),
			"the format is described at the head of the built-in theme dark",
		)
	}
	base := palette{}
	if f.extends != "" {
		if base, err = extend(dir, f.extends, append(seen, where)); err != nil {
			return palette{}, fmt.Errorf("reading the theme %s: %w", where, err)
		}
	}
	base.name = name
	return f.over(base), nil
}

// find returns the file of a theme that has not been seen yet, the user's own first.
func find(dir, name string, seen []string) (where string, content []byte, err error) {
	if strings.ContainsRune(name, filepath.Separator) || strings.HasSuffix(name, suffix) {
		if slices.Contains(seen, name) {
			return "", nil, fault.Usagef("the theme %s extends itself", name)
		}
		content, err = readFile(name)
		return name, content, err
	}
	if path := filepath.Join(dir, name+suffix); dir != "" && !slices.Contains(seen, path) {
		content, err = readFile(path)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return path, content, err
		}
	}
	path := "themes/" + name + suffix
	if slices.Contains(seen, path) {
		return "", nil, fault.Usagef("the theme %s extends itself", name)
	}
	if content, err = uiassets.FS.ReadFile(path); err != nil {
		return "", nil, unknown("theme", name, Names(dir))
	}
	return path, content, nil
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fault.Usage(fmt.Errorf("reading a theme: %w", err))
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && len(content) > most {
		err = errors.New("it is larger than 1 MiB")
	}
	if err != nil {
		return nil, fault.Usage(fmt.Errorf("reading the theme %s: %w", path, err))
	}
	return content, nil
}

// file is what one file says.
type file struct {
	extends    string
	background *Background
	tokens     map[ink.Token]look
	selected   *look
}

// over puts what the file says over what it extends.
func (f file) over(base palette) palette {
	if f.background != nil {
		base.background = *f.background
	}
	for token, l := range f.tokens {
		base.looks[token] = l
	}
	if f.selected != nil {
		base.selected = *f.selected
	}
	return base
}

// reader reads a file and collects what is wrong with it.
type reader struct {
	errs []error
}

func (r *reader) errorf(line int, format string, args ...any) {
	r.errs = append(r.errs, fmt.Errorf("line %d: "+format, append([]any{line}, args...)...))
}

// read reads the file of a theme of a name.
func (r *reader) read(content []byte, name string) file {
	var f file
	var document yaml.Node
	if err := yaml.Unmarshal(content, &document); err != nil {
		r.errs = append(r.errs, err)
		return f
	}
	if len(document.Content) == 0 {
		r.errorf(1, "there is nothing in it")
		return f
	}
	r.mapping(document.Content[0], "the theme", map[string]func(*yaml.Node){
		"name":       func(n *yaml.Node) { r.name(n, name) },
		"extends":    func(n *yaml.Node) { f.extends = r.word(n, "extends") },
		"background": func(n *yaml.Node) { f.background = r.background(n) },
		"tokens":     func(n *yaml.Node) { f.tokens = r.tokens(n) },
		"selected":   func(n *yaml.Node) { f.selected = new(r.look(n, "selected")) },
	})
	if f.extends == "" && len(r.errs) == 0 && f.tokens == nil {
		r.errorf(1, "it has no tokens, and extends no theme")
	}
	return f
}

// mapping reads the keys of a mapping, each at most once.
func (r *reader) mapping(n *yaml.Node, what string, keys map[string]func(*yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		r.errorf(n.Line, "%s is not a mapping", what)
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		read, ok := keys[key.Value]
		switch {
		case !ok:
			r.errorf(key.Line, "unknown key %q of %s%s", key.Value, what, suggestion(key.Value, sortedKeys(keys)))
		case seen[key.Value]:
			r.errorf(key.Line, "the key %q of %s is there twice", key.Value, what)
		default:
			seen[key.Value] = true
			read(n.Content[i+1])
		}
	}
}

func (r *reader) tokens(n *yaml.Node) map[ink.Token]look {
	tokens, keys := map[ink.Token]look{}, map[string]func(*yaml.Node){}
	for token, name := range tokenNames {
		keys[name] = func(n *yaml.Node) { tokens[ink.Token(token)] = r.look(n, "the token "+name) }
	}
	r.mapping(n, "tokens", keys)
	return tokens
}

func (r *reader) look(n *yaml.Node, what string) look {
	var l look
	r.mapping(n, what, map[string]func(*yaml.Node){
		"fg":        func(n *yaml.Node) { l.fg = r.color(n, what) },
		"bg":        func(n *yaml.Node) { l.bg = r.color(n, what) },
		"bold":      func(n *yaml.Node) { l.bold = r.flag(n, what, "bold") },
		"dim":       func(n *yaml.Node) { l.dim = r.flag(n, what, "dim") },
		"italic":    func(n *yaml.Node) { l.italic = r.flag(n, what, "italic") },
		"underline": func(n *yaml.Node) { l.underline = r.flag(n, what, "underline") },
		"reverse":   func(n *yaml.Node) { l.reverse = r.flag(n, what, "reverse") },
	})
	return l
}

// name compares a theme's name with that of its file, by which it is found.
func (r *reader) name(n *yaml.Node, file string) {
	if n.Value != file {
		r.errorf(n.Line, "name is %q, and that of the file is %q", n.Value, file)
	}
}

func (r *reader) word(n *yaml.Node, key string) string {
	if n.Kind != yaml.ScalarNode || n.Value == "" {
		r.errorf(n.Line, "%s is not a word", key)
		return ""
	}
	return n.Value
}

func (r *reader) flag(n *yaml.Node, what, key string) bool {
	if n.Kind != yaml.ScalarNode || n.Value != "true" && n.Value != "false" {
		r.errorf(n.Line, "%s of %s is neither true nor false", key, what)
	}
	return n.Value == "true"
}

func (r *reader) color(n *yaml.Node, what string) color.Color {
	c, ok := parseColor(n.Value)
	if n.Kind == yaml.ScalarNode && ok {
		return c
	}
	r.errorf(n.Line, "%s: unknown colour %q%s", what, n.Value, suggestion(n.Value, colorNames[:]))
	return nil
}

func (r *reader) background(n *yaml.Node) *Background {
	b, ok := map[string]Background{"dark": Dark, "light": Light, "any": Unknown}[n.Value]
	if !ok || n.Kind != yaml.ScalarNode {
		r.errorf(n.Line, "background is %q, and not dark, light or any", n.Value)
	}
	return &b
}
