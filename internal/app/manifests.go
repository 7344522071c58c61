package app

import (
	"context"
	"errors"
	"os"

	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/internal/logging"
	"github.com/kapi-dev/kapi/internal/manifests"
)

// checkManifests refuses paths that can't be looked at, before anything starts:
// a mistyped one must not look like a server that has it all.
func (s *server) checkManifests() error {
	for _, path := range s.cfg.Manifests {
		if _, err := os.Stat(path); err != nil {
			return fault.WithHint(fault.Usagef("reading manifests: %w", err), "correct --manifests, or the key manifests of the file")
		}
	}
	return nil
}

// applyManifests applies --manifests. What is wrong with a file is logged with
// its place; it does not keep the server from being ready for the rest.
func (s *server) applyManifests(ctx context.Context) error {
	if len(s.cfg.Manifests) == 0 {
		return nil
	}
	log := s.log.With(logging.KeyComponent, "manifests")
	objects, err := manifests.Load(s.cfg.Manifests)
	failed := unjoin(err)
	result, err := manifests.Apply(ctx, s.chain.Outermost().LoopbackClientConfig, objects)
	failed = append(failed, result.Errs...)
	for _, err := range failed {
		log.Error(err.Error())
	}
	if err != nil {
		return err
	}
	log.Info("applied", "objects", result.Applied, "failed", len(failed))
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
