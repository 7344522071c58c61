package chain

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/pkg/controlplane/apiserver"
)

// moduleDir returns the source of a module that this one is built with.
func moduleDir(t *testing.T, module string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		t.Fatalf("finding the source of %s: %v", module, err)
	}
	return strings.TrimSpace(string(out))
}

func parse(t *testing.T, module, file string) *ast.File {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(moduleDir(t, module), file), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// Our table of priorities is upstream's, which is not exported: an upgrade that
// adds a group version must not pass unseen, since it would not be served.
func TestPrioritiesAreUpstreams(t *testing.T) {
	got := apiServicePriorities()
	for gv := range apiserver.DefaultGenericAPIServicePriorities() {
		if _, ok := got[gv]; !ok {
			t.Errorf("the generic %s is missing", gv)
		}
	}
	seen := map[schema.GroupVersion]bool{}
	ast.Inspect(parse(t, "k8s.io/kubernetes", "cmd/kube-apiserver/app/aggregator.go"), func(node ast.Node) bool {
		entry, ok := node.(*ast.KeyValueExpr)
		if !ok {
			return true
		}
		key, isKey := entry.Key.(*ast.CompositeLit)
		value, isValue := entry.Value.(*ast.CompositeLit)
		if !isKey || !isValue {
			return true
		}
		gv := schema.GroupVersion{Group: field(key, "Group"), Version: field(key, "Version")}
		seen[gv] = true
		want := apiserver.APIServicePriority{Group: number(t, field(value, "Group")), Version: number(t, field(value, "Version"))}
		if got[gv] != want {
			t.Errorf("priority of %s is %v, upstream's %v", gv, got[gv], want)
		}
		return false
	})
	if len(seen) < 20 {
		t.Fatalf("only %d entries were found in upstream's source: has it moved?", len(seen))
	}
	for _, group := range kubeGroups {
		for _, version := range group.versions {
			if gv := (schema.GroupVersion{Group: group.group, Version: version.version}); !seen[gv] {
				t.Errorf("upstream has no %s any more", gv)
			}
		}
	}
}

func field(literal *ast.CompositeLit, name string) string {
	for _, element := range literal.Elts {
		pair, ok := element.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		key, isIdent := pair.Key.(*ast.Ident)
		value, isBasic := pair.Value.(*ast.BasicLit)
		if isIdent && isBasic && key.Name == name {
			return strings.Trim(value.Value, `"`)
		}
	}
	return ""
}

func number(t *testing.T, text string) int32 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return int32(n)
}

// genericSteps does what BuildGenericConfig does, in its order: each option of
// upstream that is applied there has a step here.
func TestGenericStepsAreUpstreams(t *testing.T) {
	// ApplyTo and its kin, by the option that they belong to, in upstream's order.
	want := []string{"GenericServerRunOptions", "SecureServing", "Features", "APIEnablement", "EgressSelector", "Traces", "Etcd", "Authentication", "Audit"}
	var got []string
	file := parse(t, "k8s.io/kubernetes", "pkg/controlplane/apiserver/config.go")
	for _, declaration := range file.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if !ok || function.Name.Name != "BuildGenericConfig" {
			continue
		}
		ast.Inspect(function, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok {
				return true
			}
			method, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !strings.HasPrefix(method.Sel.Name, "Apply") {
				return true
			}
			if option, ok := method.X.(*ast.SelectorExpr); ok {
				got = append(got, option.Sel.Name)
			}
			return true
		})
	}
	if !slices.Equal(got, want) {
		t.Errorf("upstream applies %v, the steps here were written for %v", got, want)
	}
}
