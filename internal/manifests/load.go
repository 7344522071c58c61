package manifests

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// maxFile bounds one file; etcd would refuse any object that is larger.
const maxFile = 16 << 20

// Object is one document of a manifest.
type Object struct {
	*unstructured.Unstructured

	// File is where it is from, Line the line on which its document begins (from 1).
	File string
	Line int
}

// Where names the place of the object: "crds.yaml:12".
func (o Object) Where() string { return fmt.Sprintf("%s:%d", o.File, o.Line) }

// String names the object and its place.
func (o Object) String() string {
	name := o.GetName()
	if ns := o.GetNamespace(); ns != "" {
		name = ns + "/" + name
	}
	return fmt.Sprintf("%s: %s %s", o.Where(), strings.ToLower(o.GetKind()), name)
}

// Load reads files, and the .yaml, .yml and .json files of directories (below
// them too, in the order of their names; kustomization files, which are for a
// client, are left out). It returns every object that it could read, and an
// error for everything that it could not.
func Load(paths []string) ([]Object, error) {
	var (
		objects []Object
		errs    []error
	)
	for _, path := range paths {
		files, err := list(path)
		if err != nil {
			errs = append(errs, err)
		}
		for _, file := range files {
			found, err := loadFile(file)
			objects = append(objects, found...)
			if err != nil {
				errs = append(errs, err)
			}
		}
	}
	return objects, errors.Join(errs...)
}

func list(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("reading manifests: %w", err)
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var files []string
	err = filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		kustomization := slices.Contains([]string{"kustomization.yaml", "kustomization.yml"}, entry.Name())
		if !entry.IsDir() && !kustomization && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(file)) {
			files = append(files, file)
		}
		return nil
	})
	if err != nil {
		return files, fmt.Errorf("reading manifests in %s: %w", path, err)
	}
	return files, nil
}

func loadFile(file string) ([]Object, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, fmt.Errorf("reading manifest: %w", err)
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("reading manifest %s: %d bytes are more than the %d allowed", file, info.Size(), maxFile)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading manifest: %w", err)
	}
	var (
		objects []Object
		errs    []error
	)
	for _, doc := range split(data) {
		found, err := parse(doc.text)
		if err != nil {
			errs = append(errs, place(file, doc.line, err))
			continue
		}
		for _, u := range found {
			objects = append(objects, Object{u, file, doc.line})
		}
	}
	return objects, errors.Join(errs...)
}

type document struct {
	text []byte
	line int
}

// split cuts a stream at its "---" lines and drops documents of nothing but
// comments and blank lines. The line of a document is the first with content.
func split(data []byte) []document {
	var docs []document
	current := document{}
	flush := func() {
		if current.line > 0 {
			docs = append(docs, current)
		}
		current = document{}
	}
	lines := bufio.NewReader(bytes.NewReader(data))
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		trimmed := bytes.TrimSpace(line)
		if bytes.Equal(trimmed, []byte("---")) || bytes.HasPrefix(line, []byte("--- ")) {
			flush()
		} else {
			if current.line == 0 && len(trimmed) > 0 && trimmed[0] != '#' {
				current.line = number
			}
			// Lines before the content are kept out: they would shift the parser's line numbers.
			if current.line > 0 {
				current.text = append(current.text, line...)
			}
		}
		if err != nil {
			flush()
			return docs
		}
	}
}

// parse returns the object of a document, or the items of a List.
func parse(text []byte) ([]*unstructured.Unstructured, error) {
	content := map[string]any{}
	// Strict: a key that stands twice is a mistake, and one of the two would win silently.
	if err := yaml.UnmarshalStrict(text, &content); err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{Object: content}
	if u.GetAPIVersion() == "" || u.GetKind() == "" {
		return nil, errors.New("apiVersion and kind are needed")
	}
	if !u.IsList() {
		if u.GetName() == "" {
			return nil, fmt.Errorf("%s: metadata.name is needed", u.GetKind())
		}
		return []*unstructured.Unstructured{u}, nil
	}
	var items []*unstructured.Unstructured
	err := u.EachListItem(func(item runtimeObject) error {
		child, ok := item.(*unstructured.Unstructured)
		if !ok || child.GetKind() == "" || child.GetName() == "" {
			return errors.New("each item of a list needs apiVersion, kind and metadata.name")
		}
		items = append(items, child)
		return nil
	})
	return items, err
}

var yamlLine = regexp.MustCompile(`line (\d+)`)

// place puts file and line in front of err; the parser's own line, if it names
// one, counts from the start of the document.
func place(file string, line int, err error) error {
	text := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
	if match := yamlLine.FindStringSubmatch(text); match != nil {
		if offset, convErr := strconv.Atoi(match[1]); convErr == nil {
			line += offset - 1
			text = yamlLine.ReplaceAllString(text, "line "+strconv.Itoa(line))
		}
	}
	return fmt.Errorf("%s:%d: %s", file, line, text)
}
