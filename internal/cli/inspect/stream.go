package inspect

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// A list is printed as kubectl prints one: a v1 List, indented by four blanks in
// JSON. It is written object by object.

func streamJSON(w io.Writer, o *output, objects iter.Seq2[runtime.Object, error]) error {
	out := bufio.NewWriter(w)
	fmt.Fprint(out, "{\n    \"apiVersion\": \"v1\",\n    \"items\": [")
	separator := "\n"
	for object, err := range objects {
		if err != nil {
			return err
		}
		plain, err := o.plain(object)
		if err != nil {
			return err
		}
		text, err := json.MarshalIndent(plain.Object, "        ", "    ")
		if err != nil {
			return fmt.Errorf("encoding %s: %w", plain.GetName(), err)
		}
		fmt.Fprintf(out, "%s        %s", separator, text)
		separator = ",\n"
	}
	if separator != "\n" {
		fmt.Fprint(out, "\n    ")
	}
	fmt.Fprint(out, "],\n    \"kind\": \"List\",\n    \"metadata\": {}\n}\n")
	return out.Flush()
}

func streamYAML(w io.Writer, o *output, objects iter.Seq2[runtime.Object, error]) error {
	out := bufio.NewWriter(w)
	fmt.Fprint(out, "apiVersion: v1\nitems:")
	none := true
	for object, err := range objects {
		if err != nil {
			return err
		}
		plain, err := o.plain(object)
		if err != nil {
			return err
		}
		text, err := yaml.Marshal(plain.Object)
		if err != nil {
			return fmt.Errorf("encoding %s: %w", plain.GetName(), err)
		}
		if none {
			fmt.Fprintln(out)
		}
		none = false
		mark := "- "
		for line := range bytes.Lines(text) {
			if len(line) == 1 { // an empty line of a text stays one
				mark = ""
			}
			fmt.Fprintf(out, "%s%s", mark, line)
			mark = "  "
		}
	}
	if none {
		fmt.Fprint(out, " []\n")
	}
	fmt.Fprint(out, "kind: List\nmetadata: {}\n")
	return out.Flush()
}

// plain returns an object without what is left out of JSON and YAML.
func (o *output) plain(object runtime.Object) (*unstructured.Unstructured, error) {
	plain, err := toUnstructured(object)
	if err == nil && !o.showManagedFields {
		plain.SetManagedFields(nil)
	}
	return plain, err
}
