package doc_test

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kapi-dev/kapi/tui/components/doc"
	ct "github.com/kapi-dev/kapi/tui/components/internal/componenttest"
	"github.com/kapi-dev/kapi/tui/ink"
)

func object() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1",
		"kind":       "Widget",
		"metadata": map[string]any{
			"name": "日本語",
			"annotations": map[string]any{
				"kubectl.kubernetes.io/last-applied-configuration": `{"apiVersion":"example.com/v1","kind":"Widget"}` + "\n",
				"note": "שלום",
			},
			"managedFields": []any{map[string]any{"manager": "kubectl"}},
			"generation":    int64(9007199254740993),
		},
		"spec": map[string]any{
			"containers": []any{
				map[string]any{"image": "web:1", "name": "con", "args": []any{"a", "--b=c"}},
				map[string]any{"env": map[string]any{"a": "yes"}, "name": "second"},
			},
			"script": "#!/bin/sh\nset -e\n\nexec web\n",
			"empty":  map[string]any{},
			"none":   []any{},
			"null":   nil,
			"nested": []any{[]any{"x", "y"}, []any{}},
		},
	}}
}

func TestYAMLText(t *testing.T) {
	got, err := doc.YAMLText(object())
	if err != nil {
		t.Fatal(err)
	}
	want := `apiVersion: example.com/v1
kind: Widget
metadata:
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: |
      {"apiVersion":"example.com/v1","kind":"Widget"}
    note: שלום
  generation: 9007199254740993
  name: 日本語
spec:
  containers:
  - args:
    - a
    - --b=c
    image: web:1
    name: con
  - env:
      a: "yes"
    name: second
  empty: {}
  nested:
  - - x
    - "y"
  - []
  none: []
  "null": null
  script: |
    #!/bin/sh
    set -e

    exec web
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if _, kept := object().Object["metadata"].(map[string]any)["managedFields"]; !kept {
		t.Error("the object was changed")
	}
}

func TestYAMLLevels(t *testing.T) {
	render, err := doc.YAML(object())
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, line := range render(ct.Paper(80, 24)) {
		b.WriteString(strings.Repeat("·", line.Level) + strings.TrimSpace(line.String()) + "\n")
	}
	ct.Golden(t, "yaml-levels", b.String())
}

func TestYAMLOfAnything(t *testing.T) {
	for name, test := range map[string]struct {
		object any
		want   string
	}{
		"nil":     {nil, "null\n"},
		"pointer": {(*metav1.Condition)(nil), "null\n"},
		"struct":  {struct{ A int }{3}, "A: 3\n"},
		"list":    {[]string{"a", "b"}, "- a\n- b\n"},
		"text":    {"a\nb", "|-\n  a\n  b\n"},
		"empty":   {map[string]any{"": ""}, "\"\": \"\"\n"},
		"items": {map[string]any{"items": []any{map[string]any{"metadata": map[string]any{"name": "a", "managedFields": []any{}}}}},
			"items:\n- metadata:\n    name: a\n"},
	} {
		got, err := doc.YAMLText(test.object)
		if err != nil || got != test.want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, test.want)
		}
	}
	if _, err := doc.YAML(make(chan int)); err == nil {
		t.Error("no error of a channel")
	}
}

// TestYAMLIsRead reads texts of all sorts back.
func TestYAMLIsRead(t *testing.T) {
	r := ct.Random(7)
	for range 3000 {
		want := value(r, 0)
		raw, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, &want); err != nil { // as JSON has it
			t.Fatal(err)
		}
		text, err := doc.YAMLText(want)
		if err != nil {
			t.Fatal(err)
		}
		var got any
		if err := yaml.Unmarshal([]byte(text), &got); err != nil {
			t.Fatalf("%v of\n%q", err, text)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("read %#v\nwant %#v\nfrom\n%s", got, want, text)
		}
	}
}

// value is a random value with texts that are hard to write.
func value(r *rand.Rand, depth int) any {
	kinds := 6
	if depth > 3 {
		kinds = 4
	}
	switch r.IntN(kinds) {
	case 0:
		return []any{nil, true, false, 0.5, -3.0, 1e21, 42.0}[r.IntN(7)]
	case 4:
		list := make([]any, r.IntN(4))
		for i := range list {
			list[i] = value(r, depth+1)
		}
		return list
	case 5:
		object := map[string]any{}
		for range r.IntN(4) {
			object[word(r)] = value(r, depth+1)
		}
		return object
	default:
		return word(r)
	}
}

func word(r *rand.Rand) string {
	fixed := []string{
		"", "yes", "y", "null", "~", "1", "1e3", "0x1f", "1_000", "12:30:45", "2024-01-01", "a: b", "a #b", "- a", "? a", "*a", "&a",
		"!a", "%a", "@a", "`a`", "'", "\"", "{}", "[a", "a,", "|", ">", " a", "a ", "\n", "a\n", "a\n\n", "\na", "a\nb", "a\n b\n",
		" a\nb", "a\n\n\nb\n", "a\t\nb", "a\r\nb", "---", "...", "=", "<<", "true", ".inf", "日本語", "שלום\nעולם", "\u2028", "\u0085a",
		"\x1b[31m\nred", "\ufeff", "a\n\ufeffb", "\u0000", strings.Repeat("long text ", 30), strings.Repeat("long ", 30) + "\n" + "b", "#a\nb", "a\\b", "e\u0301\nx", "👩‍👩‍👧\nfamily", "a\n \n", "a\n\t",
	}
	if r.IntN(3) > 0 {
		return fixed[r.IntN(len(fixed))]
	}
	letters := []rune("ab :-#\n\t'\"{}[]|>0 1.日")
	text := make([]rune, r.IntN(12))
	for i := range text {
		text[i] = letters[r.IntN(len(letters))]
	}
	return string(text)
}

func BenchmarkYAML(b *testing.B) {
	items := make([]any, 1000)
	for i := range items {
		items[i] = object().Object
	}
	paper := ct.Paper(160, 50)
	b.ReportAllocs()
	for b.Loop() {
		render, err := doc.YAML(map[string]any{"items": items})
		if err != nil {
			b.Fatal(err)
		}
		opened(render, paper)
	}
}

func TestYAMLTokens(t *testing.T) {
	render, err := doc.YAML(map[string]any{"a": "b", "c": []any{"d"}})
	if err != nil {
		t.Fatal(err)
	}
	lines := render(ct.Paper(80, 24))
	if got := lines[0].Line; got[0] != ink.T(ink.Name, "a") || got[1] != ink.T(ink.Punct, ":") || got[len(got)-1] != ink.T(ink.Value, "b") {
		t.Errorf("a: b is %v", got)
	}
	if lines[0].Copy != "b" || lines[2].Copy != "d" {
		t.Errorf("copied are %q, %q", lines[0].Copy, lines[2].Copy)
	}
}
