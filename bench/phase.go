package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// phase is what a number of equal requests took.
type phase struct {
	elapsed   time.Duration
	latencies []float64 // ms, by request number
}

func (p phase) perSecond() float64 { return float64(len(p.latencies)) / p.elapsed.Seconds() }

// runPhase has the workers do requests 0 to n-1, each as soon as one is free.
// The first error ends the phase. do is called by worker w for request i.
func runPhase(ctx context.Context, workers, n int, do func(ctx context.Context, w, i int) error) (phase, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p := phase{latencies: make([]float64, n)}
	var next atomic.Int64
	var wg sync.WaitGroup
	begun := time.Now()
	for w := range workers {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				asked := time.Now()
				if err := do(ctx, w, i); err != nil {
					cancel(fmt.Errorf("request %d: %w", i, err))
					return
				}
				p.latencies[i] = float64(time.Since(asked)) / float64(time.Millisecond)
			}
		})
	}
	wg.Wait()
	p.elapsed = time.Since(begun)
	if ctx.Err() != nil {
		return p, context.Cause(ctx)
	}
	return p, nil
}
