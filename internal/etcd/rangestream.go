package etcd

import (
	"context"
	"io"
	"sync"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/etcdserver"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3rpc"
	"google.golang.org/grpc"
)

// newClient returns the in-process client of srv, and its KV for its wait.
func newClient(srv *etcdserver.EtcdServer) (*clientv3.Client, *streamKV) {
	c := v3client.New(srv)
	kv := &streamKV{KV: c.KV, server: v3rpc.NewKVServer(srv), closing: c.Ctx()}
	c.KV = kv
	return c, kv
}

// streamKV adds to the KV of an in-process client the call that etcd's adapter
// (server/proxy/grpcproxy/adapter/kv_client_adapter.go) answers with
// Unimplemented: a range as a stream of chunks. kube-apiserver uses it for
// lists without a selector and for what a watch cache begins with (feature
// EtcdRangeStream), so that a chunk is decoded while the next one is read.
type streamKV struct {
	clientv3.KV
	server  pb.KVServer
	closing context.Context // ends when the client is closed

	mu      sync.Mutex // orders begin and wait
	running sync.WaitGroup
}

// GetStream implements clientv3.KV. Unlike the client of a dialled etcd, it
// leaves nothing behind when the caller stops reading, as soon as ctx ends.
func (kv *streamKV) GetStream(ctx context.Context, key string, opts ...clientv3.OpOption) (clientv3.GetStreamChan, error) {
	if err := kv.begin(); err != nil {
		return nil, err
	}
	call := rangeCall{outcome: make(chan error, 1)}
	end, err := clientv3.NewKVFromKVClient(&call, nil).GetStream(ctx, key, opts...)
	if err != nil {
		kv.running.Done()
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	stopClosing := context.AfterFunc(kv.closing, cancel)
	out := make(chan clientv3.RangeStreamResponse, 1)
	go func() {
		defer kv.running.Done()
		defer close(out)
		defer cancel()
		defer stopClosing()
		err := kv.server.RangeStream(call.request, &chunkSender{ctx: ctx, out: out})
		if err == nil {
			err = io.EOF
		}
		call.outcome <- err
		for failure := range end {
			putLast(ctx, out, failure)
		}
	}()
	return out, nil
}

// putLast makes r the last that a reader of out gets. When ctx has ended there
// may be no reader any more: r then replaces a chunk that nobody has taken, and
// whoever reads on gets the error and not a list that looks complete.
func putLast(ctx context.Context, out chan clientv3.RangeStreamResponse, r clientv3.RangeStreamResponse) {
	select {
	case out <- r:
		return
	case <-ctx.Done():
	}
	select {
	case <-out:
	default:
	}
	out <- r // has room: nobody else sends
}

// begin counts a stream in, unless the client is closed.
func (kv *streamKV) begin() error {
	kv.mu.Lock()
	defer kv.mu.Unlock()
	if err := kv.closing.Err(); err != nil {
		return err
	}
	kv.running.Add(1)
	return nil
}

// wait returns when no stream reads from the server any more. The client must
// be closed, which ends them.
func (kv *streamKV) wait() {
	// Whoever holds it has seen an open client, and is counted when it lets go.
	kv.mu.Lock()
	kv.mu.Unlock() //nolint:staticcheck // empty on purpose
	kv.running.Wait()
}

// rangeCall is the remote side of one GetStream of etcd's client. Only that can
// make a request of options, and a response of an error: rangeCall keeps the
// one, and hands over the outcome of the stream for the other. The chunks don't
// pass here.
type rangeCall struct {
	pb.KVClient
	request *pb.RangeRequest
	outcome chan error // io.EOF for a stream that is complete
}

func (c *rangeCall) RangeStream(_ context.Context, r *pb.RangeRequest, _ ...grpc.CallOption) (pb.KV_RangeStreamClient, error) {
	c.request = r
	return rangeOutcome{outcome: c.outcome}, nil
}

type rangeOutcome struct {
	grpc.ClientStream
	outcome <-chan error
}

func (o rangeOutcome) Recv() (*pb.RangeStreamResponse, error) { return nil, <-o.outcome }

// chunkSender is the server's side of a stream.
type chunkSender struct {
	grpc.ServerStream
	ctx context.Context
	out chan<- clientv3.RangeStreamResponse
}

func (s *chunkSender) Context() context.Context { return s.ctx }

func (s *chunkSender) Send(r *pb.RangeStreamResponse) error {
	select {
	case s.out <- clientv3.RangeStreamResponse{RangeResponse: r.RangeResponse}:
		return nil
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
}
