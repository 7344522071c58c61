//go:build kapifaults

package chain

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	genericapiserver "k8s.io/apiserver/pkg/server"
)

// addFaults makes a server go wrong in the ways that the variable FAULTS names,
// separated by commas, and serves two paths that do. Tests use it to see that what
// is wrong is shown; no release is built with it.
func addFaults(server *genericapiserver.GenericAPIServer, c *configs) error {
	server.Handler.NonGoRestfulMux.HandleFunc("/faults/panic", func(http.ResponseWriter, *http.Request) {
		panic("a fault of the test")
	})
	server.Handler.NonGoRestfulMux.HandleFunc("/faults/hang", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	for name := range strings.SplitSeq(os.Getenv("FAULTS"), ",") {
		hook, ok := faultyHooks[name]
		if !ok {
			continue
		}
		// Both ways in which hooks are watched: by ours around it, and from outside.
		if !strings.HasPrefix(name, "foreign-") {
			hook = c.inspector.Hooks().Func(LayerKubeAPIServer, "fault-"+name, hook)
		}
		if err := server.AddPostStartHook("fault-"+name, hook); err != nil {
			return fmt.Errorf("adding fault %s: %w", name, err)
		}
	}
	return nil
}

var faultyHooks = map[string]genericapiserver.PostStartHookFunc{
	"hang": hang, "foreign-hang": foreignHang,
	"fail": fail, "foreign-fail": fail,
	"panic": func(genericapiserver.PostStartHookContext) error { panic("a hook that panics") },
}

func hang(ctx genericapiserver.PostStartHookContext) error {
	<-ctx.Done()
	return nil
}

func foreignHang(ctx genericapiserver.PostStartHookContext) error {
	<-ctx.Done()
	return nil
}

func fail(genericapiserver.PostStartHookContext) error {
	time.Sleep(time.Second) // so that other hooks have come to something
	return errors.New("a fault of the test")
}
