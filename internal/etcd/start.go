package etcd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"google.golang.org/grpc"

	"github.com/kapi-dev/kapi/internal/fault"
)

// Start starts a member on the data directory c.Dir and returns when it
// accepts requests. ctx bounds the start only.
//
// Bad input is a usage error. A data directory that can't be used is refused
// before anything in it has changed, with an error that names the file and
// says what to do. A start that fails in an empty directory leaves it empty.
func Start(ctx context.Context, c Config) (*Member, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("starting etcd: %w", context.Cause(ctx))
	}
	found, err := preflight(c.Dir, c.Logger)
	if err != nil {
		return nil, explain(err, c.Dir)
	}
	socks, err := openSockets(c.RunDir)
	if err != nil {
		return nil, err
	}
	m := newMember(c, socks)
	if found.cutOff {
		c.Logger.Info("starting anew: an earlier first start was cut off before anything was stored")
		if err := os.RemoveAll(memberDir(c.Dir)); err != nil {
			return nil, errors.Join(explain(err, c.Dir), socks.close())
		}
	}
	if err := m.begin(ctx, found); err != nil {
		return nil, err
	}
	m.serve()
	return m, nil
}

func newMember(c Config, s sockets) *Member {
	return &Member{
		cfg:      c,
		sockets:  s,
		guard:    newGuard(c.Dir),
		errs:     make(chan error, 1),
		stopping: make(chan struct{}),
		watched:  make(chan struct{}),
	}
}

// begin is start, undone if it fails.
func (m *Member) begin(ctx context.Context, found dataDir) error {
	if err := m.start(ctx); err != nil {
		return errors.Join(err, m.abandon(ctx, found))
	}
	return nil
}

// start brings etcd up to the point where it accepts requests.
func (m *Member) start(ctx context.Context) error {
	ec, err := embedConfig(m.cfg, m.sockets, m.guard.logger(m.cfg.Logger), func(s *grpc.Server) { m.rpc.Store(s) })
	if err != nil {
		return fmt.Errorf("configuring etcd: %w", err)
	}
	if err := m.launch(ctx, ec); err != nil {
		return err
	}
	if err := m.sockets.restrict(); err != nil {
		return err
	}
	if err := m.awaitReady(ctx); err != nil {
		return err
	}
	return m.guard.run()
}

// launch runs embed.StartEtcd on a goroutine of its own: it blocks without a
// limit, and a fatal error in it ends its goroutine.
func (m *Member) launch(ctx context.Context, ec *embed.Config) error {
	done := make(chan struct{})
	var (
		started *embed.Etcd
		err     error
	)
	go func() {
		defer close(done)
		defer func() {
			if r := recover(); r != nil {
				m.guard.fail(fmt.Errorf("etcd gave up: %v", r))
			}
		}()
		started, err = embed.StartEtcd(ec)
	}()
	select {
	case <-done:
		if err := m.guard.failure(); err != nil {
			return err
		}
		m.etcd = started
		return explain(err, m.cfg.Dir)
	case <-m.guard.failed:
		return m.guard.failure()
	case <-ctx.Done():
		m.late = true
		// What this start has opened is closed when etcd lets go of it.
		go func() {
			if <-done; started != nil {
				started.Close()
			}
		}()
		return fault.WithHint(fmt.Errorf("starting etcd on %s: opening its log and database: %w", m.cfg.Dir, context.Cause(ctx)),
			"Another process may hold the database, or the disk may be slow: look for a second kapi or etcd on this directory.")
	}
}

// awaitReady waits until the member has a leader, itself, and has published
// itself through raft: from then on it serves.
func (m *Member) awaitReady(ctx context.Context) error {
	tick := time.NewTicker(campaignInterval)
	defer tick.Stop()
	srv := m.etcd.Server
	for {
		select {
		case <-srv.ReadyNotify():
			return nil
		case <-m.guard.failed:
			return m.guard.failure()
		case err := <-m.etcd.Err():
			return explain(fmt.Errorf("serving etcd's sockets: %w", err), m.cfg.Dir)
		case <-srv.StopNotify():
			return explain(errors.New("etcd stopped while it started"), m.cfg.Dir)
		case <-ctx.Done():
			return fault.WithHint(fmt.Errorf("starting etcd on %s: waiting until it serves: %w", m.cfg.Dir, context.Cause(ctx)),
				"The disk may be slow: allow the start more time.")
		case <-tick.C:
			m.campaign(ctx)
		}
	}
}

// abandon undoes a failed start as far as possible.
func (m *Member) abandon(ctx context.Context, found dataDir) error {
	var errs []error
	ended := !m.late
	if m.etcd != nil && m.guard.failure() == nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		err := m.closeEtcd(ctx)
		ended = err == nil
		errs = append(errs, err)
	}
	// Half of a first start holds nothing that anybody has been promised.
	if found.empty && ended {
		errs = append(errs, os.RemoveAll(memberDir(m.cfg.Dir)))
	}
	errs = append(errs, m.sockets.close())
	return errors.Join(errs...)
}
