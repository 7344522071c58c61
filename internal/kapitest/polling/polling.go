// Package polling waits in tests for what a server does in its own time. It starts no
// server and links none. It imports the standard library only.
package polling

import (
	"context"
	"fmt"
	"time"
)

// Until calls check, now and then at every interval, until it returns nil. After
// patience, or when ctx is done, it returns the last error of check, and why it has
// given up.
func Until(ctx context.Context, patience, every time.Duration, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	var last error
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		// What the end of ctx has cut short says less than the error before it.
		if last == nil || ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waited until %w; last: %w", context.Cause(ctx), last)
		case <-ticker.C:
		}
	}
}
