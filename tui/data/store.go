package data

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
)

// id is what an object of a feed is known by. A server that was started anew gives
// other UIDs, so they are no part of it.
type id struct{ namespace, name string }

func idOf(object kinds.Object) id { return id{object.GetNamespace(), object.GetName()} }

// store has the objects of one feed. What changes is kept aside until the objects
// are asked for; then one new slice is made, however many changes there were. A
// slice that was handed out never changes.
type store struct {
	// keep is how many entries of a log are kept, the oldest go first, and what the
	// server forgets stays until then; 0 is a set of objects, which come and go.
	keep int
	// objects are in order.
	objects []kinds.Object
	// revision changes with objects.
	revision uint64
	// place is where new ones go; nil is behind the others.
	place func(a, b kinds.Object) int
	// pending are the changes since then, nil for what is gone; order is that in
	// which they came.
	pending map[id]kinds.Object
	order   []id
}

// set keeps an object, new or changed.
func (s *store) set(object kinds.Object) { s.change(idOf(object), object) }

// remove forgets an object. Entries of a log stay: that the server forgets them is
// no news.
func (s *store) remove(object kinds.Object) {
	if s.keep == 0 {
		s.change(idOf(object), nil)
	}
}

func (s *store) change(key id, object kinds.Object) {
	if s.pending == nil {
		s.pending = map[id]kinds.Object{}
	}
	if _, known := s.pending[key]; !known {
		s.order = append(s.order, key)
	}
	s.pending[key] = object
	if s.keep > 0 && len(s.order) > s.keep { // nobody looks: they must not pile up
		s.fold()
	}
}

// replace makes a list the objects. Those that are as they were keep their place in
// memory; where all are, nothing has changed.
func (s *store) replace(objects []kinds.Object) {
	if s.keep > 0 {
		for _, object := range objects {
			s.set(object)
		}
		return
	}
	s.fold()
	before := make(map[id]kinds.Object, len(s.objects))
	for _, object := range s.objects {
		before[idOf(object)] = object
	}
	next := make([]kinds.Object, len(objects))
	changed := len(objects) != len(s.objects)
	for i, object := range objects {
		if known, ok := before[idOf(object)]; ok && same(known, object) {
			object = known
		}
		next[i] = object
		changed = changed || s.objects[i] != object
	}
	s.place = placing(next)
	if changed {
		s.objects = next
		s.revision++
	}
}

// all returns the objects as they are now.
func (s *store) all() []kinds.Object {
	s.fold()
	return s.objects
}

// fold brings the pending changes into a new slice.
func (s *store) fold() {
	if len(s.order) == 0 {
		return
	}
	next := make([]kinds.Object, 0, len(s.objects)+len(s.order))
	changed := false
	for _, object := range s.objects {
		after, pending := s.pending[idOf(object)]
		switch {
		case !pending || after == object:
			next = append(next, object)
		case after == nil:
			changed = true
		default:
			next, changed = append(next, after), true
		}
		if pending {
			delete(s.pending, idOf(object))
		}
	}
	var added []kinds.Object
	for _, key := range s.order {
		if object := s.pending[key]; object != nil {
			added = append(added, object)
		}
	}
	clear(s.pending)
	s.order = s.order[:0]
	if len(added) == 0 && !changed {
		return
	}
	next = s.inserted(next, added)
	if s.keep > 0 && len(next) > s.keep {
		next = slices.Clone(next[len(next)-s.keep:]) // the oldest are to be freed
	}
	s.objects = next
	s.revision++
}

// inserted puts new objects where they belong.
func (s *store) inserted(objects, added []kinds.Object) []kinds.Object {
	if s.place == nil || len(added) == 0 {
		return append(objects, added...)
	}
	slices.SortStableFunc(added, s.place)
	merged := make([]kinds.Object, 0, len(objects)+len(added))
	for _, object := range added {
		at, _ := slices.BinarySearchFunc(objects, object, func(each, object kinds.Object) int {
			if s.place(each, object) <= 0 {
				return -1 // behind its equals
			}
			return 1
		})
		merged = append(append(merged, objects[:at]...), object)
		objects = objects[at:]
	}
	return append(merged, objects...)
}

// same tells whether an object is as it was. What has a version is not looked at
// any closer.
func same(a, b kinds.Object) bool {
	if version := a.GetResourceVersion(); version != "" && b.GetResourceVersion() != "" {
		return version == b.GetResourceVersion() && a.GetUID() == b.GetUID()
	}
	return reflect.DeepEqual(a, b)
}

// placing finds out what a list is ordered by: a place of their own (spec.order) or
// their keys. Of any other order nil is returned: what is new comes last.
func placing(objects []kinds.Object) func(a, b kinds.Object) int {
	for _, place := range []func(a, b kinds.Object) int{byOrder, byKey} {
		if slices.IsSortedFunc(objects, place) {
			return place
		}
	}
	return nil
}

// byOrder compares spec.order, then the keys.
func byOrder(a, b kinds.Object) int {
	return cmp.Or(cmp.Compare(order(a), order(b)), byKey(a, b))
}

// byKey compares as the store's keys do: namespace, slash, name.
func byKey(a, b kinds.Object) int {
	if one, other := a.GetNamespace(), b.GetNamespace(); one != other {
		return strings.Compare(one+"/", other+"/")
	}
	return strings.Compare(a.GetName(), b.GetName())
}

// order is spec.order; 0 where an object has none.
func order(object kinds.Object) int64 {
	value := reflect.Indirect(reflect.ValueOf(object))
	for _, name := range []string{"Spec", "Order"} {
		if value.Kind() != reflect.Struct {
			return 0
		}
		value = value.FieldByName(name)
	}
	if !value.IsValid() || !value.CanInt() {
		return 0
	}
	return value.Int()
}
