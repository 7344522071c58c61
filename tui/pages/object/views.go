package object

import (
	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/tui/ink"
)

// view is a way to look at one object.
type view int

// The views, in the order in which tab goes through them.
const (
	yamlView view = iota
	describeView
	etcdView
	views
)

// name is the view's in a location.
func (v view) name() string { return [...]string{"yaml", "describe", "etcd"}[v] }

// title is the view's on the screen.
func (v view) title() string { return [...]string{"YAML", "Describe", "Etcd"}[v] }

// viewOf reads a view; empty is YAML.
func viewOf(name string) (view, error) {
	if name == "" {
		return yamlView, nil
	}
	for v := yamlView; v < views; v++ {
		if v.name() == name {
			return v, nil
		}
	}
	return 0, fault.WithHint(fault.Usagef("view %q is not known", name), "take yaml, describe or etcd")
}

// tabs is a line with all views, the one that is shown in brackets.
func tabs(shown view) ink.Line {
	var line ink.Line
	for v := yamlView; v < views; v++ {
		if v == shown {
			line = append(line, ink.T(ink.Accent, "["), ink.T(ink.Title, v.title()), ink.T(ink.Accent, "] "))
		} else {
			line = append(line, ink.T(ink.Muted, " "+v.title()+"  "))
		}
	}
	return append(line, ink.T(ink.Muted, "(tab)"))
}
