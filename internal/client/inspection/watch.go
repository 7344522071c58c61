package inspection

import (
	"sync"

	"k8s.io/apimachinery/pkg/watch"
)

// FilterWatch returns a watch of the events that keep lets through, as it changes
// them. Unlike watch.Filter it ends when it is stopped, also where nobody takes the
// event that it holds.
func FilterWatch(from watch.Interface, keep func(watch.Event) (watch.Event, bool)) watch.Interface {
	f := &filtered{from: from, events: make(chan watch.Event), stopped: make(chan struct{})}
	go f.run(keep) // it ends with the watch that it filters, or with Stop
	return f
}

type filtered struct {
	from    watch.Interface
	events  chan watch.Event
	once    sync.Once
	stopped chan struct{}
}

func (f *filtered) run(keep func(watch.Event) (watch.Event, bool)) {
	defer close(f.events)
	for event := range f.from.ResultChan() {
		event, ok := keep(event)
		if !ok {
			continue
		}
		select {
		case f.events <- event:
		case <-f.stopped:
			return
		}
	}
}

// ResultChan implements watch.Interface.
func (f *filtered) ResultChan() <-chan watch.Event { return f.events }

// Stop implements watch.Interface.
func (f *filtered) Stop() {
	f.once.Do(func() {
		close(f.stopped)
		f.from.Stop()
	})
}
