package resources

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

const encryptionConfig = `
kind: EncryptionConfiguration
apiVersion: apiserver.config.k8s.io/v1
resources:
- resources: [secrets, "*.apps"]
  providers:
  - aescbc: {keys: [{name: key1, secret: c2VjcmV0LW1hcms=}]}
  - identity: {}
- resources: [deployments.apps]
  providers:
  - kms: {apiVersion: v2, name: vault, endpoint: unix:///run/kms.sock}
- resources: [configmaps]
  providers: [{identity: {}}, {secretbox: {keys: []}}]
- resources: ["*.*"]
  providers: [{aesgcm: {keys: []}}]
`

func TestEncryptionProviders(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "encryption.yaml")
	write := func(content string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(encryptionConfig)
	provider, err := EncryptionProviders(file, true)
	if err != nil {
		t.Fatal(err)
	}
	for resource, want := range map[string]string{
		"secrets": "aescbc", "statefulsets.apps": "aescbc", "deployments.apps": "kms:vault", "configmaps": "", "pods": "aesgcm",
	} {
		if got := provider(schema.ParseGroupResource(resource)); got != want {
			t.Errorf("%s is encrypted by %q, want %q", resource, got, want)
		}
	}
	fixed, err := EncryptionProviders(file, false)
	if err != nil {
		t.Fatal(err)
	}
	write(strings.Replace(encryptionConfig, "aescbc", "secretbox", 1))
	if err := os.Chtimes(file, time.Time{}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	secrets := schema.GroupResource{Resource: "secrets"}
	if got := provider(secrets); got != "secretbox" {
		t.Errorf("after a change: %q", got)
	}
	write("resources: [secret-mark")
	if got := provider(secrets); got != "secretbox" {
		t.Errorf("after damage: %q", got)
	}
	if got := fixed(secrets); got != "aescbc" {
		t.Errorf("without reload: %q", got)
	}
	if _, err := EncryptionProviders(file, false); err == nil || strings.Contains(err.Error(), "secret-mark") {
		t.Errorf("error is %v", err)
	}
}
