package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/kapi-dev/kapi/internal/fault"
)

// listen opens the secure port before anything is built: a port that is taken
// is the most frequent mistake, and shall cost nothing.
func (s *server) listen(ctx context.Context) error {
	address := net.JoinHostPort(s.cfg.Server.BindAddress, strconv.Itoa(s.cfg.Server.SecurePort))
	config := net.ListenConfig{Control: s.socketOptions()}
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return explainListen(net.ParseIP(s.cfg.Server.BindAddress), s.cfg.Server.SecurePort, err)
	}
	s.listener = newConnections(listener)
	return nil
}

// closeListener closes what nobody serves any more. A chain that goes on after
// its deadline keeps the listener: upstream's accept loop takes a listener that
// somebody else closes for a reason to panic, and the process ends anyway.
func (s *server) closeListener(context.Context) error {
	if s.chain.serving() {
		return nil
	}
	if err := s.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// serving tells whether the chain was started and has not ended.
func (r *running) serving() bool {
	if r.ended == nil {
		return false
	}
	select {
	case <-r.ended:
		return false
	default:
		return true
	}
}

// socketOptions are those of --permit-port-sharing and --permit-address-sharing.
func (s *server) socketOptions() func(network, address string, c syscall.RawConn) error {
	options := map[string]int{"permit-port-sharing": unix.SO_REUSEPORT, "permit-address-sharing": unix.SO_REUSEADDR}
	return func(_, _ string, c syscall.RawConn) error {
		var failed error
		err := c.Control(func(fd uintptr) {
			for _, flag := range s.cfg.KubeAPIServer.Flags {
				option, ok := options[flag.Name]
				if on, _ := strconv.ParseBool(flag.Value); !ok || !on {
					continue
				}
				if err := unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, option, 1); err != nil {
					failed = fmt.Errorf("setting --%s: %w", flag.Name, err)
				}
			}
		})
		return errors.Join(err, failed)
	}
}

func explainListen(address net.IP, port int, err error) error {
	err = fmt.Errorf("listening on %s: %w", net.JoinHostPort(address.String(), strconv.Itoa(port)), errnoOf(err))
	switch {
	case errors.Is(err, unix.EADDRINUSE):
		if holder := portHolder(address, port); holder != "" {
			err = fmt.Errorf("%w: taken by %s", err, holder)
		}
		return fault.WithHint(err, "end that process, or take another port with --secure-port (0 takes any free one)")
	case errors.Is(err, unix.EADDRNOTAVAIL):
		return fault.WithHint(err, "no interface of this machine has that address: set --bind-address to one that it has")
	case errors.Is(err, unix.EACCES):
		return fault.WithHint(err, "a port below 1024 needs root: take a higher one with --secure-port")
	}
	return err
}

// errnoOf drops what net.OpError repeats of the address.
func errnoOf(err error) error {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno
	}
	return err
}
