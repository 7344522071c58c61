package e2e_test

import (
	"bytes"
	"net/http"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/client-go/rest"

	"github.com/kapi-dev/kapi/internal/kapitest"
)

// TestCBOR turns CBOR on: built-in objects are served in it, and custom
// resources are stored in it as well.
func TestCBOR(t *testing.T) {
	t.Parallel()
	server := kapitest.Start(t, "--feature-gates=CBORServingAndStorage=true")
	exchange(t, server, runtime.ContentTypeJSON, runtime.ContentTypeYAML, runtime.ContentTypeProtobuf, runtime.ContentTypeCBOR)

	define(t, server, decode[apiextensionsv1.CustomResourceDefinition](t, `
metadata: {name: notes.cbor.e2e.test}
spec:
  group: cbor.e2e.test
  scope: Namespaced
  names: {plural: notes, singular: note, kind: Note, listKind: NoteList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties: {text: {type: string}, size: {type: integer}}
`))
	config := server.Config(t)
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	list := config.Host + "/apis/cbor.e2e.test/v1/namespaces/default/notes"
	note := func(name string, size int) *bytes.Reader {
		body, err := direct.Marshal(map[string]any{
			"apiVersion": "cbor.e2e.test/v1", "kind": "Note", "metadata": map[string]any{"name": name}, "text": "ä", "size": size,
		})
		if err != nil {
			t.Fatal(err)
		}
		return bytes.NewReader(body)
	}
	code, body, _ := roundTrip(t, client, http.MethodPost, list, note("one", 1), "Content-Type", runtime.ContentTypeCBOR)
	if code != http.StatusCreated {
		t.Fatalf("creating: %d %q", code, body)
	}
	code, body, _ = roundTrip(t, client, http.MethodPatch, list+"/one?fieldManager=e2e&force=true", note("one", 1<<40),
		"Content-Type", "application/apply-patch+cbor")
	if code != http.StatusOK {
		t.Fatalf("applying: %d %q", code, body)
	}
	for _, mediaType := range []string{runtime.ContentTypeCBOR, runtime.ContentTypeJSON} {
		code, body, header := roundTrip(t, client, http.MethodGet, list+"/one", nil, "Accept", mediaType)
		if code != http.StatusOK || header.Get("Content-Type") != mediaType {
			t.Fatalf("reading: %d %s", code, header.Get("Content-Type"))
		}
		unmarshal := direct.Unmarshal
		if mediaType == runtime.ContentTypeJSON {
			unmarshal = unmarshalJSON
		}
		var got map[string]any
		if err := unmarshal([]byte(body), &got); err != nil {
			t.Fatal(err)
		}
		if got["size"] != int64(1<<40) || got["text"] != "ä" {
			t.Errorf("read as %s: %v", mediaType, got)
		}
	}
	// The tag of self-described CBOR, RFC 8949 section 3.4.6.
	if stored := inEtcd(t, server, "/registry/cbor.e2e.test/notes/default/one"); !bytes.HasPrefix(stored, []byte{0xd9, 0xd9, 0xf7}) {
		t.Errorf("stored as %q", stored)
	}
}
