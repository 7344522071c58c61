package conditions

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/inspect/store"
)

// maxText is how many runes of a message are kept: conditions are written by
// whoever may, and the history is bounded.
const maxText = 1024

// entry is one transition in the history.
type entry struct {
	name     string
	serverID string
	spec     v1alpha1.ConditionTransitionSpec
	// served is spec.timeToServed, in nanoseconds; 0 until it is known. It is the
	// one thing that an entry learns later: readers of the history see it here,
	// watchers are told by an entry of its own.
	served atomic.Int64
}

// entry makes the next one; the lock is held.
func (t *Transitions) entry(key objectKey, uid, kind string, at time.Time) *entry {
	t.count++
	return &entry{
		name:     fmt.Sprintf("%s.%s.%d", key.name, strings.ToLower(kind), t.count),
		serverID: t.config.ServerID,
		spec:     v1alpha1.ConditionTransitionSpec{Object: object(key, uid), Type: kind, At: metav1.NewMicroTime(at)},
	}
}

// Name implements store.Entry.
func (e *entry) Name() string { return e.name }

// Object implements store.Entry.
func (e *entry) Object() store.Object {
	transition := &v1alpha1.ConditionTransition{
		ObjectMeta: metav1.ObjectMeta{
			Name: e.name, UID: types.UID(e.name), CreationTimestamp: metav1.NewTime(e.spec.At.Time).Rfc3339Copy(),
		},
		ServerID: e.serverID,
		Spec:     *e.spec.DeepCopy(),
	}
	if served := e.served.Load(); served > 0 {
		transition.Spec.TimeToServed = &metav1.Duration{Duration: time.Duration(served)}
	}
	return transition
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// cut keeps the beginning of a text.
func cut(text string) string {
	if len(text) <= maxText { // bytes: never fewer than runes
		return text
	}
	if runes := []rune(text); len(runes) > maxText {
		return string(runes[:maxText]) + "…"
	}
	return text
}
