package inspect

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// closeTimeout bounds the wait for health checks that hang.
const closeTimeout = time.Second

// Run does what goes on while the server serves. It returns when ended is closed,
// and all watches of the group with it.
func (i *Inspector) Run(ended <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	b := i.built.Load()
	for _, run := range []func(context.Context) error{b.transitions.Run, b.probes.Run, b.sample} {
		running.Go(func() { _ = run(ctx) }) // each ends with ctx, and its error is that
	}
	<-ended
	cancel()
	i.close()
	running.Wait()
	closing, done := context.WithTimeout(context.Background(), closeTimeout)
	defer done()
	_ = b.checks.Close(closing)
	b.release()
}

// AttachHooks takes over the post-start hooks. It must be called when the server is
// prepared, as some are added then, and before it runs; RunHooks follows.
func (i *Inspector) AttachHooks() { i.cfg.Start.Hooks.Attach(i.built.Load().target.Layers) }

// RunHooks watches the hooks until all have ended, or ended is closed.
func (i *Inspector) RunHooks(ended <-chan struct{}) {
	_ = i.cfg.Start.Hooks.Poll(wait.ContextForChannel(ended)) // what fails is shown
}

func (b *built) sample(ctx context.Context) error {
	b.resources.Run(ctx)
	return nil
}
