package e2e_test

import (
	"encoding/json"
	"net/http"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/kapitest"
)

// remoteGroup is an aggregated server with version v1 of one group: it lists one
// resource (things), answers 200 to whatever is asked for below the group version,
// and takes over the connection for who asks for an upgrade.
func remoteGroup(group string) http.Handler {
	root := "/apis/" + group + "/v1"
	mux := http.NewServeMux()
	mux.HandleFunc(root, func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, metav1.APIResourceList{
			TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: group + "/v1",
			APIResources: []metav1.APIResource{{Name: "things", SingularName: "thing", Kind: "Thing", Verbs: metav1.Verbs{"get", "list"}}},
		})
	})
	mux.HandleFunc(root+"/", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") == "" {
			writeJSON(w, metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess})
			return
		}
		echo(w)
	})
	return mux
}

func writeJSON(w http.ResponseWriter, answer any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // who asks sees what is missing
}

// echo takes over the connection, and sends back one line that comes over it.
func echo(w http.ResponseWriter) {
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer conn.Close()
	_, err = buffered.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
	if err != nil || buffered.Flush() != nil {
		return
	}
	if line, err := buffered.ReadString('\n'); err == nil {
		_, _ = buffered.WriteString(line) // who asks waits for it
		_ = buffered.Flush()
	}
}

// serviceOf refers to a service in the namespace of these tests, which maps of
// services lead to.
func serviceOf(name string) apiregistrationv1.ServiceReference {
	return apiregistrationv1.ServiceReference{Namespace: "lid", Name: name}
}

// defineThings creates a definition of cluster-wide "things" in a group, version v1.
func defineThings(t testing.TB, server *kapitest.Server, group string) {
	t.Helper()
	define(t, server, things(group))
}

func things(group string) *apiextensionsv1.CustomResourceDefinition {
	anything := true
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "things." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group, Scope: apiextensionsv1.ClusterScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "things", Singular: "thing", Kind: "Thing", ListKind: "ThingList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{
					OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &anything},
				},
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
			}},
		},
	}
}
