// Package globals holds what the server packages keep in process-wide
// variables, and is the only package of kapi that changes them: feature gates
// and emulated versions, klog, the warning handler, metric registries.
//
// Everything here acts on the process: a second server in the same process
// shares it. Nothing is registered on import, except that the metric providers
// of workqueues and clients can only be linked.
package globals

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/util/compatibility"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/rest"
	logsapi "k8s.io/component-base/logs/api/v1"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"   // client-go's metrics
	_ "k8s.io/component-base/metrics/prometheus/restclient" // those of REST clients
	_ "k8s.io/component-base/metrics/prometheus/version"    // kubernetes_build_info
	_ "k8s.io/component-base/metrics/prometheus/workqueue"  // those of work queues

	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/internal/logging"
)

// registerLogGates makes the feature gates of logging known, as kube-apiserver
// does: --feature-gates may name them. A second registration would fail.
var registerLogGates = sync.OnceValue(func() error {
	return logsapi.AddFeatureGates(utilfeature.DefaultMutableFeatureGate)
})

// Prepare makes the process ready for the flags of kube-apiserver to be
// defined. It may be called more than once.
func Prepare() error {
	if err := registerLogGates(); err != nil {
		return fmt.Errorf("registering feature gates: %w", err)
	}
	return nil
}

// InstallLogging sends the lines of klog and of the log package to logs, and silences the warnings
// that the server's own clients get from the server. Call it before anything
// else runs: klog must not be in use meanwhile.
func InstallLogging(logs *logging.Logs) error {
	if err := logs.KlogSink().Install(); err != nil {
		return fmt.Errorf("installing klog: %w", err)
	}
	rest.SetDefaultWarningHandler(rest.NoWarnings{})
	// What net/http and golang.org/x/net/http2 print goes through the log package:
	// errors of connections, and panics of handlers.
	slog.SetLogLoggerLevel(slog.LevelError)
	slog.SetDefault(logs.Logger().With(logging.KeyComponent, "http"))
	return nil
}

// ApplyFeatureGates puts --feature-gates, --emulated-version and
// --min-compatibility-version into force. Call it after flags have been set and
// before options are completed; nothing that reads a gate may run earlier.
func ApplyFeatureGates() error {
	registry := compatibility.DefaultComponentGlobalsRegistry
	if err := registry.Set(); err != nil {
		return fault.Usage(fmt.Errorf("applying feature gates: %w", err))
	}
	utilfeature.DefaultMutableFeatureGate.AddMetrics()
	registry.AddMetrics()
	return nil
}

// OnPanic adds a handler that is called for each panic that upstream catches in a
// goroutine of its own, before the process ends of it or goes on. It must come
// before such goroutines are started.
func OnPanic(handler func(ctx context.Context, value any)) {
	utilruntime.PanicHandlers = append(utilruntime.PanicHandlers, handler)
}

// OnError puts a handler in front of the one that logs errors that upstream does no
// more about (utilruntime.HandleError and its like). If it returns true, it has
// logged the error itself. It must come before anything runs that has such errors.
func OnError(handler func(ctx context.Context, err error, message string, values ...any) (logged bool)) {
	logs := utilruntime.ErrorHandlers[0]
	utilruntime.ErrorHandlers[0] = func(ctx context.Context, err error, message string, values ...any) {
		if !handler(ctx, err, message, values...) {
			logs(ctx, err, message, values...)
		}
	}
}
