package requests

import (
	"net/http"
	"testing"
	"time"

	genericapiserver "k8s.io/apiserver/pkg/server"
	utilflowcontrol "k8s.io/apiserver/pkg/util/flowcontrol"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
)

// The real controller, which knows the mandatory objects before it has synced.
func TestFlowSchemaAndPriorityLevel(t *testing.T) {
	f := start(t, nil, func(_ *Config, c *genericapiserver.Config) {
		client := fake.NewClientset()
		c.FlowControl = utilflowcontrol.New(informers.NewSharedInformerFactory(client, 0), client.FlowcontrolV1(), 10)
		c.RequestTimeout = time.Minute
	})
	for _, path := range []string{"/api/v1/pods", "/api/v1/pods?watch=1", "/api/v1/namespaces/default/pods/broken"} {
		s := f.traced(t, http.MethodGet, "alice", path, "").Status
		if s.FlowSchema != "catch-all" || s.PriorityLevel != "catch-all" {
			t.Errorf("%s is in flow schema %q, level %q", path, s.FlowSchema, s.PriorityLevel)
		}
	}
	if s := f.traced(t, http.MethodGet, "bob", "/api/v1/pods", "").Status; s.PriorityLevel != "catch-all" {
		t.Errorf("a refused request is in level %q", s.PriorityLevel)
	}
	if s := f.traced(t, http.MethodGet, "bad", "/api/v1/pods", "").Status; s.PriorityLevel != "" {
		t.Errorf("a request without a user is in level %q", s.PriorityLevel)
	}
	users := f.observer.FlowUsers("catch-all")
	if len(users) != 2 || users[0].Name != "alice" || users[0].Requests != 3 || users[1].Name != "bob" {
		t.Errorf("users are %v", users)
	}
	if users := f.observer.FlowUsers("exempt"); len(users) != 0 {
		t.Errorf("users of another level are %v", users)
	}
	if f.observer.FlowControl(nil) != nil {
		t.Error("no flow control has become one")
	}
}
