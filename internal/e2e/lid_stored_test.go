package e2e_test

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection/live"
	"github.com/kapi-dev/kapi/internal/kapitest"
)

// TestStoredKeys looks into etcd by the API, as somebody who has the role for it and
// no other: at objects of each layer, in each encoding, as they are stored.
func TestStoredKeys(t *testing.T) {
	t.Parallel()
	server := kapitest.Shared(t)
	user, namespace := "stored-"+uuid.NewString(), newNamespace(t, server.Client(t))
	kapi, err := live.New(impersonating(server.Config(t), user))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kapi.Stored(t.Context(), v1alpha1.StoredKeyQuerySpec{}); !apierrors.IsForbidden(err) {
		t.Errorf("without a role: %v", err)
	}
	bind(t, server, user, v1alpha1.RoleStorage)

	group, meta := "stored"+namespace+".e2e.test", metav1.ObjectMeta{Name: "one"}
	defineThings(t, server, group)
	thing, err := dynamicClient(t, server.Config(t)).Resource(schema.GroupVersionResource{Group: group, Version: "v1", Resource: "things"}).
		Create(t.Context(), object(t, "{apiVersion: "+group+"/v1, kind: Thing, metadata: {name: one}, text: ä}"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	core := server.Client(t).CoreV1()
	secret, err := core.Secrets(namespace).Create(t.Context(), &corev1.Secret{ObjectMeta: meta, StringData: map[string]string{"key": marker}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config, err := core.ConfigMaps(namespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"key": marker}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, func(ctx context.Context) error {
		_, err := kapi.Stored(ctx, v1alpha1.StoredKeyQuerySpec{Limit: 1})
		return err
	})

	for _, want := range []struct {
		key, resourceVersion string // empty if it changes
		encoding             v1alpha1.StoredEncoding
		apiVersion, kind     string
		text                 string // that is shown
	}{
		{"/registry/configmaps/" + namespace + "/one", config.ResourceVersion, v1alpha1.StoredProtobuf, "v1", "ConfigMap", `"key": "` + marker + `"`},
		{"/registry/secrets/" + namespace + "/one", secret.ResourceVersion, v1alpha1.StoredProtobuf, "v1", "Secret", `"key": "<32 bytes>"`},
		{"/registry/" + group + "/things/one", thing.GetResourceVersion(), v1alpha1.StoredJSON, group + "/v1", "Thing", `"text": "ä"`},
		// Upstream writes definitions in a version that it has not served for years.
		{"/registry/apiextensions.k8s.io/customresourcedefinitions/things." + group, "", v1alpha1.StoredJSON, "apiextensions.k8s.io/v1beta1", "CustomResourceDefinition", `"plural": "things"`},
		{"/registry/apiregistration.k8s.io/apiservices/v1.apps", "", v1alpha1.StoredJSON, "apiregistration.k8s.io/v1", "APIService", `"group": "apps"`},
		{"/registry/ranges/servicenodeports", "", v1alpha1.StoredProtobuf, "v1", "RangeAllocation", `"range": `},
	} {
		query, err := kapi.Stored(t.Context(), v1alpha1.StoredKeyQuerySpec{Key: want.key})
		if err != nil {
			t.Errorf("%s: %v", want.key, err)
			continue
		}
		key, value := query.Status.Keys[0], query.Status.Value
		if value.Encoding != want.encoding || value.APIVersion != want.apiVersion || value.Kind != want.kind || value.Error != "" ||
			!strings.Contains(value.JSON, want.text) || !json.Valid([]byte(value.JSON)) || value.Bytes != key.Bytes || query.ServerID == "" {
			t.Errorf("%s: %+v", want.key, value)
		}
		if got := strconv.FormatInt(key.ModRevision, 10); want.resourceVersion != "" && got != want.resourceVersion {
			t.Errorf("%s was changed at %s, and its resourceVersion is %s", want.key, got, want.resourceVersion)
		}
		if value.Kind == "Secret" && (strings.Contains(value.JSON, marker) || value.Withheld == "") {
			t.Errorf("a Secret: %+v", value)
		}
	}

	listed, err := kapi.Stored(t.Context(), v1alpha1.StoredKeyQuerySpec{Delimiter: "/", Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"/registry/configmaps/", "/registry/" + group + "/"} {
		if !slices.ContainsFunc(listed.Status.Keys, func(k v1alpha1.StoredKey) bool { return k.Key == key && k.Keys > 0 && k.Bytes > 0 }) {
			t.Errorf("%s is not listed with what is in it: %+v", key, listed.Status.Keys)
		}
	}
	if _, err := kapi.Stored(t.Context(), v1alpha1.StoredKeyQuerySpec{Prefix: "/"}); !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), "/registry/") {
		t.Errorf("outside of the prefix: %v", err)
	}
	if _, err := kapi.Stored(t.Context(), v1alpha1.StoredKeyQuerySpec{Key: "/registry/none"}); !apierrors.IsNotFound(err) {
		t.Errorf("what is not there: %v", err)
	}
}
