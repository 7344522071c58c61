package tui

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/kapi-dev/kapi/tui/settings"
)

// TestSample: the sample in configs is what there is without a file, and can be read.
func TestSample(t *testing.T) {
	file := filepath.Join("..", "configs", "tui.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text, Sample()) {
		t.Errorf("%s is not current: run go generate ./internal/cli", file)
	}
	loaded, err := settings.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	changed, err := newKeymap(loaded.Keys)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := newKeymap(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range plain.actions {
		if got, want := changed.actions[i].keys, plain.actions[i].keys; !reflect.DeepEqual(got, want) {
			t.Errorf("%s has keys %q in the sample, %q without it", plain.actions[i].id, got, want)
		}
	}
}
