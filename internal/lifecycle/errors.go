package lifecycle

import (
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// StartError says which component could not be started. The cause, and a hint
// in it, are found by errors.As and fault.Hint.
type StartError struct {
	Component string
	Err       error
}

func (e *StartError) Error() string { return fmt.Sprintf("starting %s: %v", e.Component, e.Err) }

// Unwrap returns the cause.
func (e *StartError) Unwrap() error { return e.Err }

// FailedError says which component failed while it ran.
type FailedError struct {
	Component string
	Err       error
}

func (e *FailedError) Error() string { return fmt.Sprintf("running %s: %v", e.Component, e.Err) }

// Unwrap returns the cause.
func (e *FailedError) Unwrap() error { return e.Err }

// StopError says which component did not stop cleanly.
type StopError struct {
	Component string
	Err       error
}

func (e *StopError) Error() string { return fmt.Sprintf("stopping %s: %v", e.Component, e.Err) }

// Unwrap returns the cause.
func (e *StopError) Unwrap() error { return e.Err }

// TimeoutError is the cause where a Start or Stop did not return in time.
type TimeoutError struct {
	After time.Duration
}

func (e *TimeoutError) Error() string { return fmt.Sprintf("not done after %v", e.After) }

// PanicError is the cause where a Start or Stop panicked.
type PanicError struct {
	Value any
	// Stack is for a debug log; the text of the error doesn't hold it.
	Stack string
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap returns the panic's value where it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

var (
	errGoexit  = errors.New("its goroutine ended without a result")
	errNilFail = errors.New("it ended without saying why")
)

// guard calls f and gives its outcome to report exactly once, whether f
// returns, panics, or ends the goroutine.
func guard(f func() error, report func(error)) {
	err := errGoexit
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: string(debug.Stack())}
		}
		report(err)
	}()
	err = f()
}

// join returns nil, the only error, or all of them in one.
func join(errs []error) error {
	if len(errs) == 1 {
		return errs[0]
	}
	return errors.Join(errs...)
}
