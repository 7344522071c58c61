package recorded

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
)

// document is a snapshot while it is read. Keys may come in any order: somebody
// may have sorted them. Items are read one at a time and decoded when the list
// says what they are.
type document struct {
	json *json.Decoder
	// items is how many more objects there may be.
	items int

	apiVersion, kind string
	about            inspection.About
	takenAt          time.Time
	gaps             map[string][]inspection.Gap
	failed           map[string]Failure
	listings         map[string]inspection.Listing
	definitions      []item
	services         []item
	namespaces       []item
	seen             map[string]bool
}

// list is one list of a snapshot, before its items are decoded.
type list struct {
	APIVersion, Kind string
	Metadata         struct {
		ResourceVersion string `json:"resourceVersion"`
	}
	items []item
}

// item is one object, and the byte that it begins before.
type item struct {
	raw json.RawMessage
	at  int64
}

func newDocument(r io.Reader, items int) *document {
	return &document{json: json.NewDecoder(r), items: items, listings: map[string]inspection.Listing{}, seen: map[string]bool{}}
}

func (d *document) read() error {
	if err := d.fields(map[string]func() error{
		"apiVersion": func() error { return d.marked(&d.apiVersion, v1alpha1.SchemeGroupVersion.String()) },
		"kind":       func() error { return d.marked(&d.kind, Kind) },
		"about":      func() error { return d.value(&d.about) },
		"takenAt":    func() error { return d.value(&d.takenAt) },
		"gaps":       func() error { return d.value(&d.gaps) },
		"failed":     func() error { return d.value(&d.failed) },
		"lists":      func() error { return d.elements(d.list) },
	}); err != nil {
		return err
	}
	if _, err := d.json.Token(); !errors.Is(err, io.EOF) {
		return d.bad("something follows after its end", nil)
	}
	switch {
	case d.kind == "" || d.apiVersion == "":
		return &formatError{"it is JSON, but no snapshot: it has no apiVersion and kind", nil}
	case d.takenAt.IsZero():
		return &formatError{"it does not say when it was taken (takenAt)", nil}
	}
	return nil
}

// marked reads a string that can only be what it should be.
func (d *document) marked(into *string, want string) error {
	if err := d.value(into); err != nil {
		return err
	}
	if *into != want {
		return d.bad(fmt.Sprintf("it is %q where this kapi reads %q", *into, want), nil)
	}
	return nil
}

func (d *document) list() error {
	var l list
	if err := d.fields(map[string]func() error{
		"apiVersion": func() error { return d.value(&l.APIVersion) },
		"kind":       func() error { return d.value(&l.Kind) },
		"metadata":   func() error { return d.value(&l.Metadata) },
		"items": func() error {
			return d.elements(func() error {
				next := item{at: d.json.InputOffset()}
				if d.items--; d.items < 0 {
					return errTooLarge
				}
				err := d.value(&next.raw)
				l.items = append(l.items, next)
				return err
			})
		},
	}); err != nil {
		return err
	}
	return d.add(l)
}

// add decodes the items of a list. Lists of a newer kapi are passed over.
func (d *document) add(l list) error {
	for _, known := range listTypes() {
		if known.kind != l.Kind || known.apiVersion != l.APIVersion {
			continue
		}
		if d.seen[known.resource] {
			return d.bad("it has two lists of "+known.resource, nil)
		}
		d.seen[known.resource] = true
		switch known.resource {
		case definitionsResource:
			return keep(&d.definitions, l.items)
		case servicesResource:
			return keep(&d.services, l.items)
		case namespacesResource:
			return keep(&d.namespaces, l.items)
		}
		kind, _ := kinds.ByName(known.resource)
		return d.decode(kind, l)
	}
	return nil
}

// keep holds items as they are written until they are asked for: decoded, the
// schemas of 10,000 definitions take minutes and gigabytes.
func keep(into *[]item, items []item) error {
	for _, each := range items {
		if !bytes.HasPrefix(each.raw, []byte("{")) {
			return each.bad(errNoObject)
		}
	}
	*into = items
	return nil
}

func (d *document) decode(kind kinds.Kind, l list) error {
	listing := inspection.Listing{ResourceVersion: l.Metadata.ResourceVersion}
	for _, each := range l.items {
		object, ok := kind.New().(kinds.Object)
		if !ok {
			return fmt.Errorf("kind %s has no objects with metadata", kind.Kind)
		}
		if err := each.decode(object); err != nil {
			return err
		}
		object.GetObjectKind().SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind(kind.Kind))
		listing.Objects = append(listing.Objects, object)
	}
	d.listings[kind.Resource] = listing
	return nil
}

var errNoObject = errors.New("it is no JSON object")

func (i item) decode(into any) error {
	if !bytes.HasPrefix(i.raw, []byte("{")) {
		return i.bad(errNoObject) // null would leave an object without a name
	}
	if err := json.Unmarshal(i.raw, into); err != nil {
		return i.bad(err)
	}
	return nil
}

func (i item) bad(cause error) error {
	return &formatError{fmt.Sprintf("the object after byte %d", i.at), cause}
}

// fields reads an object: known fields by their functions, others not at all.
func (d *document) fields(known map[string]func() error) error {
	if err := d.delim('{'); err != nil {
		return err
	}
	for d.json.More() {
		token, err := d.json.Token()
		if err != nil {
			return d.broken(err)
		}
		key, _ := token.(string) // the decoder lets nothing else be a key
		read, ok := known[key]
		if !ok {
			read = func() error { return d.value(&json.RawMessage{}) }
		}
		if err := read(); err != nil {
			return err
		}
	}
	return d.delim('}')
}

// elements reads an array.
func (d *document) elements(read func() error) error {
	if err := d.delim('['); err != nil {
		return err
	}
	for d.json.More() {
		if err := read(); err != nil {
			return err
		}
	}
	return d.delim(']')
}

func (d *document) delim(want json.Delim) error {
	token, err := d.json.Token()
	if err != nil {
		return d.broken(err)
	}
	if token != want {
		return d.bad(fmt.Sprintf("%s is missing", want), nil)
	}
	return nil
}

func (d *document) value(into any) error {
	if err := d.json.Decode(into); err != nil {
		return d.broken(err)
	}
	return nil
}

// broken says where the JSON ends to be JSON.
func (d *document) broken(err error) error {
	switch {
	case errors.Is(err, errTooLarge):
		return err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		if d.json.InputOffset() == 0 {
			return &formatError{"it is empty", nil}
		}
		return fmt.Errorf("%w the value after byte %d", errCutOff, d.json.InputOffset())
	case isJSON(err):
		return d.bad("it is no JSON there", err)
	}
	return err
}

func isJSON(err error) bool {
	var syntax *json.SyntaxError
	var wrongType *json.UnmarshalTypeError
	var wrongTime *time.ParseError
	return errors.As(err, &syntax) || errors.As(err, &wrongType) || errors.As(err, &wrongTime)
}

func (d *document) bad(what string, cause error) error {
	return &formatError{fmt.Sprintf("after byte %d %s", d.json.InputOffset(), what), cause}
}
