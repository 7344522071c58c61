package crds

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/kapi-dev/kapi/tui/components/doc"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/pages/sheet"
)

// Bounds of a schema's tree: a schema may be larger than anybody reads.
const (
	deepest = 40
	largest = 5000
)

// schema is the tree of the storage version's fields, folded below the second level.
func (f facts) schema(lines []doc.Line, paper ink.Paper) []doc.Line {
	var version *apiextensionsv1.CustomResourceDefinitionVersion
	for i := range f.object.Spec.Versions {
		if f.object.Spec.Versions[i].Storage {
			version = &f.object.Spec.Versions[i]
		}
	}
	if version == nil {
		return lines
	}
	lines = sheet.Section(lines, "Schema of "+version.Name+", the storage version")
	if version.Schema == nil || version.Schema.OpenAPIV3Schema == nil {
		return sheet.Para(lines, paper, 1, ink.Warning, "it has none: nothing is validated, and nothing is pruned")
	}
	root := version.Schema.OpenAPIV3Schema
	if facts := constraints(root); len(facts) > 0 || len(root.Properties) == 0 {
		lines = sheet.Para(lines, paper, 1, ink.Value, strings.Join(append([]string{typeOf(root)}, facts...), "  "))
	}
	tree := schemaTree{paper: paper, lines: lines, end: len(lines) + largest}
	tree.notes(root, 0, "schema")
	tree.children(root, 0, "schema")
	if len(tree.lines) >= tree.end {
		tree.lines = sheet.Para(tree.lines, paper, 1, ink.Muted, "the rest is in the YAML")
	}
	return tree.lines
}

// schemaTree collects the lines of a schema.
type schemaTree struct {
	paper ink.Paper
	lines []doc.Line
	end   int
}

// props is a schema.
type props = apiextensionsv1.JSONSchemaProps

// children adds the fields of a schema: of an object, of what an array or a map holds.
func (t *schemaTree) children(schema *props, depth int, path string) {
	schema = inner(schema)
	if schema == nil || depth > deepest {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		if len(t.lines) >= t.end {
			return
		}
		field := schema.Properties[name]
		t.field(name, &field, slices.Contains(schema.Required, name), depth, path+"."+name)
	}
}

func (t *schemaTree) field(name string, schema *props, required bool, depth int, path string) {
	indent := strings.Repeat("  ", depth+1)
	line := ink.Line{ink.T(ink.Text, indent), ink.T(ink.Name, ink.Pad(t.paper.Clean(name), max(2, 24-2*depth))), ink.T(ink.Text, " "), ink.T(ink.Value, typeOf(schema))}
	if required {
		line = append(line, ink.T(ink.Accent, "  required"))
	}
	for _, fact := range constraints(schema) {
		line = append(line, ink.T(ink.Text, "  "+fact))
	}
	if schema.Description != "" {
		line = append(line, ink.T(ink.Muted, "  "+t.paper.Glyphs.Dot+" "+schema.Description))
	}
	t.lines = append(t.lines, doc.Line{Level: 1 + depth, Key: path, Folded: depth >= 1, Line: line, Copy: strings.TrimPrefix(path, "schema.")})
	t.notes(schema, depth+1, path)
	t.children(schema, depth+1, path)
}

// notes adds the rules of a schema, a line each.
func (t *schemaTree) notes(schema *props, depth int, path string) {
	for i, rule := range schema.XValidations {
		text := "rule " + rule.Rule
		if rule.Message != "" {
			text += "  (" + rule.Message + ")"
		}
		t.lines = append(t.lines, doc.Line{Level: 1 + depth, Key: path + " rule " + strconv.Itoa(i), Line: ink.Line{
			ink.T(ink.Text, strings.Repeat("  ", depth+1)), ink.T(ink.Punct, text),
		}})
	}
}

// inner is the schema whose fields are shown below one: its own, or that of what an
// array or a map holds.
func inner(schema *props) *props {
	for range deepest {
		switch {
		case schema == nil || len(schema.Properties) > 0:
			return schema
		case schema.Items != nil && schema.Items.Schema != nil:
			schema = schema.Items.Schema
		case schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil:
			schema = schema.AdditionalProperties.Schema
		default:
			return schema
		}
	}
	return nil
}

// typeOf is a type as it would be written in Go.
func typeOf(schema *props) string {
	prefix := ""
	for range deepest {
		switch {
		case schema.XIntOrString:
			return prefix + "int-or-string"
		case schema.Items != nil && schema.Items.Schema != nil:
			prefix, schema = prefix+"[]", schema.Items.Schema
		case schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil:
			prefix, schema = prefix+"map[string]", schema.AdditionalProperties.Schema
		case schema.Type == "":
			return prefix + "any"
		default:
			return prefix + schema.Type
		}
	}
	return prefix + "any"
}

// constraints are what a value must be, in few words.
func constraints(schema *props) []string {
	var facts []string
	add := func(is bool, format string, values ...any) {
		if is {
			facts = append(facts, fmt.Sprintf(format, values...))
		}
	}
	add(schema.Format != "", "%s", schema.Format)
	if len(schema.Enum) > 0 {
		values := make([]string, len(schema.Enum))
		for i, value := range schema.Enum {
			values[i] = string(value.Raw)
		}
		facts = append(facts, "one of "+strings.Join(values, " "))
	}
	if schema.Default != nil {
		facts = append(facts, "default "+string(schema.Default.Raw))
	}
	facts = append(facts, bounds(schema)...)
	add(schema.Pattern != "", "pattern %s", schema.Pattern)
	add(schema.Nullable, "nullable")
	return append(facts, extensions(schema)...)
}

// bounds are limits of numbers and lengths.
func bounds(schema *props) []string {
	var facts []string
	float := func(value *float64, exclusive bool, sign string) {
		if value == nil {
			return
		}
		if !exclusive {
			sign += "="
		}
		facts = append(facts, sign+strconv.FormatFloat(*value, 'g', -1, 64))
	}
	float(schema.Minimum, schema.ExclusiveMinimum, ">")
	float(schema.Maximum, schema.ExclusiveMaximum, "<")
	for _, limit := range []struct {
		name  string
		value *int64
	}{
		{"minLength", schema.MinLength}, {"maxLength", schema.MaxLength}, {"minItems", schema.MinItems},
		{"maxItems", schema.MaxItems}, {"minProperties", schema.MinProperties}, {"maxProperties", schema.MaxProperties},
	} {
		if limit.value != nil {
			facts = append(facts, limit.name+" "+strconv.FormatInt(*limit.value, 10))
		}
	}
	return facts
}

// extensions are those of Kubernetes, by their names after "x-kubernetes-".
func extensions(schema *props) []string {
	var facts []string
	if schema.XPreserveUnknownFields != nil && *schema.XPreserveUnknownFields {
		facts = append(facts, "preserve-unknown-fields")
	}
	if schema.XEmbeddedResource {
		facts = append(facts, "embedded-resource")
	}
	if schema.XListType != nil {
		fact := "list-type " + *schema.XListType
		if len(schema.XListMapKeys) > 0 {
			fact += " by " + strings.Join(schema.XListMapKeys, ",")
		}
		facts = append(facts, fact)
	}
	if schema.XMapType != nil {
		facts = append(facts, "map-type "+*schema.XMapType)
	}
	return facts
}
