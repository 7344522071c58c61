package boot

import (
	"fmt"
	"os"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/util/compatibility"
	"k8s.io/client-go/rest"

	inspect "github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// fileName is that of the file of starts.
const fileName = "boots.json"

// childEnv names what a process that a test has started shall do; see child_test.go.
const childEnv = "KAPI_BOOT_TEST_CHILD"

func TestMain(m *testing.M) {
	if role := os.Getenv(childEnv); role != "" {
		if err := runChild(role); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// newServer makes a real server that serves nothing but health checks.
func newServer(name string, delegate genericapiserver.DelegationTarget, configure func(*genericapiserver.Config)) (*genericapiserver.GenericAPIServer, error) {
	config := genericapiserver.NewConfig(serializer.NewCodecFactory(runtime.NewScheme()))
	config.ExternalAddress = "127.0.0.1:443"
	config.LoopbackClientConfig = &rest.Config{}
	config.EffectiveVersion = compatibility.DefaultBuildEffectiveVersion()
	config.FlowControl = nil
	if configure != nil {
		configure(config)
	}
	return config.Complete(nil).New(name, delegate)
}

// newLayers makes two servers, the outer one delegating to the inner one. Each of
// the functions may add hooks to its server.
func newLayers(inner, outer func(*genericapiserver.GenericAPIServer) error) ([]Layer, error) {
	innerServer, err := newServer("inner", genericapiserver.NewEmptyDelegate(), nil)
	if err != nil {
		return nil, err
	}
	if err := inner(innerServer); err != nil {
		return nil, err
	}
	outerServer, err := newServer("outer", innerServer, func(c *genericapiserver.Config) {
		c.AddPostStartHookOrDie("configured", func(genericapiserver.PostStartHookContext) error { return nil })
	})
	if err != nil {
		return nil, err
	}
	if err := outer(outerServer); err != nil {
		return nil, err
	}
	return []Layer{{"outer", outerServer}, {"inner", innerServer}}, nil
}

func mustLayers(t *testing.T, inner, outer func(*genericapiserver.GenericAPIServer) error) []Layer {
	t.Helper()
	layers, err := newLayers(inner, outer)
	if err != nil {
		t.Fatal(err)
	}
	return layers
}

// nothing adds no hook.
func nothing(*genericapiserver.GenericAPIServer) error { return nil }

// hooksNow returns the PostStartHooks by name.
func hooksNow(t *testing.T, h *Hooks) map[string]*inspect.PostStartHook {
	t.Helper()
	objects, err := h.Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]*inspect.PostStartHook{}
	for _, object := range objects {
		byName[object.GetName()] = object.(*inspect.PostStartHook)
	}
	return byName
}

// await calls until until it is true.
func await(t *testing.T, what string, until func() bool) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for !until() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}
