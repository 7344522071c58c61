// Command refdoc writes the reference of inspect.kapi.dev: what the table of kinds
// and the comments of the types say, as Markdown. It is run by go generate.
//
//	go run ./internal/inspect/refdoc TYPES OUTPUT
package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: refdoc TYPES OUTPUT")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "refdoc:", err)
		os.Exit(1)
	}
}

func run(dir, output string) error {
	pkg, err := load(dir)
	if err != nil {
		return fmt.Errorf("reading the types: %w", err)
	}
	page := &page{types: map[string]*doc.Type{}, written: map[string]bool{}}
	for _, t := range pkg.Types {
		page.types[t.Name] = t
	}
	page.head()
	for _, kind := range kinds.All() {
		page.kind(kind)
	}
	for _, review := range reviews() {
		page.review(review.kind)
	}
	page.rest()
	if page.err != nil {
		return page.err
	}
	return os.WriteFile(output, page.text.Bytes(), 0o644) //nolint:gosec // a document that everybody may read
}

func load(dir string) (*doc.Package, error) {
	files := token.NewFileSet()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var parsed []*ast.File
	for _, name := range names {
		if strings.HasPrefix(filepath.Base(name), "zz_generated") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(files, name, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, file)
	}
	return doc.NewFromFiles(files, parsed, "v1alpha1")
}

// page is the document while it is written.
type page struct {
	text    bytes.Buffer
	types   map[string]*doc.Type
	written map[string]bool
	// pending are types that a field has named and that are still to be described.
	pending []string
	err     error
}

func (p *page) printf(format string, args ...any) { fmt.Fprintf(&p.text, format, args...) }

func (p *page) head() {
	p.printf(`<!-- Generated from the types and the table of kinds (go generate ./...): do not edit. -->

# inspect.kapi.dev/v1alpha1

The inside of a running kapi as Kubernetes objects: cluster-scoped, kept in memory,
read with get, list and watch. ` + "`kubectl get kapi`" + ` lists all that are not marked busy.

A resourceVersion counts the changes of one server. A watch goes on from one, or is
answered 410 Gone when what has changed since is no longer known; it may ask for
bookmarks and for initial events. Counters are published to those who watch twice a
second, changes of state at once. A watch whose reader does not keep up is ended.
Of request traces a watch gets 500 a second; how many were left out stands on its
bookmarks, in the annotation ` + "`inspect.kapi.dev/left-out`" + `.

A list is always of now, and whole: limit is not needed and not kept.

ClusterRole ` + "`kapi:inspect`" + ` reads everything but request traces,
and the CRDs, APIServices and namespaces that it is about. It has the label that makes
it part of view, and so of edit and admin: the controller clusterrole-aggregation does
that, and where it is off the role is bound by its name.
` + "`kapi:inspect-requests`" + ` reads request traces and asks for route explanations: they can
show names of secrets. ` + "`kapi:inspect-storage`" + ` looks into etcd with stored key queries,
beside what RBAC says of the objects there; values of Secrets, and what is encrypted, are
not shown. Neither is part of another role.

| resource | kind | short names | shows |
| --- | --- | --- | --- |
`)
	for _, kind := range kinds.All() {
		busy := ""
		if kind.Busy {
			busy = " (busy)"
		}
		p.printf("| [%s](#%s) | %s | %s | %s%s |\n", kind.Resource, strings.ToLower(kind.Kind), kind.Kind,
			strings.Join(kind.ShortNames, ", "), firstSentence(p.comment(kind.Kind)), busy)
	}
	for _, review := range reviews() {
		p.printf("| [%s](#%s) | %s | | %s (create only) |\n", review.resource, strings.ToLower(review.kind), review.kind, firstSentence(p.comment(review.kind)))
	}
}

func (p *page) kind(kind kinds.Kind) {
	p.printf("\n## %s\n\n%s\n\n", kind.Kind, p.comment(kind.Kind))
	var narrow, wide []string
	for _, column := range kind.Columns {
		if column.Wide {
			wide = append(wide, column.Name)
		} else {
			narrow = append(narrow, column.Name)
		}
	}
	p.printf("- columns: %s\n", strings.Join(narrow, ", "))
	if len(wide) > 0 {
		p.printf("- with -o wide also: %s\n", strings.Join(wide, ", "))
	}
	p.printf("- selectable fields: %s\n", strings.Join(append([]string{"metadata.name"}, slices.Sorted(maps.Keys(kind.Fields))...), ", "))
	p.fields(kind.Kind)
	p.drain()
}

// review is a kind that is created and sent back with the answer, and no table.
type review struct{ resource, kind string }

func reviews() []review {
	return []review{
		{v1alpha1.ResourceRouteExplanations, "RouteExplanation"},
		{v1alpha1.ResourceStoredKeyQueries, "StoredKeyQuery"},
	}
}

func (p *page) review(name string) {
	p.printf("\n## %s\n\n%s\n", name, p.comment(name))
	p.fields(name)
	p.drain()
}

// drain describes what the fields of a kind are made of, right after it.
func (p *page) drain() {
	for len(p.pending) > 0 {
		name := p.pending[0]
		p.pending = p.pending[1:]
		if p.written[name] || shared[name] {
			continue
		}
		p.written[name] = true
		p.printf("\n### %s\n\n%s\n", name, p.comment(name))
		p.fields(name)
	}
}

// shared are types that several kinds are made of; they come last.
var shared = map[string]bool{"Latency": true, "StatusCount": true, "Configured": true, "RequestInfo": true, "RequestUser": true, "EndedBy": true}

func (p *page) rest() {
	p.printf("\n## Shared types\n")
	for _, name := range slices.Sorted(maps.Keys(shared)) {
		p.printf("\n### %s\n\n%s\n", name, p.comment(name))
		p.fields(name)
	}
	p.pending = nil
}

func (p *page) comment(name string) string {
	t := p.types[name]
	if t == nil {
		p.err = fmt.Errorf("there is no type %s", name)
		return ""
	}
	return prose(t.Doc)
}

// fields writes the table of a struct's fields.
func (p *page) fields(name string) {
	t := p.types[name]
	if t == nil {
		return
	}
	structure, ok := t.Decl.Specs[0].(*ast.TypeSpec).Type.(*ast.StructType)
	if !ok {
		return
	}
	p.printf("\n| field | type | |\n| --- | --- | --- |\n")
	for _, field := range structure.Fields.List {
		tag := jsonTag(field)
		switch {
		case strings.HasPrefix(tag, "metadata"), tag == ",inline" && len(field.Names) == 0 && types(field.Type) == "TypeMeta":
			continue
		case tag == ",inline":
			p.printf("| (inline) | %s | its fields stand here |\n", p.link(types(field.Type)))
			continue
		}
		key, _, optional := strings.Cut(tag, ",omitempty")
		if optional {
			key += "?"
		}
		p.printf("| `%s` | %s | %s |\n", key, p.link(types(field.Type)), cell(prose(field.Doc.Text())))
	}
}

func jsonTag(field *ast.Field) string {
	if field.Tag == nil {
		return ""
	}
	return reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Get("json")
}

// types writes a Go type as the reference does.
func types(expr ast.Expr) string {
	switch t := expr.(type) {
	case *ast.Ident:
		return t.Name
	case *ast.StarExpr:
		return types(t.X)
	case *ast.ArrayType:
		return "[]" + types(t.Elt)
	case *ast.SelectorExpr:
		return t.Sel.Name
	}
	return "object"
}

// link names a type; one of ours will be described below.
func (p *page) link(name string) string {
	own := strings.TrimPrefix(name, "[]")
	if p.types[own] == nil {
		return name
	}
	if _, ok := p.types[own].Decl.Specs[0].(*ast.TypeSpec).Type.(*ast.StructType); !ok {
		return "string (" + own + ")"
	}
	p.pending = append(p.pending, own)
	return fmt.Sprintf("[%s](#%s)", name, strings.ToLower(own))
}

// prose is a comment without its markers.
func prose(comment string) string {
	var lines []string
	for line := range strings.Lines(comment) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "+") {
			lines = append(lines, line)
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

func cell(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\n", " "), "|", "\\|")
}

func firstSentence(text string) string {
	text = cell(text)
	if first, _, ok := strings.Cut(text, ". "); ok {
		return first + "."
	}
	return text
}
