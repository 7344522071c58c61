package e2e_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/kapi-dev/kapi/internal/kapitest"
)

// codecs know all content types of the API, those too that a server has off.
func codecs() serializer.CodecFactory {
	return serializer.NewCodecFactory(scheme.Scheme, serializer.WithSerializer(cbor.NewSerializerInfo))
}

func serializerFor(t testing.TB, mediaType string) runtime.SerializerInfo {
	t.Helper()
	info, ok := runtime.SerializerInfoForMediaType(codecs().SupportedMediaTypes(), mediaType)
	if !ok {
		t.Fatalf("no serializer for %s", mediaType)
	}
	return info
}

func encodeAs(t testing.TB, mediaType string, o *appsv1.Deployment) io.Reader {
	t.Helper()
	body, err := runtime.Encode(codecs().EncoderForVersion(serializerFor(t, mediaType).Serializer, appsv1.SchemeGroupVersion), o)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(body)
}

func decodeAs(t testing.TB, mediaType, body string) *appsv1.Deployment {
	t.Helper()
	o := &appsv1.Deployment{}
	if err := runtime.DecodeInto(serializerFor(t, mediaType).Serializer, []byte(body), o); err != nil {
		t.Fatalf("reading %s: %v\n%q", mediaType, err, body)
	}
	o.TypeMeta = metav1.TypeMeta{} // protobuf carries it outside the object
	return o
}

const deploymentYAML = `
metadata: {name: x, labels: {tier: front}, annotations: {note: "grün ✓"}}
spec:
  replicas: 0
  selector: {matchLabels: {app: x}}
  strategy: {rollingUpdate: {maxSurge: 25%, maxUnavailable: 1}}
  template:
    metadata: {labels: {app: x}}
    spec:
      containers:
      - {name: c, image: example.test/c:1, resources: {requests: {cpu: 100m, memory: 1Gi}}}
`

// TestContentTypes writes an object in each type that every server takes, and
// reads it in each: all say the same.
func TestContentTypes(t *testing.T) {
	t.Parallel()
	server := kapitest.Shared(t)
	exchange(t, server, runtime.ContentTypeJSON, runtime.ContentTypeYAML, runtime.ContentTypeProtobuf)

	// CBOR is behind a feature gate that is off.
	path := "/api/v1/namespaces/default"
	if code, body, _ := get(t, server.Config(t), path, "Accept", runtime.ContentTypeCBOR); code != http.StatusNotAcceptable {
		t.Errorf("CBOR read: %d %s", code, body)
	}
	// A client that would rather have it gets what there is.
	code, _, header := get(t, server.Config(t), path, "Accept", runtime.ContentTypeCBOR+", "+runtime.ContentTypeJSON)
	if code != http.StatusOK || header.Get("Content-Type") != runtime.ContentTypeJSON {
		t.Errorf("CBOR or JSON read: %d %s", code, header.Get("Content-Type"))
	}
}

func exchange(t *testing.T, server *kapitest.Server, types ...string) {
	t.Helper()
	config := server.Config(t)
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	list := config.Host + "/apis/apps/v1/namespaces/" + newNamespace(t, server.Client(t)) + "/deployments"
	for _, written := range types {
		o := decode[appsv1.Deployment](t, deploymentYAML)
		o.Name = strings.NewReplacer("/", "-", ".", "-").Replace(written)
		code, body, header := roundTrip(t, client, http.MethodPost, list, encodeAs(t, written, o), "Content-Type", written, "Accept", written)
		if code != http.StatusCreated || header.Get("Content-Type") != written {
			t.Fatalf("writing %s: %d %s\n%q", written, code, header.Get("Content-Type"), body)
		}
		created := decodeAs(t, written, body)
		if created.UID == "" || *created.Spec.Replicas != 0 || created.Annotations["note"] != "grün ✓" {
			t.Errorf("writing %s: %+v", written, created)
		}
		for _, read := range types {
			code, body, header := roundTrip(t, client, http.MethodGet, list+"/"+o.Name, nil, "Accept", read)
			if code != http.StatusOK || header.Get("Content-Type") != read {
				t.Fatalf("reading %s: %d %s\n%q", read, code, header.Get("Content-Type"), body)
			}
			if got := decodeAs(t, read, body); !equality.Semantic.DeepEqual(got, created) {
				t.Errorf("written as %s and read as %s differ:\n%+v\n%+v", written, read, created, got)
			}
		}
		// What was read in one type can be written back in another.
		created.Labels["written"] = "again"
		code, body, _ = roundTrip(t, client, http.MethodPut, list+"/"+o.Name, encodeAs(t, written, created), "Content-Type", written, "Accept", runtime.ContentTypeJSON)
		if code != http.StatusOK || decodeAs(t, runtime.ContentTypeJSON, body).Labels["written"] != "again" {
			t.Errorf("writing %s again: %d\n%s", written, code, body)
		}
	}
	for _, mediaType := range types {
		if info := serializerFor(t, mediaType); info.StreamSerializer != nil {
			watchAs(t, client, list, mediaType, info.StreamSerializer, len(types))
		}
	}
}

// watchAs reads a watch until it has told of all objects as they are now.
func watchAs(t *testing.T, client *http.Client, list, mediaType string, stream *runtime.StreamSerializerInfo, objects int) {
	t.Helper()
	accept, want := mediaType+";stream=watch", mediaType
	if mediaType == runtime.ContentTypeCBOR {
		accept, want = mediaType, runtime.ContentTypeCBORSequence
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, list+"?watch=true&resourceVersion=0", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", accept)
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if got := response.Header.Get("Content-Type"); !strings.HasPrefix(got, want) {
		t.Fatalf("watching as %s: %s %s", accept, response.Status, got)
	}
	events := streaming.NewDecoder(stream.NewFrameReader(response.Body), stream.Serializer)
	seen := map[string]bool{}
	for len(seen) < objects {
		event := &metav1.WatchEvent{}
		if _, _, err := events.Decode(nil, event); err != nil {
			t.Fatalf("watching as %s: %v", accept, err)
		}
		// The cache may tell of an object as it was first.
		if o := decodeAs(t, mediaType, string(event.Object.Raw)); o.Labels["written"] == "again" {
			seen[o.Name] = true
		}
	}
}
