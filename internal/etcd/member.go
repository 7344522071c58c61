package etcd

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
	"google.golang.org/grpc"

	"github.com/kapi-dev/kapi/internal/fault"
)

// drainTime is how long RPCs over the socket may go on once the member stops.
// kapi's own requests don't pass there and have ended before.
const drainTime = 500 * time.Millisecond

// Member is a running etcd member. Start makes one, Stop ends it; in between
// all methods may be called from several goroutines.
type Member struct {
	cfg     Config
	sockets sockets
	guard   *guard
	etcd    *embed.Etcd
	late    bool // the start was given up while etcd opened its files
	client  *clientv3.Client
	rpc     atomic.Pointer[grpc.Server] // set when etcd begins to serve its socket

	errs     chan error
	stopping chan struct{}
	watched  chan struct{} // closed when watch needs no more waiting for

	stopOnce sync.Once
	stopErr  error
}

// Client returns the in-process client, the same one each time: its calls
// reach the server without a socket. What a watch delivers is shared between
// watchers and must not be changed. Stop closes it.
func (m *Member) Client() *clientv3.Client { return m.client }

// Endpoint returns the URL of the client socket (unix:///...), as an endpoint
// for clientv3 and etcdctl.
func (m *Member) Endpoint() string { return "unix://" + m.sockets.client() }

// Err returns a channel that receives at most one error: the one that ended
// the member. It is closed afterwards, and when the member is stopped.
func (m *Member) Err() <-chan error { return m.errs }

// serve hands the member to its users.
//
// Ranges as streams (RangeStream) stay unsupported, as they are in etcd's
// in-process adapter: there is no copy and no message size that they would
// save, and a list of 20,000 objects took a third more CPU time by them, since
// kube-apiserver then learns too late how many objects to make room for.
func (m *Member) serve() {
	m.client = v3client.New(m.etcd.Server)
	go m.watch()
}

// watch waits for the first failure, or for Stop. Stop waits for it, but not
// for the OnFatal that it calls, since OnFatal may call Stop.
func (m *Member) watch() {
	defer close(m.errs)
	err := m.ended()
	if err != nil {
		m.guard.fail(err)
		err = m.guard.failure()
		m.errs <- err
	}
	close(m.watched)
	if err != nil && m.cfg.OnFatal != nil {
		m.cfg.OnFatal(err)
	}
}

// ended blocks until the member has failed, and says why. Nil: it was stopped.
func (m *Member) ended() error {
	select {
	case <-m.stopping:
		return nil
	case <-m.guard.failed:
		return m.guard.failure()
	case err := <-m.etcd.Err():
		if err == nil {
			err = errors.New("etcd stopped serving its socket")
		}
		return err
	case <-m.etcd.Server.StopNotify():
		return errors.New("etcd stopped by itself")
	}
}

// Stop ends the client, the listeners and the server, in this order, closes
// the log and the database, synced, and removes the sockets. ctx bounds it;
// when it ends first, the process may still end, as after a kill. After a
// fatal error of the member there is nothing that can be closed: Stop removes
// the sockets and returns that error. Further calls return what the first did.
func (m *Member) Stop(ctx context.Context) error {
	m.stopOnce.Do(func() {
		close(m.stopping)
		<-m.watched
		m.stopErr = m.stop(ctx)
	})
	return m.stopErr
}

func (m *Member) stop(ctx context.Context) error {
	if err := m.guard.failure(); err != nil {
		return errors.Join(fmt.Errorf("stopping etcd after it had failed: %w", err), m.sockets.close())
	}
	// Its error is that of the context which Close cancels.
	_ = m.client.Close()
	return errors.Join(m.closeEtcd(ctx), m.sockets.close())
}

// closeEtcd closes the server. If ctx ends, or etcd fails on the way, its
// goroutine is left behind: nothing can interrupt a write that hangs.
func (m *Member) closeEtcd(ctx context.Context) error {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		if rpc := m.rpc.Load(); rpc != nil {
			drain(ctx, rpc)
		}
		m.etcd.Close()
	}()
	select {
	case <-closed:
		return nil
	case <-m.guard.failed:
		return fmt.Errorf("stopping etcd: %w", m.guard.failure())
	case <-ctx.Done():
		return fault.WithHint(fmt.Errorf("stopping etcd: closing its log and database: %w", context.Cause(ctx)),
			"Nothing acknowledged is lost. If this repeats, the disk of %s is slow or hangs.", m.cfg.Dir)
	}
}

// drain stops rpc, which lets running calls finish for a short time. etcd's
// own Close would wait seconds for streams that nobody ends.
func drain(ctx context.Context, rpc *grpc.Server) {
	ctx, cancel := context.WithTimeout(ctx, drainTime)
	defer cancel()
	unhurried := context.AfterFunc(ctx, rpc.Stop)
	rpc.GracefulStop()
	unhurried()
}
