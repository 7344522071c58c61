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
		ctx, cancel := context.WithTimeout(ctx, externalTimeout)
		defer cancel()
		s.endpoints = s.cfg.Etcd.Servers
		return etcd.CheckExternal(ctx, s.endpoints, etcd.TLSFiles{
			CAFile: s.cfg.Etcd.CAFile, CertFile: s.cfg.Etcd.CertFile, KeyFile: s.cfg.Etcd.KeyFile,
		})
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
	s.etcd, s.endpoints = member, []string{member.Endpoint()}
	status, err := member.Status(ctx)
	if err == nil {
		s.log.Debug("etcd is ready", logging.KeyComponent, "etcd", "version", status.Version, "revision", status.Revision, "bytes", status.DBSize)
	}
	return err
}

func (s *server) stopEtcd(ctx context.Context) error {
	if s.etcd == nil {
		return nil
	}
	return s.etcd.Stop(ctx)
}

func (s *server) etcdFailed() <-chan error {
	if s.etcd == nil {
		return nil
	}
	return s.etcd.Err()
}
