// Package metrics gives what inspect.kapi.dev shows as Prometheus metrics too,
// under /metrics with the prefix kapi_.
//
// It counts nothing itself: when Prometheus asks, it reads the same collectors that
// fill the API objects. Names, units and stability follow component-base
// (k8s.io/component-base/metrics): base units, _total for counters, all ALPHA.
// The number of series is bounded by the number of filters, layers, hooks, controllers
// and members, and for conditions by a limit.
//
// It may import component-base's metrics, client_golang, the API types,
// internal/histogram and internal/inspect/store.
package metrics
