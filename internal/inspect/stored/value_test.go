package stored

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// marker is in every value that must not be shown, and quotedMarker is it in base64.
const (
	marker       = "the-value-that-must-not-be-found"
	quotedMarker = "dGhlLXZhbHVlLXRoYXQtbXVzdC1ub3QtYmUtZm91bmQ"
)

// inProtobuf is an object as the server writes it.
func inProtobuf(t testing.TB, object runtime.Object) string {
	t.Helper()
	gvks, _, err := scheme.Scheme.ObjectKinds(object)
	if err != nil {
		t.Fatal(err)
	}
	object.GetObjectKind().SetGroupVersionKind(gvks[0])
	var written bytes.Buffer
	if err := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(object, &written); err != nil {
		t.Fatal(err)
	}
	return written.String()
}

// envelope is any content, said to be of a type.
func envelope(t testing.TB, apiVersion, kind, content string) string {
	t.Helper()
	unknown := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: apiVersion, Kind: kind}, Raw: []byte(content)}
	written, err := unknown.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return beginsProtobuf + string(written)
}

func inCBOR(t testing.TB, object map[string]any) string {
	t.Helper()
	written, err := direct.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return beginsCBOR + string(written)
}

func secret() *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name: "token", Namespace: "default", Labels: map[string]string{"app": "shop"},
			Annotations: map[string]string{"kubectl.kubernetes.io/last-applied-configuration": `{"data":{"token":"` + quotedMarker + `="}}`},
		},
		Type: corev1.SecretTypeOpaque, Data: map[string][]byte{"token": []byte(marker), "空": nil},
	}
}

// samples are values of all kinds that a store may have.
func samples(t testing.TB) map[string]string {
	t.Helper()
	replicas := int64(30)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web-0", Namespace: "default", Labels: map[string]string{"app": "<b>"}},
		// No field is defaulted: restartPolicy and many others are missing.
		Spec:   corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "nginx:1"}}, TerminationGracePeriodSeconds: &replicas},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	inPod := inProtobuf(t, pod)
	return map[string]string{
		"pod":             inPod,
		"lease":           inProtobuf(t, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "kapi"}}),
		"range":           inProtobuf(t, &corev1.RangeAllocation{Range: "10.0.0.0/24", Data: []byte{1, 0, 2}}),
		"secret":          inProtobuf(t, secret()),
		"secret-json":     `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a","annotations":{"a":"` + marker + `"}},"data":{"a":"` + quotedMarker + `="},"stringData":{"b":"` + marker + `"},"other":"` + marker + `"}`,
		"secret-odd":      `{"kind":"Secret","metadata":"` + marker + `","data":["` + marker + `"]}`,
		"custom":          `{"apiVersion":"example.com/v1","kind":"Note","metadata":{"name":"名前","generation":12345678901234567890},"text":"<a> & b","list":[],"z":1,"a":{"x":null}}` + "\n",
		"custom-secret":   `{"apiVersion":"example.com/v1","kind":"Secret","metadata":{"name":"a"},"data":"ours"}`,
		"cbor":            inCBOR(t, map[string]any{"apiVersion": "example.com/v1", "kind": "Note", "size": int64(1) << 40, "text": "ä"}),
		"cbor-secret":     inCBOR(t, map[string]any{"apiVersion": "v1", "kind": "Secret", "data": map[string]any{"a": quotedMarker + "="}}),
		"encrypted":       "k8s:enc:aescbc:v1:key1:" + marker + "\x00\xff:::",
		"encrypted-odd":   "k8s:enc:" + marker,
		"bytes":           "\x00\x01" + marker,
		"yaml":            "kind: Secret\nstringData: {a: " + marker + "}\n",
		"empty":           "",
		"no-envelope":     "k8s\x00",
		"broken-envelope": "k8s\x00\xff\xff\xff\xff" + marker,
		"broken-pod":      envelope(t, "v1", "Pod", "\x0a\xff\xff"+marker),
		"cut-off":         inPod[:len(inPod)-20],
		"broken-json":     `{"kind":"Secret","data":"` + marker,
		"broken-cbor":     beginsCBOR + "\xbf" + marker,
		"unknown-type":    envelope(t, "v1", "Pot", marker),
		"internal-type":   envelope(t, runtime.APIVersionInternal, "Pod", ""),
		"list-of-secrets": inProtobuf(t, &corev1.SecretList{Items: []corev1.Secret{*secret()}}),
		"no-object":       `{"kind":1}`,
	}
}

// picture is a value as a person reads it.
func picture(value *v1alpha1.StoredValue) string {
	var text strings.Builder
	for _, line := range []struct {
		name  string
		value any
	}{
		{"encoding", value.Encoding}, {"bytes", value.Bytes}, {"encryptedBy", value.EncryptedBy}, {"apiVersion", value.APIVersion},
		{"kind", value.Kind}, {"withheld", value.Withheld}, {"error", value.Error},
	} {
		if line.value != "" {
			fmt.Fprintf(&text, "%s: %v\n", line.name, line.value)
		}
	}
	if value.JSON != "" {
		text.WriteString("\n" + value.JSON + "\n")
	}
	return text.String()
}

func TestValues(t *testing.T) {
	t.Parallel()
	r, root, _ := reader(t)
	for name, sample := range samples(t) {
		t.Run(name, func(t *testing.T) {
			put(t, []string{root + "/" + name}, fixed(sample))
			value := query(t, r, v1alpha1.StoredKeyQuerySpec{Key: root + "/" + name}).Value
			got := picture(value)
			if strings.Contains(got, marker) || strings.Contains(got, quotedMarker) {
				t.Errorf("it shows what it must not:\n%s", got)
			}
			file := filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil { //nolint:gosec // a file of the repository
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil || got != string(want) {
				t.Errorf("%v: it is\n%s\nwant\n%s", err, got, want)
			}
		})
	}
}

// FuzzValue: no value makes the reader panic, and what it shows is JSON.
func FuzzValue(f *testing.F) {
	for _, sample := range samples(f) {
		f.Add([]byte(sample))
	}
	r := New(Config{Prefix: "/registry", Scheme: scheme.Scheme})
	f.Fuzz(func(t *testing.T, data []byte) {
		value := r.value(data)
		if value.JSON != "" && !json.Valid([]byte(value.JSON)) {
			t.Errorf("%q is no JSON", value.JSON)
		}
		if value.Encoding == "" || value.JSON == "" && value.Withheld == "" && value.Error == "" {
			t.Errorf("nothing is said of it: %+v", value)
		}
		if value.Error != "" && value.JSON != "" {
			t.Errorf("it is shown in spite of %s", value.Error)
		}
	})
}
