package controllers

// nodeConstructors are those of the set nodes.
func nodeConstructors() map[string]constructor { return map[string]constructor{} }
