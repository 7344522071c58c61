package storage

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/apis/example"
	"k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/value"
)

// secretText is what must not be found in etcd.
const secretText = "the-plaintext-that-nobody-may-find"

// encryption is an EncryptionConfiguration for pods: its providers in order, as
// "secretbox:name", "aescbc:name" or "identity". Equal names have equal keys.
type encryption struct {
	file string
	keys map[string]string
}

func newEncryption(t testing.TB) *encryption {
	return &encryption{file: filepath.Join(t.TempDir(), "encryption.yaml"), keys: map[string]string{}}
}

// write replaces the file.
func (e *encryption) write(t testing.TB, providers ...string) {
	t.Helper()
	var b strings.Builder
	b.WriteString("apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n- resources: [pods]\n  providers:\n")
	for _, p := range providers {
		kind, name, keyed := strings.Cut(p, ":")
		if !keyed {
			fmt.Fprintf(&b, "  - %s: {}\n", kind)
			continue
		}
		if e.keys[name] == "" {
			key := make([]byte, 32)
			_, _ = rand.Read(key)
			e.keys[name] = base64.StdEncoding.EncodeToString(key)
		}
		fmt.Fprintf(&b, "  - %s:\n      keys:\n      - name: %s\n        secret: %s\n", kind, name, e.keys[name])
	}
	if err := os.WriteFile(e.file+".new", []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(e.file+".new", e.file); err != nil {
		t.Fatal(err)
	}
}

func newServerConfig() *server.Config {
	return server.NewConfig(serializer.NewCodecFactory(runtime.NewScheme()))
}

// open makes a store of pods, as a server does that starts with the file.
func (e *encryption) open(t testing.TB, f *fixture, providers ...string) *fixture {
	t.Helper()
	e.write(t, providers...)
	c := newServerConfig()
	if err := ApplyEncryption(c, e.file, false); err != nil {
		t.Fatalf("applying %v: %v", providers, err)
	}
	return f.encrypted(t, c.ResourceTransformers, podResource)
}

// encrypted makes one more store on f's etcd.
func (f *fixture) encrypted(t testing.TB, transformers value.ResourceTransformers, resource schema.GroupResource) *fixture {
	t.Helper()
	config := f.config()
	config.Transformer = transformers.TransformerForResource(resource)
	store, destroy, err := f.backend.Store(*config, newPod, newPodList, "/pods/")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(destroy)
	return &fixture{Interface: store, etcd: f.etcd, prefix: f.prefix, backend: f.backend}
}

func (f *fixture) createSecret(t testing.TB, name string) {
	t.Helper()
	pod := &example.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, Annotations: map[string]string{"secret": secretText}}}
	if err := f.Create(t.Context(), podKey(name), pod, nil, 0); err != nil {
		t.Fatal(err)
	}
}

// readSecret reads it by get and by list.
func (f *fixture) readSecret(t testing.TB, name string) error {
	t.Helper()
	pod, list := &example.Pod{}, &example.PodList{}
	if err := f.Get(t.Context(), podKey(name), storage.GetOptions{}, pod); err != nil {
		return err
	}
	if err := f.GetList(t.Context(), "/pods/", storage.ListOptions{Recursive: true, Predicate: storage.Everything}, list); err != nil {
		return err
	}
	if pod.Annotations["secret"] != secretText || len(list.Items) == 0 {
		return fmt.Errorf("read %v, and a list of %d", pod, len(list.Items))
	}
	return nil
}

// rewrite updates without a change, as a storage migration does.
func (f *fixture) rewrite(t testing.TB, name string) {
	t.Helper()
	err := f.GuaranteedUpdate(t.Context(), podKey(name), &example.Pod{}, false, nil,
		storage.SimpleUpdate(func(obj runtime.Object) (runtime.Object, error) { return obj, nil }), nil)
	if err != nil {
		t.Fatal(err)
	}
}

// mustBeRaw checks the bytes in etcd: how they begin, and that the text can't be
// found in them unless plain.
func (f *fixture) mustBeRaw(t testing.TB, name, prefix string, plain bool) {
	t.Helper()
	r, err := f.etcd.Get(t.Context(), f.prefix+podKey(name))
	if err != nil || len(r.Kvs) != 1 {
		t.Fatalf("reading the bytes of %s: %v, %v", name, r, err)
	}
	raw := string(r.Kvs[0].Value)
	if !strings.HasPrefix(raw, prefix) || strings.Contains(raw, secretText) != plain {
		t.Errorf("etcd has %.60q, want it to begin with %q and to be plain: %v", raw, prefix, plain)
	}
}

func TestEncryptionAtRest(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"secretbox", "aescbc", "aesgcm"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			f, e := newFixture(t, setup{}), newEncryption(t)
			prefix := func(key string) string { return "k8s:enc:" + kind + ":v1:" + key + ":" }

			s := e.open(t, f, kind+":old", "identity")
			s.createSecret(t, "a")
			s.mustBeRaw(t, "a", prefix("old"), false)
			if err := s.readSecret(t, "a"); err != nil {
				t.Errorf("reading it back: %v", err)
			}

			// A new key first: old data is read, and rewritten with the new one.
			s = e.open(t, f, kind+":new", kind+":old", "identity")
			s.createSecret(t, "b")
			s.mustBeRaw(t, "b", prefix("new"), false)
			s.mustBeRaw(t, "a", prefix("old"), false)
			if err := s.readSecret(t, "a"); err != nil {
				t.Errorf("reading with the second key: %v", err)
			}
			s.rewrite(t, "a")
			s.mustBeRaw(t, "a", prefix("new"), false)

			// The old one can go; who has only that one reads nothing.
			s = e.open(t, f, kind+":new")
			if err := s.readSecret(t, "a"); err != nil {
				t.Errorf("reading without the old key: %v", err)
			}
			s = e.open(t, f, kind+":old")
			if err := s.readSecret(t, "a"); err == nil || strings.Contains(err.Error(), secretText) {
				t.Errorf("reading with the old key only: error %v", err)
			}
		})
	}
}

// TestEncryptionFromPlaintextAndBack: identity last lets plain objects be read,
// identity first writes new ones plain.
func TestEncryptionFromPlaintextAndBack(t *testing.T) {
	t.Parallel()
	f, e := newFixture(t, setup{}), newEncryption(t)
	s := e.open(t, f, "identity")
	s.createSecret(t, "a")
	s.mustBeRaw(t, "a", "{", true)

	if err := e.open(t, f, "secretbox:one").readSecret(t, "a"); err == nil {
		t.Error("a plain object is read by who expects encrypted ones only")
	}
	s = e.open(t, f, "secretbox:one", "identity")
	if err := s.readSecret(t, "a"); err != nil {
		t.Errorf("reading a plain object with identity last: %v", err)
	}
	s.rewrite(t, "a")
	s.mustBeRaw(t, "a", "k8s:enc:secretbox:v1:one:", false)

	s = e.open(t, f, "identity", "secretbox:one")
	if err := s.readSecret(t, "a"); err != nil {
		t.Errorf("reading an encrypted object with identity first: %v", err)
	}
	s.rewrite(t, "a")
	s.mustBeRaw(t, "a", "{", true)
}

// TestEncryptionLeavesOthersAlone: what the file does not name is stored plain,
// and what is encrypted is not taken for plain.
func TestEncryptionLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	f, e := newFixture(t, setup{}), newEncryption(t)
	e.open(t, f, "aescbc:one").createSecret(t, "a")
	c := newServerConfig()
	if err := ApplyEncryption(c, e.file, false); err != nil {
		t.Fatal(err)
	}
	other := f.encrypted(t, c.ResourceTransformers, schema.GroupResource{Group: "apps", Resource: "deployments"})
	if err := other.Get(t.Context(), podKey("a"), storage.GetOptions{}, &example.Pod{}); err == nil {
		t.Error("an encrypted object is read without its key")
	}
	other.createSecret(t, "b")
	other.mustBeRaw(t, "b", "{", true)
}

func TestEncryptionFileIsRefused(t *testing.T) {
	t.Parallel()
	const badKey = "dG9vIHNob3J0"
	for name, content := range map[string]string{
		"missing":       "",
		"not YAML":      "{",
		"no providers":  "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n- resources: [pods]\n",
		"short key":     "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n- resources: [pods]\n  providers:\n  - secretbox: {keys: [{name: one, secret: " + badKey + "}]}\n",
		"unknown field": "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresource: []\n",
	} {
		file := filepath.Join(t.TempDir(), "encryption.yaml")
		if content != "" {
			if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		c := newServerConfig()
		err := ApplyEncryption(c, file, false)
		if err == nil || !strings.Contains(err.Error(), file) || strings.Contains(err.Error(), badKey) {
			t.Errorf("%s: error %v, want one that names the file and no key", name, err)
		}
		if c.ResourceTransformers != nil {
			t.Errorf("%s: transformers are set", name)
		}
	}
	c := newServerConfig()
	if err := ApplyEncryption(c, "", true); err != nil || c.ResourceTransformers != nil || len(c.PostStartHooks) > len(newServerConfig().PostStartHooks) {
		t.Errorf("without a file: error %v, transformers %v", err, c.ResourceTransformers)
	}
}
