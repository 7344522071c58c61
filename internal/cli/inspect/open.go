package inspect

import (
	"context"
	"io"

	"github.com/kapi-dev/kapi/internal/cli/connect"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/client/inspection/dial"
	"github.com/kapi-dev/kapi/internal/client/inspection/objects"
	"github.com/kapi-dev/kapi/internal/client/inspection/recorded"
	"github.com/kapi-dev/kapi/internal/fault"
)

// open returns what the flags name: a recording, a kapi, or another API server.
func (s *session) open(ctx context.Context, stdin io.Reader) (inspection.Server, error) {
	switch s.from {
	case "":
		return s.dial(ctx)
	case "-":
		return recorded.Read(stdin, "-")
	}
	return recorded.Open(s.from)
}

// dial returns the server, kapi or not, and leaves the connection in the session.
func (s *session) dial(ctx context.Context) (inspection.Server, error) {
	connection, err := s.connect()
	if err != nil {
		return nil, err
	}
	return dial.Dial(ctx, connection.Config)
}

// connect finds the server without asking it.
func (s *session) connect() (*connect.Connection, error) {
	if s.connection != nil {
		return s.connection, nil
	}
	connection, err := s.flags.Connect()
	if err == nil {
		s.connection = connection
	}
	return connection, err
}

// reader reads the real objects of a server; for what a recording can't do.
func (s *session) reader() (*objects.Reader, error) {
	if err := s.changes(); err != nil {
		return nil, err
	}
	connection, err := s.connect()
	if err != nil {
		return nil, err
	}
	return objects.New(connection.Config)
}

// changes refuses a recording where changes are waited for.
func (s *session) changes() error {
	if s.from == "" {
		return nil
	}
	return fault.WithHint(fault.Usagef("%s is a recording, which does not change", s.from), "leave --from out to look at a server")
}
