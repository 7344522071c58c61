package doc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kapi-dev/kapi/tui/ink"
)

// lastApplied is an annotation that holds the whole object once more.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// YAML is a document of an object: YAML in tokens, foldable by its structure. The
// object is anything that JSON can be made of; metadata.managedFields is left out.
func YAML(object any) (Render, error) {
	lines, err := yamlLines(object)
	if err != nil {
		return nil, err
	}
	return func(ink.Paper) []Line { return lines }, nil
}

// YAMLText is the text of the document YAML, for copying.
func YAMLText(object any) (string, error) {
	lines, err := yamlLines(object)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(line.String())
		b.WriteByte('\n')
	}
	return b.String(), nil
}

func yamlLines(object any) ([]Line, error) {
	raw, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("writing the object as JSON: %w", err)
	}
	// Numbers stay as they are written: large ones would lose digits.
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Errorf("reading the object's JSON: %w", err)
	}
	dropManagedFields(value)
	var w yamlWriter
	w.value(value, place{})
	return w.lines, nil
}

// dropManagedFields takes them from an object, or from those of a list.
func dropManagedFields(value any) {
	object, ok := value.(map[string]any)
	if !ok {
		return
	}
	if metadata, ok := object["metadata"].(map[string]any); ok {
		delete(metadata, "managedFields")
	}
	if items, ok := object["items"].([]any); ok {
		for _, item := range items {
			dropManagedFields(item)
		}
	}
}

// yamlWriter writes values as kubectl does: keys sorted, lists not indented, text of
// several lines as a block.
type yamlWriter struct {
	lines []Line
}

// place is where a value is written.
type place struct {
	// begun is what its first line begins with, nil for a line of its own.
	begun ink.Line
	// indent is how far its further lines are to the right.
	indent int
	level  int
	path   string
	// key is what it is the value of, keyed that there is one.
	key   string
	keyed bool
}

// value writes a value. Collections begin on the next line after a key, other
// values are on the line of it.
func (w *yamlWriter) value(value any, at place) {
	switch value := value.(type) {
	case map[string]any:
		if len(value) > 0 {
			w.mapping(value, at)
			return
		}
		w.scalar("{}", "", ink.Punct, at)
	case []any:
		if len(value) > 0 {
			w.sequence(value, at)
			return
		}
		w.scalar("[]", "", ink.Punct, at)
	case string:
		if at.key == lastApplied || isBlock(value) {
			if w.block(value, at) {
				return
			}
		}
		w.scalar(quote(value), value, ink.Value, at)
	case json.Number:
		w.scalar(value.String(), value.String(), ink.Value, at)
	case bool:
		w.scalar(strconv.FormatBool(value), strconv.FormatBool(value), ink.Value, at)
	default:
		w.scalar("null", "null", ink.Value, at)
	}
}

func (w *yamlWriter) mapping(value map[string]any, at place) {
	level := at.level
	if at.keyed {
		w.line(Line{Line: at.begun, Level: at.level, Key: at.path})
		at.begun, at.indent, level = nil, at.indent+2, level+1
	}
	for i, key := range slices.Sorted(maps.Keys(value)) {
		begun := at.begun
		if i > 0 || begun == nil {
			begun = indented(at.indent)
		}
		begun = append(begun, ink.T(ink.Name, quote(key)), ink.T(ink.Punct, ":"))
		inner := place{begun: begun, indent: at.indent, level: level, path: at.path + "." + key, key: key, keyed: true}
		w.value(value[key], inner)
		if i == 0 && at.begun != nil {
			level++ // the rest of an item of a list is below its first line
		}
	}
}

func (w *yamlWriter) sequence(value []any, at place) {
	level := at.level
	if at.keyed {
		w.line(Line{Line: at.begun, Level: at.level, Key: at.path})
		at.begun, level = nil, level+1
	}
	for i, item := range value {
		begun := at.begun
		if i > 0 || begun == nil {
			begun = indented(at.indent)
		}
		begun = append(begun, ink.T(ink.Punct, "- "))
		w.value(item, place{begun: begun, indent: at.indent + 2, level: level, path: at.path + "[" + strconv.Itoa(i) + "]"})
		if i == 0 && at.begun != nil {
			level++
		}
	}
}

func (w *yamlWriter) scalar(text, raw string, token ink.Token, at place) {
	line := at.begun
	if at.keyed {
		line = append(line, ink.T(ink.Text, " "))
	}
	w.line(Line{Line: append(line, ink.T(token, text)), Level: at.level, Key: at.path, Copy: raw})
}

// block writes a text of several lines; false if a block can't hold it.
func (w *yamlWriter) block(value string, at place) bool {
	if !canBlock(value) {
		return false
	}
	body, chomp := value, "|-"
	if strings.HasSuffix(value, "\n") {
		body, chomp = strings.TrimSuffix(value, "\n"), "|"
		if strings.HasSuffix(body, "\n") {
			chomp = "|+"
		}
	}
	line := at.begun
	if at.keyed {
		line = append(line, ink.T(ink.Text, " "))
	}
	w.line(Line{Line: append(line, ink.T(ink.Punct, chomp)), Level: at.level, Key: at.path, Copy: value, Folded: at.key == lastApplied})
	indent := at.indent
	if at.keyed || at.begun == nil {
		indent += 2
	}
	for i, part := range strings.Split(body, "\n") {
		line := ink.Line(nil)
		if part != "" {
			line = append(indented(indent), ink.T(ink.Text, part))
		}
		w.line(Line{Line: line, Level: at.level + 1, Key: at.path + "|" + strconv.Itoa(i)})
	}
	return true
}

func (w *yamlWriter) line(line Line) { w.lines = append(w.lines, line) }

func indented(cells int) ink.Line {
	line := make(ink.Line, 0, 5)
	if cells > 0 {
		line = append(line, ink.T(ink.Text, strings.Repeat(" ", cells)))
	}
	return line
}
