package joined

import (
	"context"
	"errors"
	"time"
)

// silence is how long a part of an overview may say nothing before the rest is
// shown without it. The server's own limit, a minute, is none for a person who
// wants to know what hangs: lists go to etcd, and wait for it.
const silence = 10 * time.Second

var errSilent = errors.New("no answer after " + silence.String())

// patient returns a context that ends when heard was not called for a time, and
// what releases it. Its cause is errSilent then.
func patient(ctx context.Context) (listening context.Context, heard, done func()) {
	listening, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(silence, func() { cancel(errSilent) })
	return listening, func() { timer.Reset(silence) }, func() {
		timer.Stop()
		cancel(nil)
	}
}

// explained returns the cause of an error that the end of ctx has brought about.
func explained(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), errSilent) {
		return errSilent
	}
	return err
}
