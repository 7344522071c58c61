package poll

import (
	"fmt"
	"slices"
	"strconv"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
)

// remembered is how many lists of a resource a Memory keeps. A watch follows its
// list at once, so few are needed: one for each that is under way.
const remembered = 4

// Memory keeps the last lists of each resource, so that a watch can go on from one.
// The zero value is ready to use; it is safe for concurrent use.
type Memory struct {
	mu    sync.Mutex
	next  uint64
	lists map[string][]list // by resource, the oldest first
}

type list struct {
	version  string
	snapshot Snapshot
}

// Remember keeps a list of a resource and returns the resourceVersion that it is
// recalled by.
func (m *Memory) Remember(resource string, objects []kinds.Object) (string, error) {
	snapshot, err := Of(objects)
	if err != nil {
		return "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lists == nil {
		m.lists = map[string][]list{}
	}
	m.next++
	version := strconv.FormatUint(m.next, 10)
	lists := m.lists[resource]
	lists = append(lists, list{version: version, snapshot: snapshot})
	if len(lists) > remembered {
		lists = slices.Clone(lists[1:]) // the oldest is to be forgotten, not only out of sight
	}
	m.lists[resource] = lists
	return version, nil
}

// Recall returns the list of a resource that a resourceVersion stands for. Of ""
// and "0" it is an empty one: a watch from there begins with all objects, as the API
// has it. A list that is no longer remembered is an error for which
// apierrors.IsResourceExpired holds.
func (m *Memory) Recall(resource, version string) (Snapshot, error) {
	if version == "" || version == "0" {
		return Snapshot{}, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, known := range m.lists[resource] {
		if known.version == version {
			return known.snapshot, nil
		}
	}
	return Snapshot{}, apierrors.NewResourceExpired(fmt.Sprintf("the list of resourceVersion %q is no longer known; list again", version))
}
