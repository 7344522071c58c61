package robust

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// proxy stands between kapi and an etcd. It can be told to swallow everything.
type proxy struct {
	listener net.Listener
	target   string
	opened   atomic.Int64 // connections so far
	// stuck holds back every byte while it is locked for writing.
	stuck sync.RWMutex

	mu    sync.Mutex
	conns []net.Conn
	done  sync.WaitGroup
}

func newProxy(t testing.TB, target string) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	p := &proxy{listener: listener, target: target}
	p.done.Go(p.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		p.mu.Lock()
		for _, c := range p.conns {
			_ = c.Close()
		}
		p.mu.Unlock()
		p.done.Wait()
	})
	return p
}

func (p *proxy) address() string { return p.listener.Addr().String() }

func (p *proxy) accept() {
	for {
		in, err := p.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue
		}
		p.opened.Add(1)
		out, err := net.Dial("tcp", p.target)
		if err != nil {
			_ = in.Close()
			continue
		}
		p.mu.Lock()
		p.conns = append(p.conns, in, out)
		p.mu.Unlock()
		p.done.Go(func() { p.copy(in, out) })
		p.done.Go(func() { p.copy(out, in) })
	}
}

func (p *proxy) copy(to, from net.Conn) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		p.stuck.RLock()
		_, werr := to.Write(buf[:n])
		p.stuck.RUnlock()
		if err != nil || werr != nil {
			if errors.Is(err, io.EOF) {
				_ = to.(*net.TCPConn).CloseWrite()
				return
			}
			_ = to.Close()
			_ = from.Close()
			return
		}
	}
}
