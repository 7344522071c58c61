package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"

	"github.com/kapi-dev/kapi/internal/chain"
	"github.com/kapi-dev/kapi/internal/controllers"
	"github.com/kapi-dev/kapi/internal/controllers/catalog"
	"github.com/kapi-dev/kapi/internal/controllers/fakenodes"
	"github.com/kapi-dev/kapi/internal/globals"
	"github.com/kapi-dev/kapi/internal/logging"
	"github.com/kapi-dev/kapi/internal/pki"
)

// controlling is the life of the controllers.
type controlling struct {
	cancel context.CancelFunc
	ended  chan struct{}
}

// selected are the controllers that are on. The words have been checked with the
// rest of the configuration.
func (s *server) selected() (catalog.Selection, error) {
	return catalog.Parse(s.cfg.Controllers.Enabled, s.cfg.Controllers.FakeNodes > 0)
}

// controls tells whether a controller is on.
func (s *server) controls(name string) bool {
	selected, err := s.selected()
	return err == nil && selected.Has(name)
}

// makeControllers says which there are, and with what they work. It comes before the
// chain, which shows them from its first moment.
func (s *server) makeControllers(options chain.Completed) error {
	selected, err := s.selected()
	if err != nil {
		return err
	}
	cfg := controllers.Config{
		Log:      logr.FromSlogHandler(s.log.With(logging.KeyComponent, "controllers").Handler()),
		Selected: selected, FakeNodes: s.cfg.Controllers.FakeNodes, Families: families(options), KubeletVersion: gitVersion(),
		SigningCert: s.pki.ClusterCA.Cert, SigningKey: s.pki.ClusterCA.Key,
		ServiceAccountKey: s.flag("service-account-signing-key-file", s.pki.ServiceAccountKey),
		NodeAuthorizer:    slices.Contains(options.Authorization.Modes, "Node"),
		Identity:          chain.ServerID(s.identity), Elect: !s.embedded(), LeaseDuration: s.cfg.Controllers.LeaseDuration.Std(),
	}
	given := s.given()
	if given("client-ca-file") {
		cfg.SigningCert, cfg.SigningKey = "", ""
		cfg.WhyNotSigning = "--client-ca-file names another authority than kapi's, whose key kapi does not have"
	}
	if given("service-account-signing-endpoint") {
		cfg.ServiceAccountKey = ""
	}
	if cfg.RootCA, err = s.authority(options); err != nil {
		return fmt.Errorf("reading what verifies the server: %w", err)
	}
	s.controllers = controllers.New(cfg)
	globals.OnError(s.controllers.HandleError)
	return nil
}

// nowhere are the addresses of fake nodes and the pods on them.
func (s *server) nowhere() chain.Nowhere {
	if s.cfg.Controllers.FakeNodes == 0 {
		return nil
	}
	return fakenodes.Addresses(s.cfg.Controllers.FakeNodes)
}

// families are those of the addresses of Services, that of --service-cluster-ip-range's
// first range first.
func families(options chain.Completed) []corev1.IPFamily {
	var all []corev1.IPFamily
	for _, ranges := range []net.IPNet{options.PrimaryServiceClusterIPRange, options.SecondaryServiceClusterIPRange} {
		switch {
		case ranges.IP == nil: // there is no second one
		case ranges.IP.To4() == nil:
			all = append(all, corev1.IPv6Protocol)
		default:
			all = append(all, corev1.IPv4Protocol)
		}
	}
	return all
}

// authority returns the certificates, as PEM, that verify the server: kapi's authority,
// unless it serves a certificate that kapi has not made.
func (s *server) authority(options chain.Completed) ([]byte, error) {
	serving := options.SecureServing.ServerCert
	switch {
	case serving.CertKey.CertFile == s.pki.Serving.Cert:
		return pki.Certificates(s.pki.ClusterCA.Cert)
	case serving.CertKey.CertFile == "" && serving.GeneratedCert != nil:
		text, _ := serving.GeneratedCert.CurrentCertKeyContent()
		return pki.OnlyCertificates(text)
	default:
		return pki.Certificates(serving.CertKey.CertFile)
	}
}

// startControllers lets them begin, and waits for nothing.
func (s *server) startControllers(context.Context) error {
	if s.cfg.Controllers.FakeNodes > 0 && !s.controls("replicaset") {
		s.log.Info("nodes run pods, but nothing makes pods of Deployments and Jobs: --controllers=all does",
			logging.KeyComponent, "controllers", "fakeNodes", s.cfg.Controllers.FakeNodes)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.controlling = controlling{cancel, make(chan struct{})}
	go func() {
		defer close(s.controlling.ended)
		s.controllers.Run(ctx, controllers.API{Config: s.chain.Outermost().LoopbackClientConfig, Changed: s.chain.FollowAPIs})
	}()
	return nil
}

// controllersStop bounds the stop of the controllers: what one of them was about to
// do, it does at the next start.
const controllersStop = 3 * time.Second

// stopControllers ends them while the server still answers.
func (s *server) stopControllers(ctx context.Context) error {
	s.controlling.cancel()
	patience := time.NewTimer(controllersStop)
	defer patience.Stop()
	select {
	case <-s.controlling.ended:
	case <-patience.C:
		s.log.Info("controllers take long to stop and are left behind", logging.KeyComponent, "controllers")
	case <-ctx.Done():
		return errors.Join(ctx.Err(), errors.New("stopping the controllers"))
	}
	return nil
}
