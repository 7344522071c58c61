package e2e_test

import (
	"bytes"
	"encoding/base64"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kapi-dev/kapi/internal/kapitest"
)

const marker = "the-value-that-must-not-be-found"

// TestEncryptionAtRest reads etcd past the API: what the file says is encrypted
// there, custom resources too, and nothing else is.
func TestEncryptionAtRest(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "encryption.yaml")
	writeFile(t, file, `
apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- resources: [secrets, safes.vault.e2e.test]
  providers:
  - secretbox: {keys: [{name: key1, secret: `+base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32))+`}]}
  - identity: {}
`)
	server := kapitest.Start(t, "--encryption-provider-config", file)
	define(t, server, decode[apiextensionsv1.CustomResourceDefinition](t, `
metadata: {name: safes.vault.e2e.test}
spec:
  group: vault.e2e.test
  scope: Namespaced
  names: {plural: safes, singular: safe, kind: Safe, listKind: SafeList}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {inside: {type: string}}}}}
`))
	client := server.Client(t)
	meta := metav1.ObjectMeta{Name: "e2e"}
	secret := &corev1.Secret{ObjectMeta: meta, StringData: map[string]string{"key": marker}}
	if _, err := client.CoreV1().Secrets("default").Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	config := &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"key": marker}}
	if _, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), config, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	safes := dynamicClient(t, server.Config(t)).Resource(schema.GroupVersionResource{Group: "vault.e2e.test", Version: "v1", Resource: "safes"}).Namespace("default")
	safe := object(t, "{apiVersion: vault.e2e.test/v1, kind: Safe, metadata: {name: e2e}, inside: "+marker+"}")
	if _, err := safes.Create(t.Context(), safe, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}

	for _, key := range []string{"/registry/secrets/default/e2e", "/registry/vault.e2e.test/safes/default/e2e"} {
		stored := inEtcd(t, server, key)
		if !bytes.HasPrefix(stored, []byte("k8s:enc:secretbox:v1:key1:")) || bytes.Contains(stored, []byte(marker)) {
			t.Errorf("%s: %q", key, stored)
		}
	}
	// The marker is found where it is not encrypted, so looking for it means something.
	if stored := inEtcd(t, server, "/registry/configmaps/default/e2e"); !bytes.Contains(stored, []byte(marker)) {
		t.Errorf("a ConfigMap: %q", stored)
	}

	// A server that starts on what is encrypted reads it.
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	secret, err := server.Client(t).CoreV1().Secrets("default").Get(t.Context(), "e2e", metav1.GetOptions{})
	if err != nil || string(secret.Data["key"]) != marker {
		t.Errorf("after a restart: %v %q", err, secret.Data)
	}
}
