package storage

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/server/options/encryptionconfig/controller"
	"k8s.io/apiserver/pkg/util/compatibility"
	"k8s.io/client-go/rest"
)

// TestEncryptionIsReloaded: a server that runs takes a new key from the file. It
// is not parallel: upstream keeps the interval in a variable.
func TestEncryptionIsReloaded(t *testing.T) {
	interval := controller.EncryptionConfigFileChangePollDuration
	controller.EncryptionConfigFileChangePollDuration = 20 * time.Millisecond
	t.Cleanup(func() { controller.EncryptionConfigFileChangePollDuration = interval })

	f, e := newFixture(t, setup{}), newEncryption(t)
	e.write(t, "secretbox:one")
	c := newServerConfig()
	if err := ApplyEncryption(c, e.file, true); err != nil {
		t.Fatal(err)
	}
	checks := func(of []healthz.HealthChecker) map[string]bool {
		names := map[string]bool{}
		for _, check := range of {
			names[check.Name()] = true
		}
		return names
	}
	const kms = "kms-providers"
	if !checks(c.HealthzChecks)[kms] || !checks(c.ReadyzChecks)[kms] || checks(c.LivezChecks)[kms] {
		t.Errorf("the checks are healthz %v, readyz %v, livez %v; want %s in the first two",
			checks(c.HealthzChecks), checks(c.ReadyzChecks), checks(c.LivezChecks), kms)
	}
	runServer(t, c)

	s := f.encrypted(t, c.ResourceTransformers, podResource)
	s.createSecret(t, "a")
	s.mustBeRaw(t, "a", "k8s:enc:secretbox:v1:one:", false)
	e.write(t, "secretbox:two", "secretbox:one")
	eventually(t, "the new key is used", func() error {
		s.rewrite(t, "a")
		r, err := f.etcd.Get(t.Context(), f.prefix+podKey("a"))
		if err == nil && string(r.Kvs[0].Value[:len("k8s:enc:secretbox:v1:two:")]) != "k8s:enc:secretbox:v1:two:" {
			err = errors.New("it is not")
		}
		return err
	})
	if err := s.readSecret(t, "a"); err != nil {
		t.Error(err)
	}
}

// runServer runs a server without APIs until the end of the test: its hooks
// begin, and its signals are sent when it stops.
func runServer(t *testing.T, c *server.Config) {
	t.Helper()
	c.ExternalAddress = "127.0.0.1:6443"
	c.LoopbackClientConfig = &rest.Config{}
	c.EffectiveVersion = compatibility.DefaultBuildEffectiveVersion()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serving := options.NewSecureServingOptions()
	serving.Listener, serving.ServerCert.CertDirectory = listener, t.TempDir()
	if err := serving.MaybeDefaultWithSelfSignedCerts("localhost", nil, []net.IP{net.IPv4(127, 0, 0, 1)}); err != nil {
		t.Fatal(err)
	}
	if err := serving.ApplyTo(&c.SecureServing); err != nil {
		t.Fatal(err)
	}
	s, err := c.Complete(nil).New("test", server.NewEmptyDelegate())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.PrepareRun().RunWithContext(ctx) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("the server ends with %v", err)
			}
		case <-time.After(patience):
			t.Error("the server does not end")
		}
	})
}
