// Package fault gives errors the two things a person at a prompt needs beside
// the text: the way out, and the exit code. It is not a general error library,
// and it imports only the standard library.
package fault

import (
	"errors"
	"fmt"
)

// Exit codes of kapi.
const (
	// CodeFailure is the exit code of a command that could not do its work.
	CodeFailure = 1
	// CodeUsage is the exit code of input that can't be accepted: a wrong flag,
	// key, value or file. Nothing has been changed when it is returned.
	CodeUsage = 2
	// CodeUnhealthy is the exit code of a command that was asked to tell by it
	// whether what it shows is well (--exit-status), and it is not.
	CodeUnhealthy = 3
	// CodeUnauthorized is the exit code where the server refused: credentials that
	// it does not know, or something that they do not allow.
	CodeUnauthorized = 4
	// CodeInterrupted is the exit code after an interrupt, as shells give it.
	CodeInterrupted = 130
)

type hinted struct {
	err  error
	hint string
}

func (h *hinted) Error() string { return h.err.Error() }
func (h *hinted) Unwrap() error { return h.err }

// WithHint returns err with the way out attached: one sentence, what the user
// can do next. A nil err stays nil.
func WithHint(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return &hinted{err: err, hint: fmt.Sprintf(format, args...)}
}

// Hint returns the outermost hint of err's chain, or "".
func Hint(err error) string {
	var h *hinted
	if errors.As(err, &h) {
		return h.hint
	}
	return ""
}

type coded struct {
	err  error
	code int
}

func (c *coded) Error() string { return c.err.Error() }
func (c *coded) Unwrap() error { return c.err }

// Usage marks err as bad input: exit code 2. A nil err stays nil.
func Usage(err error) error { return WithCode(err, CodeUsage) }

// Usagef formats an error and marks it as bad input: exit code 2.
func Usagef(format string, args ...any) error { return Usage(fmt.Errorf(format, args...)) }

// WithCode attaches an exit code to err. A nil err stays nil.
func WithCode(err error, code int) error {
	if err == nil {
		return nil
	}
	return &coded{err: err, code: code}
}

// Code returns the exit code for err: 0 for nil, the outermost attached code,
// and CodeFailure where there is none.
func Code(err error) int {
	if err == nil {
		return 0
	}
	var c *coded
	if errors.As(err, &c) {
		return c.code
	}
	return CodeFailure
}
