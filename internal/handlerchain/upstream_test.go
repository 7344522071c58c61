package handlerchain

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	genericapiserver "k8s.io/apiserver/pkg/server"
)

// What upstream's functions looked like when the table was written: a hash of their
// source, without comments and layout. The tests below say what differs in names,
// order and conditions; these find a change of an argument too. After an upgrade:
// compare the two versions of the function, adapt the table, then the hash.
const (
	hashDefaultChain = "ded08f3a"
	hashPrecondition = "2b7b1026"
	hashAggregator   = "5c41522d"
)

// source is a parsed file of a module that this one is built with.
type source struct {
	set  *token.FileSet
	file *ast.File
}

func parse(t *testing.T, module, file string) source {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		t.Fatalf("finding the source of %s: %v", module, err)
	}
	s := source{set: token.NewFileSet()}
	s.file, err = parser.ParseFile(s.set, filepath.Join(strings.TrimSpace(string(out)), file), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (s source) function(t *testing.T, name string) *ast.FuncDecl {
	t.Helper()
	for _, declaration := range s.file.Decls {
		if f, ok := declaration.(*ast.FuncDecl); ok && f.Name.Name == name {
			return f
		}
	}
	t.Fatalf("upstream has no %s any more", name)
	return nil
}

// text is the source of nodes on one line.
func (s source) text(t *testing.T, nodes ...ast.Node) string {
	t.Helper()
	var b bytes.Buffer
	for _, node := range nodes {
		if err := printer.Fprint(&b, s.set, node); err != nil {
			t.Fatal(err)
		}
		b.WriteByte('\n')
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func (s source) hash(t *testing.T, nodes ...ast.Node) string {
	t.Helper()
	sum := sha256.Sum256([]byte(s.text(t, nodes...)))
	return hex.EncodeToString(sum[:4])
}

// A step is one call that wraps a handler: the function, and for TrackStarted the name.
func (s source) step(t *testing.T, call *ast.CallExpr) string {
	t.Helper()
	function, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		t.Fatalf("a call of another kind: %s", s.text(t, call))
	}
	if function.Sel.Name != "TrackStarted" {
		return function.Sel.Name
	}
	name, ok := call.Args[len(call.Args)-1].(*ast.BasicLit)
	if !ok {
		t.Fatalf("a name that is not a literal: %s", s.text(t, call))
	}
	return function.Sel.Name + " " + name.Value
}

// steps are what a block does to a variable, innermost first, where the conditions
// in holds are true and all others false. Conditions that it meets are added to seen.
func (s source) steps(t *testing.T, block *ast.BlockStmt, variable string, holds, seen map[string]bool) []string {
	t.Helper()
	var found []string
	for _, statement := range block.List {
		switch statement := statement.(type) {
		case *ast.AssignStmt:
			target, isIdent := statement.Lhs[0].(*ast.Ident)
			if call, isCall := statement.Rhs[0].(*ast.CallExpr); isIdent && isCall && target.Name == variable {
				found = append(found, s.step(t, call))
			}
		case *ast.IfStmt:
			condition := s.text(t, statement.Cond)
			seen[condition] = true
			if holds[condition] {
				found = append(found, s.steps(t, statement.Body, variable, holds, seen)...)
			} else if other, ok := statement.Else.(*ast.BlockStmt); ok {
				found = append(found, s.steps(t, other, variable, holds, seen)...)
			}
		case *ast.ReturnStmt:
		default:
			t.Fatalf("a statement of a kind that was not there: %s", s.text(t, statement))
		}
	}
	return found
}

// tableSteps are the same, as the table has them.
func tableSteps(filters []Filter, holds map[string]bool) []string {
	var want []string
	for _, f := range slices.Backward(filters) {
		condition, is := conditionOf(f)
		if condition != "" && holds[condition] != is {
			continue
		}
		if f.builder.latency == "" {
			want = append(want, f.builder.constructor)
		} else {
			want = append(want, "TrackCompleted", f.builder.constructor, "TrackStarted "+strconv.Quote(f.builder.latency))
		}
	}
	return want
}

// conditionOf returns upstream's condition for a filter, and whether it is on when
// that holds or when it does not.
func conditionOf(f Filter) (condition string, is bool) {
	if negated, ok := strings.CutPrefix(f.builder.when, "!("); ok {
		return strings.TrimSuffix(negated, ")"), false
	}
	return f.builder.when, true
}

// aggregatorsOwn are the filters that only the outermost layer has.
var aggregatorsOwn = []string{"storage-version-precondition", "peer-proxy"}

// The default chain, with every combination of upstream's conditions.
func TestTableIsUpstreams(t *testing.T) {
	s := parse(t, "k8s.io/apiserver", "pkg/server/config.go")
	function := s.function(t, "DefaultBuildHandlerChain")
	filters := slices.DeleteFunc(Filters(config(t, nil), Options{}), func(f Filter) bool {
		return slices.Contains(aggregatorsOwn, f.Name)
	})
	seen := map[string]bool{}
	s.steps(t, function.Body, "handler", nil, seen)
	conditions := slices.Sorted(maps.Keys(seen))
	ours := map[string]bool{}
	for _, f := range filters {
		if condition, _ := conditionOf(f); condition != "" {
			ours[condition] = true
		}
	}
	if want := slices.Sorted(maps.Keys(ours)); !slices.Equal(conditions, want) {
		t.Fatalf("upstream's conditions are\n%s\nthe table was written for\n%s", strings.Join(conditions, "\n"), strings.Join(want, "\n"))
	}
	for combination := range 1 << len(conditions) {
		holds := map[string]bool{}
		for i, condition := range conditions {
			holds[condition] = combination&(1<<i) != 0
		}
		if got, want := s.steps(t, function.Body, "handler", holds, seen), tableSteps(filters, holds); !slices.Equal(got, want) {
			t.Fatalf("with %v upstream builds, innermost first,\n%v\nthe table has\n%v", holds, got, want)
		}
	}
	failed := filters[index(t, filters, "authentication")].builder.failed
	if got := s.steps(t, function.Body, "failedHandler", nil, seen); !slices.Equal(got, failed) {
		t.Errorf("requests that fail authentication go through %v, the table has %v", got, failed)
	}
	if got := s.hash(t, function); got != hashDefaultChain {
		t.Errorf("upstream's DefaultBuildHandlerChain has changed: its hash is %s", got)
	}
}

// What the outermost layer adds: where its configuration changes the builder.
func TestAggregatorsFiltersAreUpstreams(t *testing.T) {
	s := parse(t, "k8s.io/kubernetes", "pkg/controlplane/apiserver/aggregator.go")
	function := s.function(t, "CreateAggregatorConfig")
	var conditions []string
	var statements []ast.Node
	for _, statement := range function.Body.List {
		if !strings.Contains(s.text(t, statement), "BuildHandlerChainFunc") {
			continue
		}
		statements = append(statements, statement)
		if condition, ok := statement.(*ast.IfStmt); ok {
			conditions = append(conditions, s.text(t, condition.Cond))
		}
	}
	filters := Filters(config(t, nil), Options{})
	// Both wrap the handler of the layer before the default chain does: the one whose
	// statement comes later wraps it first, and stands further in.
	var want []string
	for _, f := range filters[len(filters)-len(aggregatorsOwn):] {
		if !slices.Contains(aggregatorsOwn, f.Name) {
			t.Errorf("%s is behind the default chain", f.Name)
		}
		want = append(want, f.builder.when)
	}
	if !slices.Equal(conditions, want) || len(statements) != len(want) {
		t.Errorf("upstream's builder changes under\n%s\nthe table was written for\n%s", strings.Join(conditions, "\n"), strings.Join(want, "\n"))
	}
	if got := s.hash(t, statements...); got != hashAggregator {
		t.Errorf("what CreateAggregatorConfig does to the chain has changed: its hash is %s", got)
	}

	s = parse(t, "k8s.io/apiserver", "pkg/server/config.go")
	function = s.function(t, "BuildHandlerChainWithStorageVersionPrecondition")
	constructor := filters[index(t, filters, "storage-version-precondition")].builder.constructor
	if got := s.steps(t, function.Body, "handler", nil, map[string]bool{}); !slices.Equal(got, []string{constructor}) {
		t.Errorf("upstream builds %v, the table has %s", got, constructor)
	}
	if got := s.hash(t, function); got != hashPrecondition {
		t.Errorf("upstream's BuildHandlerChainWithStorageVersionPrecondition has changed: its hash is %s", got)
	}
}

// Every name is unique and readable, every entry says what it does, and why it is off.
func TestEntries(t *testing.T) {
	for name, filters := range map[string][]Filter{
		"defaults":   Filters(config(t, nil), Options{}),
		"nothing":    Filters(&genericapiserver.Config{}, Options{}),
		"everything": Filters(everything(t), Options{PeerProxy: peer{}, StorageVersionPrecondition: true}),
	} {
		seen := map[string]bool{}
		var off []string
		for _, f := range filters {
			if seen[f.Name] || !regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`).MatchString(f.Name) {
				t.Errorf("%s: the name %q is not unique or not kebab-case", name, f.Name)
			}
			seen[f.Name] = true
			if !strings.HasSuffix(f.Doc, ".") || f.builder.constructor == "" {
				t.Errorf("%s: %s says %q and is built by %q", name, f.Name, f.Doc, f.builder.constructor)
			}
			if f.Enabled != (f.Reason == "") || f.Enabled && f.Wrap == nil {
				t.Errorf("%s: %s is on: %t, and its reason is %q", name, f.Name, f.Enabled, f.Reason)
			}
			if !f.Enabled {
				off = append(off, f.Name)
			}
		}
		want := map[string][]string{
			"defaults": {
				"routine", "retry-after", "hsts", "goaway", "watch-termination", "cors", "audit", "impersonation",
				"priority-and-fairness", "storage-version-precondition", "peer-proxy",
			},
			"nothing": {
				"routine", "retry-after", "hsts", "goaway", "watch-termination", "cors", "authentication", "audit", "impersonation",
				"priority-and-fairness", "max-in-flight", "authorization", "storage-version-precondition", "peer-proxy",
			},
			"everything": {"impersonation", "max-in-flight"},
		}[name]
		if !slices.Equal(off, want) {
			t.Errorf("%s: off are %v, want %v", name, off, want)
		}
	}
}
