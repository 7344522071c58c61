package config

import (
	"reflect"
	"strings"
)

// valueAt returns the field of c at the path of a key; the zero Value if there
// is none, which a test rules out for all keys.
func valueAt(c *Config, path string) reflect.Value {
	v := reflect.ValueOf(c).Elem()
	for part := range strings.SplitSeq(path, ".") {
		if v = fieldByKey(v, part); !v.IsValid() {
			return v
		}
	}
	return v
}

func fieldByKey(v reflect.Value, name string) reflect.Value {
	for i := range v.NumField() {
		if v.Type().Field(i).Tag.Get("json") == name {
			return v.Field(i)
		}
	}
	return reflect.Value{}
}
