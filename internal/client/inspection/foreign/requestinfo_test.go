package foreign

import (
	"strings"
	"testing"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/fault"
)

func TestParseRequest(t *testing.T) {
	type info = v1alpha1.RequestInfo
	for _, tc := range []struct {
		verb, path string
		want       info
	}{
		{"GET", "/", info{Verb: "get"}},
		{"get", "/version", info{Verb: "get"}},
		{"POST", "/api/v1", info{Verb: "post"}},
		{"GET", "/apis/apps", info{Verb: "get"}},
		{"GET", "/apis/apps/v1", info{Verb: "get", APIPrefix: "apis"}},
		{"GET", "/healthz/a/b", info{Verb: "get"}},
		{"GET", "/api/v1/pods", info{IsResourceRequest: true, Verb: "list", APIPrefix: "api", APIVersion: "v1", Resource: "pods"}},
		{"HEAD", "/api/v1/pods?watch=true", info{IsResourceRequest: true, Verb: "watch", APIPrefix: "api", APIVersion: "v1", Resource: "pods"}},
		{"GET", "/api/v1/pods?watch=0", info{IsResourceRequest: true, Verb: "list", APIPrefix: "api", APIVersion: "v1", Resource: "pods"}},
		{"watch", "/api/v1/pods", info{IsResourceRequest: true, Verb: "watch", APIPrefix: "api", APIVersion: "v1", Resource: "pods"}},
		{"GET", "/api/v1/watch/pods", info{IsResourceRequest: true, Verb: "watch", APIPrefix: "api", APIVersion: "v1", Resource: "pods"}},
		{"list", "/api/v1/pods?fieldSelector=metadata.name%3Da", info{IsResourceRequest: true, Verb: "list", APIPrefix: "api", APIVersion: "v1", Resource: "pods", Name: "a"}},
		{"GET", "/api/v1/namespaces", info{IsResourceRequest: true, Verb: "list", APIPrefix: "api", APIVersion: "v1", Resource: "namespaces"}},
		{"GET", "/api/v1/namespaces/a", info{IsResourceRequest: true, Verb: "get", APIPrefix: "api", APIVersion: "v1", Namespace: "a", Resource: "namespaces", Name: "a"}},
		{"PUT", "/api/v1/namespaces/a/status", info{IsResourceRequest: true, Verb: "update", APIPrefix: "api", APIVersion: "v1", Namespace: "a", Resource: "namespaces", Name: "a", Subresource: "status"}},
		{"create", "/api/v1/namespaces/a/pods/b/exec", info{IsResourceRequest: true, Verb: "create", APIPrefix: "api", APIVersion: "v1", Namespace: "a", Resource: "pods", Name: "b", Subresource: "exec"}},
		{"GET", "/api/v1/proxy/nodes/a/logs", info{IsResourceRequest: true, Verb: "proxy", APIPrefix: "api", APIVersion: "v1", Resource: "nodes", Name: "a"}},
		{"DELETE", "/apis/apps/v1/namespaces/a/deployments", info{IsResourceRequest: true, Verb: "deletecollection", APIPrefix: "apis", APIGroup: "apps", APIVersion: "v1", Namespace: "a", Resource: "deployments"}},
		{"PATCH", "/apis/example.com/v1/namespaces/a/widgets/名/scale/", info{IsResourceRequest: true, Verb: "patch", APIPrefix: "apis", APIGroup: "example.com", APIVersion: "v1", Namespace: "a", Resource: "widgets", Name: "名", Subresource: "scale"}},
	} {
		t.Run(tc.verb+" "+tc.path, func(t *testing.T) {
			got, _, err := parseRequest(tc.verb, tc.path)
			if err != nil {
				t.Fatal(err)
			}
			if *got != tc.want {
				t.Errorf("got  %+v\nwant %+v", *got, tc.want)
			}
		})
	}
}

func TestParseRequestRefuses(t *testing.T) {
	for _, tc := range []struct{ verb, path, says string }{
		{"eat", "/api", "neither an HTTP method"},
		{"GET", "api/v1", "not the path of a URL"},
		{"GET", "//host/api", "not the path of a URL"},
		{"GET", "https://host/api", "not the path of a URL"},
		{"GET", "/api/%zz", "not the path of a URL"},
		{"GET", "/api//v1/pods", "not clean"},
		{"GET", "/api/v1/../v2", "not clean"},
		{"GET", "/api/v1/watch", "names no resource"},
	} {
		_, _, err := parseRequest(tc.verb, tc.path)
		if fault.Code(err) != fault.CodeUsage || !strings.Contains(err.Error(), tc.says) || fault.Hint(err) == "" {
			t.Errorf("%s %s: %v (%s), want %q", tc.verb, tc.path, err, fault.Hint(err), tc.says)
		}
	}
}
