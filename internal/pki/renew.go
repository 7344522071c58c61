package pki

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/kapi-dev/kapi/internal/fault"
)

// renewInterval is the time between two looks at the certificates. A look reads
// a few small files; the interval is short because a clock may jump.
const renewInterval = 10 * time.Minute

// RenewOptions are what Run needs to know.
type RenewOptions struct {
	// Tick says when to look; nil is every ten minutes.
	Tick <-chan time.Time
	// AdminChanged is called, from Run's goroutine, with the new state after the
	// admin certificate was replaced, so that the kubeconfig can be written again.
	// It is called again at the next look if it fails. Nil is allowed.
	AdminChanged func(*Material) error
	// Log receives one line for each certificate that was replaced and for each
	// failure. Nil is slog.Default().
	Log *slog.Logger
}

// Run keeps the serving, proxy client and admin certificates valid while a
// server runs, and returns when ctx ends. kube-apiserver reads their files again
// by itself when they change. Authorities are left alone: they are replaced at a
// start only, when everything that holds them is built anew. m itself is not
// changed.
//
// A failure is logged and tried again at the next look; two thirds of a
// certificate's life are gone by then, and a third is left for repairs.
func (m *Material) Run(ctx context.Context, o RenewOptions) {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Tick == nil {
		t := time.NewTicker(renewInterval)
		defer t.Stop()
		o.Tick = t.C
	}
	current := *m
	r := renewer{RenewOptions: o, material: &current}
	for {
		select {
		case <-ctx.Done():
			return
		case <-o.Tick:
			if err := r.look(); err != nil {
				o.Log.Error("Renewing certificates failed", "err", err, "hint", fault.Hint(err))
			}
		}
	}
}

type renewer struct {
	RenewOptions
	material     *Material
	adminPending bool // AdminChanged is still to be called
}

// look replaces what is due. One certificate's failure does not keep the others
// from being renewed.
func (r *renewer) look() error {
	s, err := newSession(r.material.opts)
	if err != nil {
		return err
	}
	specs, err := leafSpecs(r.material.opts)
	if err != nil {
		return err
	}
	var errs []error
	for _, spec := range specs {
		if err := r.renew(s, spec); err != nil {
			errs = append(errs, fmt.Errorf("renewing %s: %w", s.certPath(spec.file), err))
		}
	}
	if r.adminPending && r.AdminChanged != nil {
		m := *r.material
		if err := r.AdminChanged(&m); err != nil {
			return errors.Join(append(errs, fmt.Errorf("handing on the admin certificate: %w", err))...)
		}
	}
	r.adminPending = false
	return errors.Join(errs...)
}

func (r *renewer) renew(s *session, spec leafSpec) error {
	ca, err := s.currentCA(spec.ca)
	if err != nil {
		return err
	}
	pair, changed, err := s.ensureLeaf(ca, spec)
	// Not only on success: a half that was written counts.
	r.adminPending = r.adminPending || changed && spec.file == adminName
	if err != nil || !changed {
		return err
	}
	*r.material.pair(spec.file) = pair
	r.Log.Info("Renewed a certificate", "file", pair.Cert, "notAfter", pair.NotAfter)
	return nil
}

// currentCA returns an authority as it is on disk.
func (s *session) currentCA(name string) (*authority, error) {
	key, certs, err := s.loadCA(name)
	if err != nil {
		return nil, err
	}
	if key != nil {
		if cert := pick(certs, key, s.now); cert != nil && !ended(cert, s.now) {
			return s.authority(name, key, cert), nil
		}
	}
	return nil, fault.WithHint(fmt.Errorf("the authority %s can't sign: it is missing or not valid now", s.certPath(name)),
		"check the clock, then start kapi again: it makes a new authority at a start")
}
