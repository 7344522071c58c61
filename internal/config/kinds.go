package config

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// kind is how values of a type are read from one text (environment, flag) and
// from a node of the file. Each produces exactly the type of the Config field,
// so that nothing is converted afterwards; an empty list is a nil list.
type kind struct {
	// typ is the word for the type in the help.
	typ   string
	parse func(text string) (any, error)
	// parseFlag, if set, reads one occurrence of the flag instead of parse.
	parseFlag func(text string) (any, error)
	// join adds a later occurrence of a flag to the earlier ones; nil: it replaces.
	join func(earlier, later any) any
	// node reads a node; problems go to the reader, and ok is false.
	node func(r *fileReader, k Key, n *yaml.Node) (value any, ok bool)
}

func textKind() kind {
	return kind{typ: "string", node: scalarNode("!!str"),
		parse: func(text string) (any, error) {
			if strings.ContainsRune(text, 0) {
				return nil, errors.New("holds a NUL byte")
			}
			return text, nil
		}}
}

func intKind() kind {
	return kind{typ: "int", node: scalarNode("!!int"),
		parse: func(text string) (any, error) {
			n, err := strconv.Atoi(strings.TrimSpace(text))
			if err != nil {
				return nil, errors.New("not a whole number")
			}
			return n, nil
		}}
}

func boolKind() kind {
	return kind{typ: "bool", node: scalarNode("!!bool"),
		parse: func(text string) (any, error) {
			b, err := strconv.ParseBool(strings.TrimSpace(text))
			if err != nil {
				return nil, errors.New("neither true nor false")
			}
			return b, nil
		}}
}

func durationKind() kind {
	return kind{typ: "duration", node: scalarNode("!!str"),
		parse: func(text string) (any, error) {
			var d Duration
			err := d.UnmarshalText([]byte(strings.TrimSpace(text)))
			return d, err
		}}
}

func bytesKind() kind {
	return kind{typ: "quantity", node: scalarNode("!!str", "!!int"),
		parse: func(text string) (any, error) {
			var b Bytes
			err := b.UnmarshalText([]byte(text))
			return b, err
		}}
}

// listKind is a list of words: one text holds several, separated by commas.
func listKind() kind {
	return kind{typ: "strings", node: listNode, join: joinLists[string],
		parse: func(text string) (any, error) { return splitList(text) }}
}

// pathsKind is a list whose flag takes one path each time, commas included.
func pathsKind() kind {
	k := listKind()
	k.typ = "path"
	k.parseFlag = func(text string) (any, error) { return []string{text}, nil }
	return k
}

func mappingsKind() kind {
	return kind{typ: "mapping", node: mappingsNode, join: joinLists[ServiceMapping],
		parse: func(text string) (any, error) {
			parts, err := splitList(text)
			if err != nil {
				return nil, err
			}
			var out []ServiceMapping
			for _, part := range parts {
				m, err := ParseServiceMapping(part)
				if err != nil {
					return nil, err
				}
				out = append(out, m)
			}
			return out, nil
		}}
}

func kubeFlagsKind() kind {
	return kind{typ: "flags", node: kubeFlagsNode, join: joinLists[Flag],
		parse: func(text string) (any, error) {
			parts, err := splitList(text)
			if err != nil {
				return nil, err
			}
			var out []Flag
			for _, part := range parts {
				name, value, ok := strings.Cut(part, "=")
				if !ok {
					return nil, fmt.Errorf("%q is not name=value; an entry with commas stands in double quotes", shorten(part))
				}
				out = append(out, Flag{Name: name, Value: value})
			}
			return out, nil
		}}
}

func joinLists[T any](earlier, later any) any {
	var out []T
	for _, v := range []any{earlier, later} {
		list, _ := v.([]T)
		out = append(out, list...)
	}
	return out
}

// splitList reads one line of comma-separated values in the way of CSV: a value
// with a comma stands in double quotes. Spaces around values and empty values
// are dropped.
func splitList(text string) ([]string, error) {
	reader := csv.NewReader(strings.NewReader(text))
	reader.TrimLeadingSpace = true
	fields, err := reader.Read()
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("splitting at commas: %w", err)
	}
	if _, err := reader.Read(); !errors.Is(err, io.EOF) {
		return nil, errors.New("holds more than one line")
	}
	var out []string
	for _, f := range fields {
		if f = strings.TrimSpace(f); f != "" {
			out = append(out, f)
		}
	}
	return out, nil
}

// formatValue is the text form of a value: what parse would read.
func formatValue(v any) string {
	switch v := v.(type) {
	case []string:
		return joinCSV(v)
	case []ServiceMapping:
		parts := make([]string, len(v))
		for i, m := range v {
			parts[i] = m.String()
		}
		return joinCSV(parts)
	case []Flag:
		parts := make([]string, len(v))
		for i, f := range v {
			parts[i] = f.Name + "=" + f.Value
		}
		return joinCSV(parts)
	case nil:
		return ""
	default:
		return fmt.Sprint(v)
	}
}

func joinCSV(parts []string) string {
	if len(parts) == 0 {
		return ""
	}
	var b strings.Builder
	w := csv.NewWriter(&b)
	// A strings.Builder does not fail, and there is nothing else that could.
	_ = w.Write(parts)
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}
