package data

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// player is a watch of a recording. It implements watch.Interface.
type player struct {
	cancel context.CancelFunc
	events chan watch.Event
	work   sync.WaitGroup
}

// ResultChan implements watch.Interface.
func (p *player) ResultChan() <-chan watch.Event { return p.events }

// Stop implements watch.Interface.
func (p *player) Stop() {
	p.cancel()
	p.work.Wait()
}

// run plays changes until one comes that a list tells of.
func (p *player) run(ctx context.Context, r *Replay, key Key, lines []played) {
	defer close(p.events)
	for _, line := range lines {
		select {
		case <-time.After(line.at - r.elapsed()):
		case <-ctx.Done():
			return
		}
		event := watch.Event{Type: watch.Error, Object: listNow()}
		if line.line.Event != "" {
			object, err := r.object(key, line, line.line.Object)
			if err == nil {
				event = watch.Event{Type: line.line.Event, Object: object}
			}
		}
		select {
		case p.events <- event:
		case <-ctx.Done():
			return
		}
		if event.Type == watch.Error {
			return
		}
	}
	<-ctx.Done()
}

// atOnceReason is the reason of a watch's error that asks for a list without delay.
const atOnceReason metav1.StatusReason = "ListAtOnce"

func listNow() *metav1.Status {
	return &metav1.Status{Status: metav1.StatusFailure, Reason: atOnceReason, Message: "a list follows"}
}
