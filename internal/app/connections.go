package app

import (
	"net"
	"sync"
)

// connections is a listener that knows the connections it has accepted, so
// that a stop can end those whose clients have stopped reading: what they are
// owed can't be sent, and the request would wait for its own timeout.
type connections struct {
	net.Listener

	mu   sync.Mutex
	open map[*connection]struct{}
}

func newConnections(listener net.Listener) *connections {
	return &connections{Listener: listener, open: map[*connection]struct{}{}}
}

// Accept implements net.Listener.
func (l *connections) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	conn := &connection{Conn: accepted, listener: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[conn] = struct{}{}
	return conn, nil
}

// closeAll closes what is still open and returns how many that were.
func (l *connections) closeAll() int {
	l.mu.Lock()
	rest := make([]*connection, 0, len(l.open))
	for conn := range l.open {
		rest = append(rest, conn)
	}
	l.mu.Unlock()
	for _, conn := range rest {
		_ = conn.Close()
	}
	return len(rest)
}

type connection struct {
	net.Conn

	listener *connections
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.listener.mu.Lock()
	delete(c.listener.open, c)
	c.listener.mu.Unlock()
	return c.Conn.Close()
}
