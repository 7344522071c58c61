package config

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Duration is a time.Duration written as Go writes it: "30s", "1m30s".
type Duration time.Duration

// Std returns d as a time.Duration.
func (d Duration) Std() time.Duration { return time.Duration(d) }

// String returns d as time.Duration does.
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText returns String.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what time.ParseDuration reads; a bare number has no unit
// and is an error.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("parsing duration: %w", err)
	}
	*d = Duration(v)
	return nil
}

// Bytes is a number of bytes, written as a resource quantity ("8Gi", "500M") or
// as a plain number.
type Bytes int64

// quantityForm is the part of the quantity syntax that makes sense for bytes.
// It is narrow on purpose: exponents such as 1e-999999999 are valid quantities
// that cost seconds of arithmetic.
var quantityForm = regexp.MustCompile(`^[0-9]{1,19}(\.[0-9]{1,9})?(Ki|Mi|Gi|Ti|Pi|k|M|G|T|P)?$`)

// String returns the shortest exact form: the largest binary unit that divides
// b, or the plain number.
func (b Bytes) String() string {
	units := []struct {
		suffix string
		size   Bytes
	}{{"Pi", 1 << 50}, {"Ti", 1 << 40}, {"Gi", 1 << 30}, {"Mi", 1 << 20}, {"Ki", 1 << 10}}
	for _, u := range units {
		if b != 0 && b%u.size == 0 {
			return strconv.FormatInt(int64(b/u.size), 10) + u.suffix
		}
	}
	return strconv.FormatInt(int64(b), 10)
}

// MarshalText returns String.
func (b Bytes) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText reads a plain number or a quantity that is a whole number of
// bytes below 2^63-1.
func (b *Bytes) UnmarshalText(text []byte) error {
	s := strings.TrimSpace(string(text))
	if !quantityForm.MatchString(s) {
		return fmt.Errorf("parsing quantity %q: want a number with an optional unit (Ki, Mi, Gi, Ti, Pi, k, M, G, T, P)", shorten(s))
	}
	q, err := resource.ParseQuantity(s)
	if err != nil {
		return fmt.Errorf("parsing quantity %q: %w", s, err)
	}
	// Value rounds up: only what compares equal was whole. Too large a quantity
	// has been capped at the largest number by the parser.
	v := q.Value()
	if resource.NewQuantity(v, q.Format).Cmp(q) != 0 || v == math.MaxInt64 {
		return fmt.Errorf("parsing quantity %q: not a whole number of bytes below 2^63-1", s)
	}
	*b = Bytes(v)
	return nil
}
