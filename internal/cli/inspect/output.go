package inspect

import (
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/printers"
	kubectlget "k8s.io/kubectl/pkg/cmd/get"

	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/internal/text"
)

// Formats that are made here; the others are cli-runtime's and kubectl's.
const (
	formatTable = "table"
	formatWide  = "wide"
)

// output is what -o and its companions say.
type output struct {
	format, template  string
	noHeaders         bool
	showManagedFields bool
}

func (o *output) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVarP(&o.format, "output", "o", "", "Output format: "+strings.Join(formats(), ", ")+".")
	flags.StringVar(&o.template, "template", "", "Template or file for -o go-template, go-template-file, jsonpath, jsonpath-file and the like.")
	flags.BoolVar(&o.noHeaders, "no-headers", false, "Leave the headings of a table out.")
	flags.BoolVar(&o.showManagedFields, "show-managed-fields", false, "Keep managedFields in JSON and YAML.")
}

// formats are all names that -o takes, in the order of the help.
func formats() []string {
	return slices.Concat([]string{formatTable, formatWide, "json", "yaml", "name"}, templates())
}

// templates are the formats with an argument.
func templates() []string {
	named := slices.Concat(genericclioptions.NewKubeTemplatePrintFlags().AllowedFormats(), kubectlget.NewCustomColumnsPrintFlags().AllowedFormats())
	named = slices.DeleteFunc(named, func(name string) bool {
		return name == "template" || name == "templatefile" || name == "jsonpath-as-json"
	})
	for i, name := range named {
		named[i] = name + "="
	}
	return named
}

// table tells whether people read the output, not programs.
func (o *output) table() bool {
	return o.format == "" || o.format == formatTable || o.format == formatWide
}

// flags of cli-runtime, each of which knows some formats.
type toPrinter interface {
	ToPrinter(format string) (printers.ResourcePrinter, error)
}

// printer returns the printer of a format that is no table.
func (o *output) printer() (printers.ResourcePrinter, error) {
	format, operation := o.format, ""
	structured := genericclioptions.NewJSONYamlPrintFlags()
	structured.ShowManagedFields = o.showManagedFields
	named := genericclioptions.NewNamePrintFlags(operation)
	templated := genericclioptions.NewKubeTemplatePrintFlags()
	*templated.TemplateArgument = o.template
	columns := kubectlget.NewCustomColumnsPrintFlags()
	columns.NoHeaders, columns.TemplateArgument = o.noHeaders, o.template
	for _, flags := range []toPrinter{structured, named, templated, columns} {
		printer, err := flags.ToPrinter(format)
		if genericclioptions.IsNoCompatiblePrinterError(err) {
			continue
		}
		if err != nil {
			return nil, fault.WithHint(fault.Usagef("-o %s: %w", format, err), "see kubectl's reference for the syntax of its templates")
		}
		return printer, nil
	}
	return nil, fault.WithHint(fault.Usagef("-o %q is not a format", format), "formats: %s", strings.Join(formats(), ", "))
}

// screen is what is printed for. A wide table is not made to fit: who asks for all
// columns wants what stands in them, as with kubectl.
func (o *output) screen(w io.Writer) text.Screen {
	s := text.Detect(w, os.Getenv)
	if o.format == formatWide {
		s.Width = 0
	}
	return s
}

// check refuses a format that nothing knows, before anything is asked.
func (o *output) check() error {
	if name, _, argument := strings.Cut(o.format, "="); !argument {
		o.format = strings.ToLower(name)
	}
	if o.format == "" && o.template != "" {
		o.format = "go-template"
	}
	if o.table() {
		return nil
	}
	_, err := o.printer()
	return err
}

// one prints one object.
func (o *output) one(w io.Writer, object runtime.Object) error {
	printer, err := o.printer()
	if err != nil {
		return err
	}
	if o.format == "name" {
		return printTo(w, printer, object)
	}
	plain, err := toUnstructured(object)
	if err != nil {
		return err
	}
	return printTo(w, printer, plain)
}

// all prints a list. JSON, YAML and names are printed while the objects come, so
// that a list of any length needs no memory; a template sees all of them.
func (o *output) all(w io.Writer, objects iter.Seq2[runtime.Object, error]) error {
	switch o.format {
	case "json":
		return streamJSON(w, o, objects)
	case "yaml":
		return streamYAML(w, o, objects)
	case "name":
		for object, err := range objects {
			if err != nil {
				return err
			}
			if err := o.one(w, object); err != nil {
				return err
			}
		}
		return nil
	}
	printer, err := o.printer()
	if err != nil {
		return err
	}
	list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "v1", "kind": "List", "metadata": map[string]any{}}}
	for object, err := range objects {
		if err != nil {
			return err
		}
		plain, err := toUnstructured(object)
		if err != nil {
			return err
		}
		list.Items = append(list.Items, *plain)
	}
	return printTo(w, printer, list)
}

// printTo prints an object. Some printers lose the writer's error; that of a
// template that does not fit comes without the objects, which may be megabytes.
func printTo(w io.Writer, printer printers.ResourcePrinter, object runtime.Object) error {
	out := &errorKeeper{w: w}
	err := printer.PrintObj(object, out)
	switch {
	case out.err != nil:
		return out.err
	case err != nil:
		reason, _, _ := strings.Cut(err.Error(), ". Printing more information")
		return fmt.Errorf("printing: %s", reason)
	}
	return nil
}

// errorKeeper is a writer that remembers its first error.
type errorKeeper struct {
	w   io.Writer
	err error
}

// Write implements io.Writer; after an error it writes no more.
func (k *errorKeeper) Write(p []byte) (int, error) {
	if k.err != nil {
		return 0, k.err
	}
	n, err := k.w.Write(p)
	k.err = err
	return n, err
}

// toUnstructured returns an object as templates see it.
func toUnstructured(object runtime.Object) (*unstructured.Unstructured, error) {
	if plain, ok := object.(*unstructured.Unstructured); ok {
		return plain, nil
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, fmt.Errorf("converting %T: %w", object, err)
	}
	return &unstructured.Unstructured{Object: fields}, nil
}

// conditionsOf returns the conditions of any object that has them where the API
// conventions put them; known is false for one that can't have any.
func conditionsOf(object runtime.Object) (conditions []metav1.Condition, known bool) {
	plain, err := toUnstructured(object)
	if err != nil {
		return nil, false
	}
	raw, known, err := unstructured.NestedSlice(plain.Object, "status", "conditions")
	if err != nil || !known {
		return nil, false
	}
	for _, one := range raw {
		fields, ok := one.(map[string]any)
		if !ok {
			continue
		}
		var condition metav1.Condition
		if runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &condition) == nil {
			conditions = append(conditions, condition)
		}
	}
	return conditions, true
}
