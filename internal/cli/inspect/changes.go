package inspect

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/yaml"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/text"
)

// changePrinter prints what a feed reports.
type changePrinter interface {
	// print may keep what it is given until flush is called for the first time.
	print(event watch.EventType, object runtime.Object) error
	// flush is called once, after the first list.
	flush() error
}

// changes returns the printer of --watch.
func (l *kindList) changes() (changePrinter, error) {
	if !l.opts.table() {
		return newObjectPrinter(l.opts, l.out)
	}
	t := newKindTable(l.kind, l.opts.format == formatWide, nil)
	rows := func(event watch.EventType, object runtime.Object) []text.Cell {
		typed, ok := object.(kinds.Object)
		if !ok {
			return nil
		}
		return t.row(typed, time.Now())
	}
	return newRowPrinter(l.opts, l.out, l.screen(), t.columns(), rows), nil
}

// rowPrinter prints changes as lines of a table.
type rowPrinter struct {
	stream *text.Stream
	row    func(watch.EventType, runtime.Object) []text.Cell
	events bool
	// first is what came before flush: its widest cells decide the widths.
	first   [][]text.Cell
	flushed bool
}

func newRowPrinter(opts *listOptions, w io.Writer, screen text.Screen, columns []text.Column, row func(watch.EventType, runtime.Object) []text.Cell) *rowPrinter {
	if opts.watchEvents {
		columns = append([]text.Column{{Name: "Event"}}, columns...)
	}
	return &rowPrinter{stream: text.NewStream(w, screen, columns, opts.noHeaders), row: row, events: opts.watchEvents}
}

func (p *rowPrinter) print(event watch.EventType, object runtime.Object) error {
	row := p.row(event, object)
	if p.events {
		row = append([]text.Cell{{Text: string(event)}}, row...)
	}
	if !p.flushed {
		p.first = append(p.first, row)
		return nil
	}
	return p.stream.Write([][]text.Cell{row})
}

func (p *rowPrinter) flush() error {
	first := p.first
	p.first, p.flushed = nil, true
	return p.stream.Write(first)
}

// objectPrinter prints changes as objects: JSON one a line, YAML as documents.
type objectPrinter struct {
	opts *listOptions
	out  io.Writer
}

func newObjectPrinter(opts *listOptions, w io.Writer) (*objectPrinter, error) {
	return &objectPrinter{opts: opts, out: w}, opts.output.check()
}

func (p *objectPrinter) flush() error { return nil }

func (p *objectPrinter) print(event watch.EventType, object runtime.Object) error {
	plain, err := p.opts.plain(object)
	if err != nil {
		return err
	}
	if p.opts.watchEvents && p.opts.format != "name" {
		plain = &unstructured.Unstructured{Object: map[string]any{"type": string(event), "object": plain.Object}}
	}
	switch p.opts.format {
	case "json":
		line, err := json.Marshal(plain.Object)
		if err != nil {
			return fmt.Errorf("encoding %s: %w", plain.GetName(), err)
		}
		_, err = fmt.Fprintf(p.out, "%s\n", line)
		return err
	case "yaml":
		text, err := yaml.Marshal(plain.Object)
		if err != nil {
			return fmt.Errorf("encoding %s: %w", plain.GetName(), err)
		}
		_, err = fmt.Fprintf(p.out, "---\n%s", text)
		return err
	}
	return p.templated(plain)
}

// templated ends what a template prints with a newline, so that the next change
// begins on a line of its own.
func (p *objectPrinter) templated(object runtime.Object) error {
	var b strings.Builder
	if err := p.opts.one(&b, object); err != nil {
		return err
	}
	p.opts.noHeaders = true // custom columns have had theirs
	line := b.String()
	if !strings.HasSuffix(line, "\n") {
		line += "\n"
	}
	_, err := io.WriteString(p.out, line)
	return err
}

// metPrinter prints each object that --for was waiting for: a line as kubectl
// wait does, or in the format of -o.
func metPrinter(o *output, w io.Writer, name string, g goal) func(runtime.Object) error {
	return func(object runtime.Object) error {
		if !o.table() {
			return o.one(w, object)
		}
		_, err := fmt.Fprintf(w, "%s/%s condition met: %s\n", name, key(object), g)
		return err
	}
}
