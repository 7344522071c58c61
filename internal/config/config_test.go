package config

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

const sample = "../../configs/kapi.yaml"

// The documented file equals the defaults, and says so by loading as them.
func TestSampleFileIsTheDefault(t *testing.T) {
	l := mustLoad(t, LoadOptions{File: sample, KubeFlags: kubeFlags()})
	if want := Default(); !reflect.DeepEqual(l.Config, want) {
		t.Errorf("the sample file gives\n%+v\nthe defaults are\n%+v", l.Config, want)
	}
	for _, path := range leaves(reflect.TypeFor[Config](), "") {
		if !strings.HasPrefix(l.Origin(path), "file ") && path != keyKubeFlags {
			t.Errorf("%s is missing in the sample file: its origin is %q", path, l.Origin(path))
		}
	}
}

// Flag and variable of each key, and the fields of list entries, are documented.
func TestSampleFileNamesEverything(t *testing.T) {
	data, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for _, k := range Keys() {
		line := ""
		for l := range strings.SplitSeq(text, "\n") {
			if strings.HasSuffix(l, " "+k.Env()) {
				line = l
			}
		}
		if !strings.HasPrefix(strings.TrimSpace(line), lastPart(k.Path)+":") {
			t.Errorf("%s: no line with the key and %s behind it", k.Path, k.Env())
		}
		if dashed := strings.Repeat("-", min(2, len(k.Flag))) + k.Flag; k.Flag != "" && !strings.Contains(line, dashed[max(0, 3-len(dashed)):]+" ") {
			t.Errorf("%s: flag %s is not in its line %q", k.Path, dashed, line)
		}
		if k.KubeFlag != "" && !strings.Contains(text, k.KubeFlag) {
			t.Errorf("%s: the kube-apiserver flag %s is not named", k.Path, k.KubeFlag)
		}
	}
	for _, entry := range []reflect.Type{reflect.TypeFor[ServiceMapping](), reflect.TypeFor[Flag]()} {
		for i := range entry.NumField() {
			if name := entry.Field(i).Tag.Get("json"); !strings.Contains(text, name+": ") {
				t.Errorf("the field %s of %s is not named", name, entry)
			}
		}
	}
}

// The table of keys and the struct say the same, in the same order.
func TestKeysMatchConfig(t *testing.T) {
	var keys []string
	for _, k := range Keys() {
		keys = append(keys, k.Path)
		if k.Want == "" || k.kind.parse == nil || k.kind.node == nil {
			t.Errorf("%s: incomplete entry", k.Path)
		}
		c := Default()
		field := valueAt(&c, k.Path)
		if !field.IsValid() {
			t.Errorf("%s: no such field", k.Path)
			continue
		}
		if text := formatValue(field.Interface()); text != "" {
			v, err := k.kind.parse(text)
			if err != nil || !reflect.DeepEqual(v, field.Interface()) {
				t.Errorf("%s: the default %q is read back as %#v, %v", k.Path, text, v, err)
			}
		}
	}
	if want := leaves(reflect.TypeFor[Config](), ""); !reflect.DeepEqual(keys, want) {
		t.Errorf("keys are\n%q\nfields are\n%q", keys, want)
	}
}

func TestDefaultIsValid(t *testing.T) {
	if err := Default().Validate(); err != nil {
		t.Error(err)
	}
}

// leaves lists the paths of all fields that are not sections.
func leaves(t reflect.Type, prefix string) []string {
	var out []string
	for i := range t.NumField() {
		f := t.Field(i)
		path := prefix + f.Tag.Get("json")
		if f.Type.Kind() == reflect.Struct {
			out = append(out, leaves(f.Type, path+".")...)
			continue
		}
		out = append(out, path)
	}
	return out
}
