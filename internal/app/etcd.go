package app

import (
	"context"
	"time"

	"github.com/kapi-dev/kapi/internal/etcd"
	"github.com/kapi-dev/kapi/internal/logging"
)

// externalTimeout bounds the question whether an external etcd can be used.
const externalTimeout = 20 * time.Second

func (s *server) embedded() bool { return len(s.cfg.Etcd.Servers) == 0 }

// startEtcd starts the embedded etcd, or asks the external one whether it can be used.
func (s *server) startEtcd(ctx context.Context) error {
	if !s.embedded() {
		return s.findEtcd(ctx)
	}
	member, err := etcd.Start(ctx, etcd.Config{
		Dir:           s.dir.Etcd(),
		RunDir:        s.dir.Run(),
		QuotaBytes:    int64(s.cfg.Etcd.QuotaBytes),
		UnsafeNoFsync: s.cfg.Etcd.UnsafeNoFsync,
		Logger:        s.logs.Zap(),
	})
	if err != nil {
		return err
	}
	s.etcd, s.endpoints, s.etcdClient = member, []string{member.Endpoint()}, member.Client()
	status, err := member.Status(ctx)
	if err == nil {
		s.log.Debug("etcd is ready", logging.KeyComponent, "etcd", "version", status.Version, "revision", status.Revision, "bytes", status.DBSize)
	}
	return err
}

// findEtcd asks the external etcd, and makes a client to look at it.
func (s *server) findEtcd(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, externalTimeout)
	defer cancel()
	s.endpoints = s.cfg.Etcd.Servers
	files := etcd.TLSFiles{CAFile: s.cfg.Etcd.CAFile, CertFile: s.cfg.Etcd.CertFile, KeyFile: s.cfg.Etcd.KeyFile}
	if err := etcd.CheckExternal(ctx, s.endpoints, files); err != nil {
		return err
	}
	var err error
	s.etcdClient, err = etcd.External(s.endpoints, files)
	return err
}

func (s *server) stopEtcd(ctx context.Context) error {
	if s.etcd == nil {
		return s.etcdClient.Close()
	}
	dead := s.etcdDead(ctx)
	if err := s.etcd.Stop(ctx); err != nil && !dead {
		return err
	}
	return nil // what it died of is the reason of this stop, and reported as such
}

// etcdDead tells whether the embedded etcd has met an error that it can't survive.
func (s *server) etcdDead(ctx context.Context) bool {
	if s.etcd == nil {
		return false
	}
	_, err := s.etcd.Status(ctx)
	return err != nil && ctx.Err() == nil
}

// withoutEtcd bounds the stop of a chain whose etcd is dead. Its requests wait
// for answers that will not come.
const withoutEtcd = 2 * time.Second

// stopServing is stopChain, and does not wait for what can't end.
func (s *server) stopServing(ctx context.Context) error {
	if !s.etcdDead(ctx) {
		return s.stopChain(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, withoutEtcd)
	defer cancel()
	if err := s.stopChain(ctx); err != nil {
		s.log.Debug("leaving the server chain to the end of the process", "err", err)
	}
	return nil
}

func (s *server) etcdFailed() <-chan error {
	if s.etcd == nil {
		return nil
	}
	return s.etcd.Err()
}
