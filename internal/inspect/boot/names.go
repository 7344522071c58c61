package boot

import (
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// uniqueNames makes names of objects out of names that may hold slashes.
type uniqueNames map[string]int

func (u uniqueNames) of(name string) string {
	name = objectName(name)
	u[name]++
	if n := u[name]; n > 1 {
		return u.of(name + "-" + strconv.Itoa(n))
	}
	return name
}

// objectName turns a name into one that can be part of a path.
func objectName(name string) string {
	return strings.NewReplacer("/", "-", "%", "-", " ", "-").Replace(name)
}

func microTime(t time.Time) *metav1.MicroTime {
	if t.IsZero() {
		return nil
	}
	stamp := metav1.NewMicroTime(t)
	return &stamp
}

// span is the time between two moments, up to now when the second has not come.
func span(from, to, now time.Time) time.Duration {
	if from.IsZero() {
		return 0
	}
	if to.IsZero() {
		to = now
	}
	return max(to.Sub(from), 0)
}

func call(f func() string) string {
	if f == nil {
		return ""
	}
	return f()
}
