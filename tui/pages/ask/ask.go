// Package ask is what a page knows of something that it asks a server for once:
// that it is asked, what was answered, or why it was not. It does no I/O itself:
// it makes the effect that does, and takes its answer.
//
// It may import the contract and data, and no page.
package ask

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/page"
)

// Asker is a page that asks for something by itself. The application calls Ask
// when the page is opened and after each frame.
type Asker interface {
	// Ask returns what is to be asked now; the zero Effect if nothing is.
	Ask() page.Effect
}

// Question is something that is asked, and its newest answer. The zero Question
// was never asked. It belongs to one page and is no safer for concurrent use.
type Question[T any] struct {
	asked   int
	waiting bool
	has     bool
	value   T
	err     error
}

// answer is what comes back. It names its question and which time it was asked, so
// that answers to others and those that came too late are told apart.
type answer[T any] struct {
	to    *Question[T]
	asked int
	value T
	err   error
}

// Ask asks, and forgets about an earlier time that is still open. What was answered
// before stays until the new answer is there. A timeout of 0 is the usual one.
func (q *Question[T]) Ask(timeout time.Duration, run func(context.Context) (T, error)) page.Effect {
	q.asked++
	q.waiting = true
	asked := q.asked
	return page.Effect{Timeout: timeout, Run: func(ctx context.Context) any {
		value, err := run(ctx)
		return answer[T]{to: q, asked: asked, value: value, err: err}
	}}
}

// Receive takes an answer; false if it is not one to this question, or one that
// nobody waits for any more. After an error the earlier value stays.
func (q *Question[T]) Receive(given any) bool {
	a, ok := given.(answer[T])
	if !ok || a.to != q || a.asked != q.asked || !q.waiting {
		return false
	}
	q.waiting, q.err = false, a.err
	if a.err == nil {
		q.value, q.has = a.value, true
	}
	return true
}

// Asked tells whether it was asked at all.
func (q *Question[T]) Asked() bool { return q.asked > 0 }

// Waiting tells whether an answer is waited for.
func (q *Question[T]) Waiting() bool { return q.waiting }

// Value is the newest answer; false where there is none.
func (q *Question[T]) Value() (T, bool) { return q.value, q.has }

// Err is why the newest answer is none; nil while one is waited for.
func (q *Question[T]) Err() error {
	if q.waiting {
		return nil
	}
	return q.err
}

// View is how it stands, in the words of a feed: it loads, is forbidden, fails, is
// not there. It has no objects.
func (q *Question[T]) View() data.View {
	switch {
	case q.waiting || q.asked == 0:
		return data.View{State: data.Loading}
	case q.err != nil:
		return data.View{State: State(q.err), Err: q.err}
	default:
		return data.View{State: data.Live, Objects: []kinds.Object{}}
	}
}

// State is the state that an error of a server stands for.
func State(err error) data.State {
	switch {
	case err == nil:
		return data.Live
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return data.Forbidden
	case apierrors.IsNotFound(err), apierrors.IsMethodNotSupported(err):
		return data.Absent
	default:
		return data.Failed
	}
}
