// Package dial finds out what kind of API server answers, and returns it as an
// inspection.Server. It keeps nothing. It may import the implementations.
package dial

import (
	"context"

	"k8s.io/client-go/rest"

	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/client/inspection/foreign"
	"github.com/kapi-dev/kapi/internal/client/inspection/live"
)

// Dial asks the server of a client configuration whether it is a kapi, and returns
// live or foreign accordingly. The error is that of the one request.
func Dial(ctx context.Context, config *rest.Config) (inspection.Server, error) {
	server, err := live.New(config)
	if err != nil {
		return nil, err
	}
	kapi, err := server.Serves(ctx)
	if err != nil {
		return nil, err
	}
	if kapi {
		return server, nil
	}
	return foreign.New(config)
}
