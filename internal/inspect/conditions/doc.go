// Package conditions tells how the conditions of CustomResourceDefinitions,
// APIServices and Namespaces came about: each change of one (ConditionTransition), and for
// APIServices the way to their server, tried step by step (APIServiceProbe).
//
// It looks at informers that it is given, and decides nothing: upstream's
// controllers set the conditions. Its probes are requests of its own, beside
// those of upstream's controller, which says only whether all went well.
//
// It imports the inspect API, inspect/store, client-go, and upstream's types.
package conditions
