package requests

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/inspect/store"
)

// Layer describes one layer of the server chain. The functions are called at each
// collection and may be nil; what they return is not changed.
type Layer struct {
	// Name is what Observer.Hop is called with.
	Name string
	// GroupVersions are the group versions that the layer serves itself ("v1", "apps/v1").
	GroupVersions func() []string
	// ListedPaths are the paths that the layer lists at /.
	ListedPaths func() []string
	// WebServices are the root paths of its REST services.
	WebServices func() []string
	// Conditions are shown as they are; the type Healthy is expected.
	Conditions func() []metav1.Condition
}

// maxStatus is above every status that net/http lets a handler write.
const maxStatus = 1000

// layer is a layer with its counts. Each request that is received is later counted
// in one of passedOn, answers and abandoned.
type layer struct {
	Layer
	received, passedOn, abandoned, proxied atomic.Int64
	answers                                [maxStatus]atomic.Int64
	lastError                              atomic.Pointer[layerError]
}

// layerError is the last answer that told of a fault.
type layerError struct {
	at      time.Time
	code    int
	auditID string
}

// answered counts a request that the layer has answered itself.
func (l *layer) answered(t *trace) {
	status := t.record.Status()
	l.answers[min(max(status, 0), maxStatus-1)].Add(1)
	if t.connected || (t.address != "" && t.record.Upgraded()) {
		l.proxied.Add(1)
	}
	if status >= http.StatusInternalServerError {
		l.lastError.Store(&layerError{at: t.record.Start().Add(t.record.Duration()), code: status, auditID: t.auditID})
	}
}

// status reads the counts. Outcomes are read before what was received, so that the
// number in flight, which is the difference, is never negative.
func (l *layer) status() v1alpha1.ServerLayerStatus {
	status := v1alpha1.ServerLayerStatus{
		RequestsPassedOn: l.passedOn.Load(), RequestsAbandoned: l.abandoned.Load(), RequestsProxied: l.proxied.Load(),
	}
	for code := range l.answers {
		if n := l.answers[code].Load(); n > 0 {
			status.RequestsAnswered += n
			status.Answers = append(status.Answers, v1alpha1.StatusCount{Code: int32(code), Count: n})
		}
	}
	status.RequestsReceived = l.received.Load()
	status.RequestsInFlight = status.RequestsReceived - status.RequestsPassedOn - status.RequestsAbandoned - status.RequestsAnswered
	if last := l.lastError.Load(); last != nil {
		status.LastError = &v1alpha1.LayerError{At: metav1.NewMicroTime(last.at), Code: int32(last.code), AuditID: last.auditID}
	}
	return status
}

// Layers collects the ServerLayers, outermost first.
func (o *Observer) Layers(context.Context) ([]store.Object, error) {
	objects := make([]store.Object, 0, len(o.layers))
	for i, l := range o.layers {
		object := &v1alpha1.ServerLayer{ServerID: o.cfg.ServerID, Status: l.status()}
		object.Name = l.Name
		object.Spec = v1alpha1.ServerLayerSpec{
			Order: int32(i), GroupVersions: ask(l.GroupVersions),
			ListedPaths: ask(l.ListedPaths), WebServices: ask(l.WebServices),
		}
		if i+1 < len(o.layers) {
			object.Spec.Delegate = o.layers[i+1].Name
		}
		object.Status.Conditions = ask(l.Conditions)
		objects = append(objects, object)
	}
	return objects, nil
}

func ask[T any](question func() []T) []T {
	if question == nil {
		return nil
	}
	return question()
}
