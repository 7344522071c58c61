package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

// YAML returns the configuration as a file that loads as the same. With origins,
// each value has its origin as a comment.
func (l *Loaded) YAML(origins bool) ([]byte, error) {
	text, err := marshal(withEmptyLists(l.Config), "")
	if err != nil {
		return nil, fmt.Errorf("writing configuration: %w", err)
	}
	// JSON is YAML: reading it back gives nodes in the order of the struct.
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("writing configuration: %w", err)
	}
	blockStyle(&doc)
	if origins {
		l.comment("", doc.Content[0])
	}
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(&doc); err != nil {
		return nil, fmt.Errorf("writing configuration: %w", err)
	}
	return out.Bytes(), enc.Close()
}

// JSON returns the configuration as JSON; with origins, as an object of config
// and origins, the latter by key.
func (l *Loaded) JSON(origins bool) ([]byte, error) {
	cfg := withEmptyLists(l.Config)
	var v any = cfg
	if origins {
		v = struct {
			Config  Config            `json:"config"`
			Origins map[string]string `json:"origins"`
		}{cfg, l.origins}
	}
	text, err := marshal(v, "  ")
	if err != nil {
		return nil, fmt.Errorf("writing configuration: %w", err)
	}
	return text, nil
}

// marshal leaves & and < in flag values as they are.
func marshal(v any, indent string) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	err := enc.Encode(v)
	return out.Bytes(), err
}

// withEmptyLists makes nil lists empty ones, which print as [] and not as null.
func withEmptyLists(c Config) Config {
	for _, k := range Keys() {
		if v := valueAt(&c, k.Path); v.Kind() == reflect.Slice && v.IsNil() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
	}
	return c
}

func blockStyle(n *yaml.Node) {
	n.Style = 0
	for _, c := range n.Content {
		blockStyle(c)
	}
}

// comment puts the origin behind each value; for a list behind its key, and for
// kube-apiserver flags behind each.
func (l *Loaded) comment(prefix string, n *yaml.Node) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		path := name.Value
		if prefix != "" {
			path = prefix + "." + path
		}
		switch {
		case value.Kind == yaml.MappingNode:
			l.comment(path, value)
		case path == keyKubeFlags && len(value.Content) > 0:
			for _, entry := range value.Content {
				flag := entry.Content[1]
				flag.LineComment = l.originComment(kubeFlagPath(flag.Value))
			}
		case value.Kind == yaml.SequenceNode && len(value.Content) > 0:
			name.LineComment = l.originComment(path)
		default:
			value.LineComment = l.originComment(path)
		}
	}
}

// originComment is one line, also for a file with a line break in its name.
func (l *Loaded) originComment(key string) string {
	return "# " + strings.Join(strings.Fields(l.Origin(key)), " ")
}
