// Package joined puts together what belongs together: a definition with its
// history and its objects, an APIService with its probe, a server with everything
// on one screen. The joins are pure functions of what an inspection.Server returns
// and of a time; the loaders ask such a server, side by side where they can, and
// join. A part that can't be had never fails the whole: it is named in Missing.
//
// It prints nothing and keeps nothing. It may import the packages of inspection,
// the API types and apimachinery.
package joined

import (
	"encoding"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Severity is how bad something is. Worse is greater.
type Severity int

// The severities.
const (
	// OK needs nobody.
	OK Severity = iota
	// Warning works, but somebody should look at it.
	Warning
	// Bad does not work.
	Bad
)

var (
	_ encoding.TextMarshaler   = Severity(0)
	_ encoding.TextUnmarshaler = (*Severity)(nil)
)

// String returns ok, warning or bad.
func (s Severity) String() string { return [...]string{OK: "ok", Warning: "warning", Bad: "bad"}[s] }

// MarshalText implements encoding.TextMarshaler.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Severity) UnmarshalText(text []byte) error {
	for _, severity := range []Severity{OK, Warning, Bad} {
		if severity.String() == string(text) {
			*s = severity
			return nil
		}
	}
	return fmt.Errorf("reading a severity: %q is none", text)
}

// State sums up an object in one word.
type State struct {
	// Word is what it is: "Established", "NamesConflict", "Unavailable".
	Word string `json:"word"`
	// Severity is how bad that is.
	Severity Severity `json:"severity"`
	// Why is the reason of anything but OK, a clause.
	Why string `json:"why,omitempty"`
	// Since is when it came into this state; zero if that is not known.
	Since time.Time `json:"since,omitzero"`
}

// Elapsed is how long something took, as exactly as that is known.
type Elapsed struct {
	// Duration is the time that it took, or one that it took less than.
	Duration metav1.Duration `json:"duration"`
	// AtMost says that only a bound is known: the times that the object itself holds
	// are whole seconds, and hide what happened in between.
	AtMost bool `json:"atMost,omitempty"`
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
