package app

import (
	"context"
	"net"
	"sync"

	"github.com/kapi-dev/kapi/internal/chain"
	"github.com/kapi-dev/kapi/internal/logging"
	"github.com/kapi-dev/kapi/internal/pki"
)

// renewal replaces certificates while the server runs.
type renewal struct {
	cancel context.CancelFunc
	done   sync.WaitGroup
}

// startPKI makes the certificates and the kubeconfig, and keeps them valid.
func (s *server) startPKI(context.Context) error {
	serviceIP, err := chain.ServiceIP(s.flag("service-cluster-ip-range", chain.DefaultServiceCIDR))
	if err != nil {
		return err
	}
	options := pki.Options{Dir: s.dir.PKI(), Names: s.cfg.Server.Names, ServiceIPs: []net.IP{serviceIP}}
	if address, ok := s.listener.Addr().(*net.TCPAddr); ok && !address.IP.IsUnspecified() {
		options.AdvertiseIPs = []net.IP{address.IP}
	}
	if s.pki, err = pki.Ensure(options); err != nil {
		return err
	}
	for _, notice := range s.pki.Notices {
		s.log.Info(notice, logging.KeyComponent, "pki")
	}
	if err := s.pki.WriteKubeconfig(s.dir.Kubeconfig(), s.url()); err != nil {
		return err
	}
	s.renewal.start(s)
	return nil
}

func (s *server) stopPKI(context.Context) error {
	s.renewal.cancel()
	s.renewal.done.Wait()
	return nil
}

func (r *renewal) start(s *server) {
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	r.done.Go(func() {
		s.pki.Run(ctx, pki.RenewOptions{
			Log:          s.log.With(logging.KeyComponent, "pki"),
			AdminChanged: func(m *pki.Material) error { return m.WriteKubeconfig(s.dir.Kubeconfig(), s.url()) },
		})
	})
}
