package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kapi-dev/kapi/internal/near"
)

// scalarNode reads a single value with one of the given YAML types.
func scalarNode(tags ...string) func(*fileReader, Key, *yaml.Node) (any, bool) {
	return func(r *fileReader, k Key, n *yaml.Node) (any, bool) {
		if n.Kind != yaml.ScalarNode || !slices.Contains(tags, n.ShortTag()) {
			want := k.Want
			if n.Kind == yaml.ScalarNode && slices.Contains(tags, "!!str") {
				want += ", as text (in quotes if need be)"
			}
			r.bad(k.Path, n, want)
			return nil, false
		}
		v, err := k.kind.parse(n.Value)
		if err != nil {
			r.bad(k.Path, n, k.Want)
			return nil, false
		}
		return v, true
	}
}

// listNode reads a list of texts.
func listNode(r *fileReader, k Key, n *yaml.Node) (any, bool) {
	var out []string
	ok := r.entries(k, n, func(path string, item *yaml.Node) bool {
		if item.Kind != yaml.ScalarNode || item.ShortTag() != "!!str" {
			r.bad(path, item, "text (in quotes if need be)")
			return false
		}
		out = append(out, item.Value)
		return true
	})
	return out, ok
}

// mappingsNode reads a list of {name, port, address}.
func mappingsNode(r *fileReader, k Key, n *yaml.Node) (any, bool) {
	var out []ServiceMapping
	ok := r.entries(k, n, func(path string, item *yaml.Node) bool {
		fields, ok := r.fields(path, item, "name", "port", "address")
		if !ok {
			return false
		}
		port, err := strconv.Atoi(fields["port"].Value)
		if err != nil {
			r.bad(path+".port", fields["port"], "a port from 1 to 65535")
			return false
		}
		out = append(out, ServiceMapping{Name: fields["name"].Value, Port: port, Address: fields["address"].Value})
		return true
	})
	return out, ok
}

// kubeFlagsNode reads a list of {name, value}. It goes straight into the layer,
// entry by entry, since each keeps its own line.
func kubeFlagsNode(r *fileReader, k Key, n *yaml.Node) (any, bool) {
	var out []Flag
	ok := r.entries(k, n, func(path string, item *yaml.Node) bool {
		fields, ok := r.fields(path, item, "name", "value")
		if !ok {
			return false
		}
		f := Flag{Name: fields["name"].Value, Value: fields["value"].Value}
		out = append(out, f)
		r.layer.kube = append(r.layer.kube, kubeFlag{Flag: f, origin: r.origin(fields["name"].Line)})
		return true
	})
	return out, ok
}

// entries calls read for each entry of a list; it is true if all went well.
func (r *fileReader) entries(k Key, n *yaml.Node, read func(path string, item *yaml.Node) bool) bool {
	if n.Kind != yaml.SequenceNode {
		r.bad(k.Path, n, "a list: "+k.Want)
		return false
	}
	all := true
	for i, item := range n.Content {
		if !read(fmt.Sprintf("%s[%d]", k.Path, i), item) {
			all = false
		}
	}
	return all
}

// fields reads the entry of a list that has exactly the named fields, all of
// them required, each a single value; its text is kept as it was written.
func (r *fileReader) fields(path string, n *yaml.Node, names ...string) (map[string]*yaml.Node, bool) {
	want := "{" + strings.Join(names, ", ") + "}"
	if n.Kind != yaml.MappingNode {
		r.bad(path, n, want)
		return nil, false
	}
	before := len(r.errs)
	out := map[string]*yaml.Node{}
	r.pairs(path, n, func(field string, name, value *yaml.Node) {
		switch {
		case !slices.Contains(names, name.Value):
			nearest, d := near.Of(name.Value, names)
			r.errorf("unknown key %s at %s:%d%s", shorten(field), r.path, name.Line, near.Suggestion(name.Value, path+"."+nearest, d))
		case value.Kind != yaml.ScalarNode || isNull(value):
			r.bad(field, value, "a single value")
		default:
			out[name.Value] = value
		}
	})
	if len(r.errs) == before {
		for _, name := range names {
			if out[name] == nil {
				r.errorf("missing key %s.%s at %s:%d; want %s", path, name, r.path, n.Line, want)
			}
		}
	}
	return out, len(r.errs) == before
}
