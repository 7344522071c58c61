package auth

import (
	"reflect"
	"sync/atomic"
	"unsafe"

	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/union"
)

// Upstream puts its authenticators and authorizers together in functions that
// also watch their files, and returns the whole. The parts are in fields that
// have no accessor. They are reached here by name and exact type, or not at all:
// whoever asks must do without when a field is not what it was. The tests of
// package configured hold the names to the pinned version.

// elements returns the exported slice field of the struct that p points to. It
// shares its elements with the struct.
func elements[T any](p any, name string) ([]T, bool) {
	v := reflect.ValueOf(p)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return nil, false
	}
	f := v.Elem().FieldByName(name)
	if !f.IsValid() || !f.CanInterface() {
		return nil, false
	}
	slice, ok := f.Interface().([]T)
	return slice, ok
}

// field returns where a field of the struct that p points to is kept.
func field[T any](p any, name string) (*T, bool) {
	v := reflect.ValueOf(p)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return nil, false
	}
	f := v.Elem().FieldByName(name)
	if !f.IsValid() || f.Type() != reflect.TypeFor[T]() {
		return nil, false
	}
	return (*T)(f.Addr().UnsafePointer()), true
}

// reloadable is the pointer inside upstream's reloadable authorizer that a
// reload replaces. word is loaded for each decision, so it is not read by reflection.
type reloadable struct {
	word *unsafe.Pointer
	at   unsafe.Pointer // the same place
	kind reflect.Type   // atomic.Pointer of an unexported type
}

func reloadableOf(a authorizer.Authorizer) (reloadable, bool) {
	v := reflect.ValueOf(a)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return reloadable{}, false
	}
	f := v.Elem().FieldByName("current")
	if !f.IsValid() || f.Type().PkgPath() != "sync/atomic" || f.Type().Size() != reflect.TypeFor[uintptr]().Size() {
		return reloadable{}, false
	}
	at := f.Addr().UnsafePointer()
	return reloadable{(*unsafe.Pointer)(at), at, f.Type()}, true
}

func (r reloadable) load() unsafe.Pointer { return atomic.LoadPointer(r.word) }

// union returns the authorizer that is in force.
func (r reloadable) union() (authorizer.Authorizer, bool) {
	load := reflect.NewAt(r.kind, r.at).MethodByName("Load")
	if !load.IsValid() {
		return nil, false
	}
	a, ok := field[authorizer.Authorizer](load.Call(nil)[0].Interface(), "authorizer")
	if !ok {
		return nil, false
	}
	return *a, true
}

// chainOf returns the authorizers of a union, in order.
func chainOf(a authorizer.Authorizer) ([]union.NamedAuthorizer, bool) {
	v := reflect.ValueOf(a)
	if v.Kind() != reflect.Struct {
		return nil, false
	}
	f := v.FieldByName("chain")
	if !f.IsValid() || f.Type() != reflect.TypeFor[[]union.NamedAuthorizer]() {
		return nil, false
	}
	chain := make([]union.NamedAuthorizer, f.Len())
	for i := range chain {
		chain[i] = *(*union.NamedAuthorizer)(f.Index(i).Addr().UnsafePointer())
	}
	return chain, true
}
