package inspect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"sigs.k8s.io/yaml"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/fault"
)

// documents are objects with all that makes printing hard.
func documents() []runtime.Object {
	odd := &v1alpha1.RequestTrace{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: "RequestTrace"},
		ObjectMeta: metav1.ObjectMeta{
			Name: "odd", Labels: map[string]string{"a": "true", "b": "1", "c": "~"},
			Annotations:   map[string]string{"lines": "one\ntwo\n\n  three: 3\n", "end": "no end\nhere", "sign": "<&> \u2028 \t\x01", "名": "花 e\u0301", "dash": "- a\n- b"},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kapi", Operation: metav1.ManagedFieldsOperationUpdate}},
		},
	}
	odd.Spec.Path, odd.Spec.Verb = "/x?a=b: c#d", "yes"
	return []runtime.Object{odd, layer("a", "1"), layer("b", "0x10")}
}

// kubectlPrints is what kubectl prints for the same list.
func kubectlPrints(t *testing.T, format string, objects []runtime.Object) string {
	t.Helper()
	list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "v1", "kind": "List", "metadata": map[string]any{}}}
	for _, object := range objects {
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			t.Fatal(err)
		}
		list.Items = append(list.Items, unstructured.Unstructured{Object: fields})
	}
	printer, err := genericclioptions.NewJSONYamlPrintFlags().ToPrinter(format)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := printer.PrintObj(list, &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestStreamsAsKubectl: a list that is printed bit by bit is, byte for byte, what
// kubectl prints at once.
func TestStreamsAsKubectl(t *testing.T) {
	for _, format := range []string{"json", "yaml"} {
		for n := range len(documents()) + 1 {
			objects := documents()[:n]
			var b strings.Builder
			if err := (&output{format: format}).all(&b, sequence(objects)); err != nil {
				t.Fatal(err)
			}
			if want := kubectlPrints(t, format, objects); n > 0 && b.String() != want {
				t.Errorf("%d objects as %s: %s\n%s\nwant\n%s", n, format, firstDifference(b.String(), want), b.String(), want)
			}
			var read struct{ Items []map[string]any }
			if err := yaml.UnmarshalStrict([]byte(b.String()), &map[string]any{}); err != nil {
				t.Errorf("%d objects as %s can't be read: %v", n, format, err)
			}
			if err := yaml.Unmarshal([]byte(b.String()), &read); err != nil || len(read.Items) != n || read.Items == nil {
				t.Errorf("%d objects as %s read as %d, %v", n, format, len(read.Items), err)
			}
		}
	}
}

// TestListsHoldAll: the JSON and YAML of a list hold the objects as they are in the
// recording, and JSON of one name the object itself.
func TestListsHoldAll(t *testing.T) {
	server := recording(t, kapiFile)
	for _, kind := range kinds.All() {
		listing, err := server.List(t.Context(), kind, inspection.Query{})
		if err != nil {
			t.Fatal(err)
		}
		for _, format := range []string{"json", "yaml"} {
			var list struct {
				APIVersion, Kind string
				Items            []json.RawMessage
			}
			decode(t, run(t, kind.Resource, "--from", kapiFile, "-o", format).ok(t), &list)
			if list.APIVersion != "v1" || list.Kind != "List" || len(list.Items) != len(listing.Objects) {
				t.Fatalf("%s: a %s %s with %d items, want %d", kind.Resource, list.APIVersion, list.Kind, len(list.Items), len(listing.Objects))
			}
			for i, raw := range list.Items {
				same(t, kind, raw, listing.Objects[i])
			}
		}
		if len(listing.Objects) > 0 {
			name := listing.Objects[0].GetName()
			same(t, kind, []byte(run(t, kind.Singular, name, "--from", kapiFile, "-o", "json").ok(t)), listing.Objects[0])
		}
	}
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

func same(t *testing.T, kind kinds.Kind, raw []byte, want kinds.Object) {
	t.Helper()
	got := kind.New()
	if err := json.Unmarshal(raw, got); err != nil {
		t.Fatal(err)
	}
	if gvk := got.GetObjectKind().GroupVersionKind(); gvk != v1alpha1.SchemeGroupVersion.WithKind(kind.Kind) {
		t.Errorf("%s: it is a %s", want.GetName(), gvk)
	}
	if !reflect.DeepEqual(got, runtime.Object(want)) {
		t.Errorf("%s %s differs from the recording:\n%s", kind.Resource, want.GetName(), raw)
	}
}

// TestRealObjects: definitions and APIServices are printed as kubectl would.
func TestRealObjects(t *testing.T) {
	server := recording(t, kapiFile)
	var all []runtime.Object
	for object, err := range server.Definitions(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, object)
	}
	for _, format := range []string{"json", "yaml"} {
		if got, want := run(t, "crds", "--from", kapiFile, "-o", format).ok(t), kubectlPrints(t, format, all); got != want {
			t.Errorf("crds as %s: %s", format, firstDifference(got, want))
		}
	}
}

func TestTemplates(t *testing.T) {
	file := filepath.Join(t.TempDir(), "template")
	if err := os.WriteFile(file, []byte("NAME          CODE\nmetadata.name status.code\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for words, want := range map[string]string{
		"layer inspect|-o|jsonpath={.metadata.name}":                                               "inspect",
		"layers|-o|jsonpath={.items[*].metadata.name}":                                             "aggregator kube-apiserver inspect apiextensions not-found",
		"layers|-o|jsonpath|--template={.items[0].spec.order}":                                     "0",
		"layers|-o|go-template={{range .items}}{{.metadata.name}} {{end}}":                         "aggregator kube-apiserver inspect apiextensions not-found ",
		"layer inspect|-o|go-template={{.kind}}":                                                   "ServerLayer",
		"layer inspect|-o|custom-columns=N:.metadata.name,O:.spec.order":                           "N         O\ninspect   2\n",
		"layer inspect|-o|custom-columns=N:.metadata.name|--no-headers":                            "inspect\n",
		"requests mx2wvw5t-353|-o|custom-columns-file=" + file:                                     "NAME           CODE\nmx2wvw5t-353   503\n",
		"requests mx2wvw5t-330|-o|jsonpath={.spec.user.name}":                                      "山田太郎",
		"crds widgets.example.com|-o|jsonpath={.spec.versions[*].name}":                            "v1beta1 v1",
		"crds|-o|jsonpath={range .items[*]}{.spec.names.kind},{end}":                               "Widget,Stuck,Trial,Widget,",
		"apiservices v1.apps v1.|-o|jsonpath={.items[*].metadata.name}":                            "v1. v1.apps",
		"apiservices|-o|custom-columns=A:.status.conditions[?(@.type==\"Available\")].status|-l|a": "",
	} {
		first, rest, _ := strings.Cut(words, "|")
		args := append(strings.Fields(first), strings.Split(rest, "|")...)
		got := run(t, append(args, "--from", kapiFile)...).ok(t)
		if got != want && want != "" {
			t.Errorf("%s prints %q, want %q", words, got, want)
		}
	}
}

func TestFormatFails(t *testing.T) {
	for _, test := range []struct {
		words, text, hint string
		code              int
	}{
		{"layers -o xml", `-o "xml" is not a format`, "formats: table, wide, json, yaml, name", fault.CodeUsage},
		{"layers -o jsonpath={.a", "-o jsonpath={.a", "syntax", fault.CodeUsage},
		{"layers -o go-template={{.a", "-o go-template={{.a", "syntax", fault.CodeUsage},
		{"layers -o custom-columns=A", "-o custom-columns=A", "syntax", fault.CodeUsage},
		{"layers -o jsonpath", "-o jsonpath", "syntax", fault.CodeUsage},
		{"layers -o custom-columns", "-o custom-columns", "", fault.CodeUsage},
		{"layers -o go-template-file=/none", "/none", "", fault.CodeUsage},
		{"layers -o jsonpath={.items[99]}", "printing: ", "", fault.CodeFailure},
		{"inspect -o xml", "", "", fault.CodeUsage},
		{"request last -o tree", `-o "tree" is not a format`, "formats:", fault.CodeUsage},
		{"crds -o xml", `-o "xml" is not a format`, "formats:", fault.CodeUsage},
		{"apiservices -w -o xml", `-o "xml" is not a format`, "formats:", fault.CodeUsage},
	} {
		args := append(strings.Fields(test.words), "--from", kapiFile)
		if args[0] == "inspect" {
			args, test.text, test.hint = args[1:], `-o "xml" is not a format of this command`, "json, yaml"
		}
		r := run(t, args...)
		if len(fmt.Sprint(r.err)) > 500 {
			t.Errorf("%s: the error has %d bytes", test.words, len(r.err.Error()))
			continue
		}
		if fault.Code(r.err) != test.code || r.err == nil || !strings.Contains(r.err.Error(), test.text) || !strings.Contains(fault.Hint(r.err), test.hint) {
			t.Errorf("%s: code %d, error %v, hint %q", test.words, fault.Code(r.err), r.err, fault.Hint(r.err))
		}
	}
}

// TestFormats: every format that the help names is one.
func TestFormats(t *testing.T) {
	all := formats()
	if len(all) < 9 || !slices.Contains(all, "custom-columns=") {
		t.Errorf("formats are %q", all)
	}
	for _, format := range all {
		o := output{format: strings.TrimSuffix(format, "=")}
		if strings.HasSuffix(format, "=") {
			o.template = "{.metadata.name}"
			if strings.HasPrefix(format, "custom-columns") {
				o.template = "N:.metadata.name"
			}
			if strings.HasSuffix(format, "-file=") {
				o.template = filepath.Join(t.TempDir(), "f")
				if err := os.WriteFile(o.template, []byte("N\n.metadata.name\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := o.check(); err != nil {
			t.Errorf("-o %s: %v", format, err)
		}
	}
}

// TestManagedFields are left out unless they are asked for.
func TestManagedFields(t *testing.T) {
	object := documents()[0]
	for _, format := range []string{"json", "yaml"} {
		for _, show := range []bool{false, true} {
			o := &output{format: format, showManagedFields: show}
			var one, all strings.Builder
			if err := o.one(&one, object.DeepCopyObject()); err != nil {
				t.Fatal(err)
			}
			if err := o.all(&all, sequence([]runtime.Object{object.DeepCopyObject()})); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(one.String(), "managedFields") != show || strings.Contains(all.String(), "managedFields") != show {
				t.Errorf("%s, shown %t:\n%s\n%s", format, show, one.String(), all.String())
			}
		}
	}
}

var errFull = errors.New("disk full")

// failing takes some bytes, and no more.
type failing struct{ room int }

func (f *failing) Write(p []byte) (int, error) {
	if len(p) > f.room {
		return 0, errFull
	}
	f.room -= len(p)
	return len(p), nil
}

// TestWriters: the error of a writer and that of a source come back from every format.
func TestWriters(t *testing.T) {
	var many []runtime.Object
	for i := range 2000 {
		many = append(many, layer(fmt.Sprint(i), "1"))
	}
	broken := func(yield func(runtime.Object, error) bool) {
		if yield(layer("a", "1"), nil) {
			yield(nil, io.ErrUnexpectedEOF)
		}
	}
	for _, format := range []string{"json", "yaml", "name", "jsonpath={.items}", "go-template={{.items}}", "custom-columns=N:.metadata.name"} {
		o := &output{format: format}
		if err := o.all(&failing{100}, sequence(many)); !errors.Is(err, errFull) {
			t.Errorf("%s: the writer's error is lost: %.200v", format, err)
		}
		if err := o.all(io.Discard, broken); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: the source's error is lost: %v", format, err)
		}
	}
}
