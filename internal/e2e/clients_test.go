package e2e_test

import (
	"io"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsclient "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/kapi-dev/kapi/internal/kapitest"
)

// newNamespace makes a namespace of the test's own. It stays: deleting one takes
// a controller.
func newNamespace(t testing.TB, client kubernetes.Interface) string {
	t.Helper()
	ns, err := client.CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return ns.Name
}

func dynamicClient(t testing.TB, config *rest.Config) dynamic.Interface {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func definitionsClient(t testing.TB, server *kapitest.Server) apiextensionsclient.Interface {
	t.Helper()
	client, err := apiextensionsclient.NewForConfig(server.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// object reads one object from YAML.
func object(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.UnmarshalStrict([]byte(text), &o.Object); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return o
}

// decode is object into a type.
func decode[T any](t testing.TB, text string) *T {
	t.Helper()
	into := new(T)
	if err := yaml.UnmarshalStrict([]byte(text), into); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return into
}

// decodeLoose is decode for YAML whose parts refer to one another, and for what
// a server has said.
func decodeLoose[T any](t testing.TB, text string) *T {
	t.Helper()
	into := new(T)
	if err := yaml.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return into
}

// field returns a nested field of an object, nil where there is none.
func field(o *unstructured.Unstructured, path ...string) any {
	value, _, _ := unstructured.NestedFieldNoCopy(o.Object, path...)
	return value
}

// get asks path of the server, with the credentials of config.
func get(t testing.TB, config *rest.Config, path string, header ...string) (code int, body string, answer http.Header) {
	t.Helper()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	return roundTrip(t, client, http.MethodGet, config.Host+path, nil, header...)
}

// roundTrip sends a request with headers given as name, value, name, value.
func roundTrip(t testing.TB, client *http.Client, method, url string, body io.Reader, header ...string) (int, string, http.Header) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text), response.Header
}

// anonymous is a configuration without credentials.
func anonymous(t testing.TB, server *kapitest.Server) *rest.Config {
	t.Helper()
	return rest.AnonymousClientConfig(server.Config(t))
}

// withToken is a configuration whose only credential is a bearer token.
func withToken(t testing.TB, server *kapitest.Server, token string) *rest.Config {
	t.Helper()
	config := anonymous(t, server)
	config.BearerToken = token
	return config
}
