package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/kapi-dev/kapi/internal/near"
)

// maxFileSize is far above any real configuration; a larger file is a mistake.
const maxFileSize = 1 << 20

// readFile returns the bytes of a configuration file.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading configuration file: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFileSize+1))
	if err != nil {
		return nil, fmt.Errorf("reading configuration file: %w", err)
	}
	if len(data) > maxFileSize {
		return nil, fmt.Errorf("reading configuration file: %s is larger than 1 MiB", path)
	}
	return data, nil
}

// fileReader turns a YAML document into a layer and collects what is wrong.
type fileReader struct {
	path string
	// kube, if not nil, lets a misplaced kube-apiserver flag be recognised.
	kube  *pflag.FlagSet
	layer *layer
	errs  []error
}

// parseFile reads a configuration file's text. It returns what was understood
// together with all that was not.
func parseFile(path string, data []byte, kube *pflag.FlagSet) (*layer, []error) {
	r := &fileReader{path: path, kube: kube, layer: newLayer()}
	root, err := parseDocument(data)
	switch {
	case err != nil:
		return r.layer, []error{fmt.Errorf("reading configuration file %s: %w", path, err)}
	case root == nil || isNull(root):
		return r.layer, nil
	case root.Kind != yaml.MappingNode:
		return r.layer, []error{fmt.Errorf("reading configuration file %s: line %d holds no keys; want %s", path, root.Line, strings.Join(childrenOf(""), ", "))}
	}
	r.section("", root)
	r.errs = append(r.errs, r.layer.takeOwned()...)
	return r.layer, r.errs
}

// parseDocument returns the root node of the only document, nil for an empty
// one. Aliases are refused: they make small files expand to huge ones, and no
// key needs them.
func parseDocument(data []byte) (*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		if err == nil {
			err = errors.New("it holds more than one YAML document")
		}
		return nil, err
	}
	if line := aliasLine(&doc); line > 0 {
		return nil, fmt.Errorf("line %d: YAML aliases are not supported; write the value out", line)
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	return doc.Content[0], nil
}

func aliasLine(n *yaml.Node) int {
	if n.Kind == yaml.AliasNode {
		return n.Line
	}
	for _, c := range n.Content {
		if line := aliasLine(c); line > 0 {
			return line
		}
	}
	return 0
}

// section reads the keys below prefix.
func (r *fileReader) section(prefix string, n *yaml.Node) {
	r.pairs(prefix, n, func(path string, name, value *yaml.Node) {
		k, known := keyByPath(path)
		switch {
		case strings.Contains(name.Value, "."):
			r.unknown(path, name)
		case slices.Contains(sections(), path):
			r.subsection(path, value)
		case !known:
			r.unknown(path, name)
		case isNull(value):
			// "key:" with nothing behind it leaves the default.
		default:
			if v, ok := k.kind.node(r, k, value); ok {
				r.layer.set(k.Path, v, r.origin(name.Line))
			} else {
				r.layer.failed = append(r.layer.failed, k.Path)
			}
		}
	})
}

func (r *fileReader) subsection(path string, n *yaml.Node) {
	switch {
	case isNull(n):
	case n.Kind == yaml.MappingNode:
		r.section(path, n)
	default:
		r.bad(path, n, "keys below it: "+strings.Join(childrenOf(path), ", "))
	}
}

// pairs calls visit for each key of a mapping, and reports keys that are no
// plain text or stand there twice.
func (r *fileReader) pairs(prefix string, n *yaml.Node, visit func(path string, name, value *yaml.Node)) {
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		path := name.Value
		if prefix != "" {
			path = prefix + "." + path
		}
		if name.Kind != yaml.ScalarNode {
			r.errorf("a key at %s:%d is not plain text", r.path, name.Line)
			continue
		}
		if first, twice := seen[name.Value]; twice {
			r.errorf("duplicate key %s at %s:%d; it stands first on line %d", shorten(path), r.path, name.Line, first)
			continue
		}
		seen[name.Value] = name.Line
		visit(path, name, value)
	}
}

func (r *fileReader) unknown(path string, name *yaml.Node) {
	if len(r.errs) >= maxErrors {
		// Only counted from here on; comparing names is the dear part.
		r.errorf("unknown key")
		return
	}
	where := fmt.Sprintf("unknown key %s at %s:%d", shorten(path), r.path, name.Line)
	if r.kube != nil && r.kube.Lookup(name.Value) != nil {
		r.errorf("%s; it is a flag of kube-apiserver: put it into %s as {name, value}", where, keyKubeFlags)
		return
	}
	nearest, d := nearestKey(path)
	if section, keys := keysBeside(path); len(keys) > 0 && !near.Enough(path, d) {
		r.errorf("%s; %s has %s", where, section, strings.Join(keys, ", "))
		return
	}
	r.errorf("%s%s", where, near.Suggestion(path, nearest, d))
}

// bad reports a node that is not what its key wants.
func (r *fileReader) bad(path string, n *yaml.Node, want string) {
	r.errs = append(r.errs, &KeyError{Key: path, Value: describe(n), Want: want, Origin: r.origin(n.Line)})
}

func (r *fileReader) errorf(format string, args ...any) {
	r.errs = append(r.errs, fmt.Errorf(format, args...))
}

func (r *fileReader) origin(line int) string { return fmt.Sprintf("file %s line %d", r.path, line) }

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// describe is the value of a node as an error shows it.
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "{...}"
	case yaml.SequenceNode:
		return "[...]"
	default:
		return n.Value
	}
}
