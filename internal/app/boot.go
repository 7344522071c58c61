package app

import (
	"context"
	"fmt"
	"os"

	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/internal/inspect"
	"github.com/kapi-dev/kapi/internal/inspect/boot"
	"github.com/kapi-dev/kapi/internal/lifecycle"
)

// serverChain is the component that runs the post-start hooks.
const serverChain = "server chain"

// newStart watches the start of the components.
func newStart(components []lifecycle.Component) *inspect.Start {
	named := make([]boot.Component, 0, len(components))
	for _, c := range components {
		named = append(named, boot.Component{Name: c.Name, DependsOn: c.DependsOn})
	}
	return inspect.NewStart(named, serverChain)
}

// observe hands each step of a component on.
func (s *server) observe(step lifecycle.Step) {
	s.boot.Boots.Observe(boot.Step{
		Component: step.Component, State: string(step.State), StartedAt: step.StartedAt, ReadyAt: step.ReadyAt, Err: step.Err,
	})
}

// openBoots begins to write the start down. A server whose record can't be
// written serves all the same.
func (s *server) openBoots() {
	if err := s.boot.Boots.Open(s.dir.Boots()); err != nil {
		s.log.Warn("starts are not remembered as they should be", "err", err)
	}
}

func (s *server) closeBoots(ctx context.Context) {
	if err := s.boot.Boots.Close(ctx); err != nil {
		s.log.Warn("the record of this start was not written to its end", "err", err)
	}
}

// fatal ends the process after a fatal message of klog or zap. A post-start hook
// that fails ends it that way: what is said last, and remembered for the next
// start, is which hook it was, and why.
func (s *server) fatal(message, _ string) {
	words := s.boot.Hooks.Fatal(message)
	if words == "" {
		s.boot.Boots.Died(message)
	} else {
		fmt.Fprintln(s.opts.Err, "error: "+words)
	}
	os.Exit(fault.CodeFailure)
}

// panicked is called in a goroutine of upstream that panics. If it is that of a
// post-start hook, which hook it was is said before the runtime prints where.
func (s *server) panicked(ctx context.Context, value any) {
	s.boot.Hooks.PanicHandler(ctx, value)
	if words := s.boot.Hooks.LastWords(); words != "" {
		fmt.Fprintln(s.opts.Err, "error: "+words)
	}
}
