package data

import (
	"context"
	"encoding/json"
	"io"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// stream is a watch that is read from the body of an answer. It implements
// watch.Interface.
type stream struct {
	cancel context.CancelFunc
	body   io.ReadCloser
	events chan watch.Event
	work   sync.WaitGroup
}

// newStream begins to read. decode makes events of the object of one.
func newStream(ctx context.Context, cancel context.CancelFunc, body io.ReadCloser, decode func(watch.EventType, json.RawMessage) ([]watch.Event, error)) *stream {
	s := &stream{cancel: cancel, body: body, events: make(chan watch.Event)}
	s.work.Go(func() { s.run(ctx, decode) })
	return s
}

// ResultChan implements watch.Interface.
func (s *stream) ResultChan() <-chan watch.Event { return s.events }

// Stop implements watch.Interface. It returns when nothing reads any more.
func (s *stream) Stop() {
	s.cancel()
	_ = s.body.Close() // nobody wants the rest
	s.work.Wait()
}

// run ends with the body. An event that can't be read ends it as well: whoever
// follows lists again.
func (s *stream) run(ctx context.Context, decode func(watch.EventType, json.RawMessage) ([]watch.Event, error)) {
	defer close(s.events)
	lines := json.NewDecoder(s.body)
	for {
		var line struct {
			Type   watch.EventType `json:"type"`
			Object json.RawMessage `json:"object"`
		}
		if lines.Decode(&line) != nil {
			return
		}
		if line.Type == watch.Error {
			status := &metav1.Status{}
			if json.Unmarshal(line.Object, status) == nil {
				s.send(ctx, watch.Event{Type: watch.Error, Object: status})
			}
			return
		}
		events, err := decode(line.Type, line.Object)
		if err != nil {
			events = []watch.Event{expired(err.Error())}
		}
		for _, event := range events {
			if !s.send(ctx, event) || event.Type == watch.Error {
				return
			}
		}
	}
}

func (s *stream) send(ctx context.Context, event watch.Event) bool {
	select {
	case s.events <- event:
		return true
	case <-ctx.Done():
		return false
	}
}
