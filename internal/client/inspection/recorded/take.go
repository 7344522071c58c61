package recorded

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
)

// Summary is what Take has written.
type Summary struct {
	// TakenAt is the time that ages in the snapshot count up to.
	TakenAt time.Time
	// Counts are the objects of each resource, in the order of the snapshot.
	Counts []Count
	// Failed says of each resource that is missing or not complete, why.
	Failed map[string]Failure
	// Bytes is the size of the snapshot.
	Bytes int64
}

// Count is how many objects of one resource a snapshot has.
type Count struct {
	Resource string
	Objects  int
}

// Take writes a snapshot of a server to w, one object a line. Definitions and
// APIServices go through it one at a time and are never all in memory. What the
// server does not let be read is noted in the snapshot and in the summary, and
// the rest is written. An error means that the server does not even say what it
// is (nothing was written then), that ctx has ended, or that w has failed: what
// was written then is cut off, and Read says so.
func Take(ctx context.Context, server inspection.Server, w io.Writer) (Summary, error) {
	about, err := server.About(ctx)
	if err != nil {
		return Summary{}, fmt.Errorf("asking the server what it is: %w", err)
	}
	t := &taking{
		server: server, out: &counter{w: bufio.NewWriterSize(w, 64<<10)},
		gaps: map[string][]inspection.Gap{}, summary: Summary{Failed: map[string]Failure{}},
	}
	t.begin(about)
	t.lists(ctx)
	if ctx.Err() != nil {
		return t.summary, fmt.Errorf("taking a snapshot: %w", context.Cause(ctx))
	}
	// Ages count up to the end: an object that was made meanwhile has one, too.
	t.summary.TakenAt = about.At
	if later, err := server.About(ctx); err == nil {
		t.summary.TakenAt = later.At
	}
	t.end()
	t.summary.Bytes = t.out.bytes
	return t.summary, t.out.flush()
}

// taking is one run of Take. The writer keeps its first error, so that only flush
// has to look at it.
type taking struct {
	server  inspection.Server
	out     *counter
	gaps    map[string][]inspection.Gap
	summary Summary
}

func (t *taking) begin(about inspection.About) {
	t.out.text(`{"apiVersion":`)
	t.out.json(v1alpha1.SchemeGroupVersion.String())
	t.out.text(`,"kind":`)
	t.out.json(Kind)
	t.out.text(`,"about":`)
	t.out.json(about)
	t.out.text(",\n\"lists\":[")
}

func (t *taking) end() {
	t.out.text("],\n\"gaps\":")
	t.out.json(t.gaps)
	t.out.text(",\"failed\":")
	t.out.json(t.summary.Failed)
	t.out.text(",\"takenAt\":")
	t.out.json(t.summary.TakenAt.UTC().Format(timeFormat))
	t.out.text("}\n")
}

func (t *taking) lists(ctx context.Context) {
	types := listTypes()
	all := kinds.All()
	for i, kind := range all {
		listing, err := t.server.List(ctx, kind, inspection.Query{})
		if err != nil {
			t.summary.Failed[kind.Resource] = failureOf(err)
			continue
		}
		if len(listing.Gaps) > 0 {
			t.gaps[kind.Resource] = listing.Gaps
		}
		write(t, types[i], listing.ResourceVersion, listed(listing.Objects))
	}
	write(t, types[len(all)], "", stripped(t.server.Definitions(ctx), strippedDefinition))
	write(t, types[len(all)+1], "", stripped(t.server.APIServices(ctx), strippedService))
	write(t, types[len(all)+2], "", stripped(t.server.TerminatingNamespaces(ctx), strippedNamespace))
}

// write writes one list. An error in the middle ends it: what came before stays.
func write(t *taking, list listType, resourceVersion string, objects iter.Seq2[any, error]) {
	if len(t.summary.Counts) > 0 {
		t.out.text(",")
	}
	t.out.text("\n{\"apiVersion\":")
	t.out.json(list.apiVersion)
	t.out.text(`,"kind":`)
	t.out.json(list.kind)
	t.out.text(`,"metadata":`)
	t.out.json(map[string]string{"resourceVersion": resourceVersion})
	t.out.text(`,"items":[`)
	written := 0
	for object, err := range objects {
		if err != nil {
			t.summary.Failed[list.resource] = failureOf(err)
			break
		}
		if written > 0 {
			t.out.text(",")
		}
		t.out.text("\n")
		t.out.json(object)
		if t.out.err != nil {
			break // nobody reads on: stop asking the server
		}
		written++
	}
	t.out.text("]}")
	t.summary.Counts = append(t.summary.Counts, Count{Resource: list.resource, Objects: written})
}

func listed(objects []kinds.Object) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		for _, object := range objects {
			if !yield(object, nil) {
				return
			}
		}
	}
}

func stripped[T any](objects iter.Seq2[*T, error], strip func(*T) *T) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		for object, err := range objects {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(strip(object), nil) {
				return
			}
		}
	}
}

// counter writes, counts, and keeps the first error.
type counter struct {
	w     *bufio.Writer
	bytes int64
	err   error
}

func (c *counter) text(text string) { c.write([]byte(text)) }

func (c *counter) json(value any) {
	encoded, err := json.Marshal(value)
	if err != nil && c.err == nil {
		c.err = fmt.Errorf("encoding %T: %w", value, err)
	}
	c.write(encoded)
}

func (c *counter) write(data []byte) {
	if c.err != nil {
		return
	}
	var n int
	n, c.err = c.w.Write(data)
	c.bytes += int64(n)
}

func (c *counter) flush() error {
	if c.err == nil {
		c.err = c.w.Flush()
	}
	if c.err != nil {
		return fmt.Errorf("writing the snapshot: %w", c.err)
	}
	return nil
}
