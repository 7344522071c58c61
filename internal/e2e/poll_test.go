package e2e_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/kapi-dev/kapi/internal/kapitest/polling"
)

const (
	// patience bounds every wait. It decides only how long a broken server keeps
	// the tests waiting, so it is generous.
	patience  = 2 * time.Minute
	pollEvery = 25 * time.Millisecond
)

// poll calls check until it returns nil, and returns its last error when it has
// not after patience.
func poll(ctx context.Context, check func(context.Context) error) error {
	return polling.Until(ctx, patience, pollEvery, check)
}

// eventually is poll for a test.
func eventually(t testing.TB, check func(context.Context) error) {
	t.Helper()
	if err := poll(t.Context(), check); err != nil {
		t.Fatal(err)
	}
}

// await is eventually for what is true or not; what says what was waited for.
func await(t testing.TB, what string, check func(context.Context) bool) {
	t.Helper()
	eventually(t, func(ctx context.Context) error {
		if !check(ctx) {
			return errors.New("not yet: " + what)
		}
		return nil
	})
}
