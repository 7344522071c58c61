package app

import (
	"context"
	"errors"

	"github.com/kapi-dev/kapi/internal/logging"
	"github.com/kapi-dev/kapi/internal/manifests"
)

// applyManifests applies --manifests. What is wrong with a file is logged with
// its place; it does not keep the server from being ready for the rest.
func (s *server) applyManifests(ctx context.Context) error {
	if len(s.cfg.Manifests) == 0 {
		return nil
	}
	log := s.log.With(logging.KeyComponent, "manifests")
	objects, err := manifests.Load(s.cfg.Manifests)
	for _, err := range unjoin(err) {
		log.Error(err.Error())
	}
	result, err := manifests.Apply(ctx, s.chain.Outermost().LoopbackClientConfig, objects)
	for _, err := range result.Errs {
		log.Error(err.Error())
	}
	if err != nil {
		return err
	}
	log.Info("applied", "objects", result.Applied, "failed", len(result.Errs))
	return nil
}

// unjoin returns the errors that errors.Join has joined, all the way down.
func unjoin(err error) []error {
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		if err == nil {
			return nil
		}
		return []error{err}
	}
	var all []error
	for _, err := range joined.Unwrap() {
		all = append(all, unjoin(err)...)
	}
	return all
}
