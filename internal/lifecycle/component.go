package lifecycle

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Deadlines of a stop where none is given.
const (
	// DefaultComponentStopTimeout is for one component.
	DefaultComponentStopTimeout = 15 * time.Second
	// DefaultStopTimeout is for all of them together.
	DefaultStopTimeout = 2 * time.Minute
	// lastChance is what a component's Stop gets when the time for all is used
	// up by others: files want closing still.
	lastChance = time.Second
)

// Component is a part of the process that is started and stopped.
type Component struct {
	// Name appears in errors and logs: "etcd". It is unique.
	Name string
	// DependsOn names the components that must be ready before this one is
	// started; each stands before it in the list. Nil means all that stand
	// before it; an empty slice means none, so that it starts at once.
	DependsOn []string
	// Start returns nil when the component is ready to be used. On an error it
	// has cleaned up after itself: Stop is not called then. ctx is cancelled
	// when the start is given up, and when Run returns; in between it stays
	// valid after Start has returned. It is never cancelled to stop a component
	// that is ready. Nil: nothing to start.
	Start func(ctx context.Context) error
	// Stop ends what Start began and returns when it has ended. ctx has a
	// deadline; after it the next component is stopped, whether this one has
	// ended or not. Nil: nothing to stop.
	Stop func(ctx context.Context) error
	// Failed is asked once, after Start, for a channel on which the component
	// says that it can't go on; that stops the process. A closed channel says
	// nothing. Nil: it never fails.
	Failed func() <-chan error
	// StopTimeout is the deadline of Stop, and of Start once it has been
	// cancelled. Zero: DefaultComponentStopTimeout.
	StopTimeout time.Duration
}

// State is how far a component has come.
type State string

// The states, in the order in which a component goes through them. A component
// ends in StateStopped, StateFailed or StateHung.
const (
	StateWaiting  State = "waiting"  // for those that it depends on
	StateStarting State = "starting" // Start is running
	StateReady    State = "ready"    // Start has returned nil
	StateStopping State = "stopping" // Stop is running
	StateStopped  State = "stopped"  // Stop has returned nil, or a cancelled Start has given up
	StateFailed   State = "failed"   // Start or Stop has returned an error
	StateHung     State = "hung"     // Start or Stop has not returned in time
)

// Step tells an observer that a component has come to State. Times that have
// not come yet are zero.
type Step struct {
	Component  string
	State      State
	StartedAt  time.Time // Start was called
	ReadyAt    time.Time // Start returned nil
	StoppingAt time.Time // Stop was called
	StoppedAt  time.Time // Stop returned, or was no longer waited for
	// Err is what went wrong: in its start, while it ran, or in its stop.
	Err error
}

// part is a component while it runs. Only the goroutine of Run touches it.
type part struct {
	Component
	needs  []int // indices of those that it depends on
	step   Step
	cancel context.CancelFunc // of the context of Start
}

// newParts checks the list and resolves the dependencies. A dependency stands
// before its dependant, so there is no cycle to look for.
func newParts(list []Component) ([]*part, error) {
	parts := make([]*part, len(list))
	index := map[string]int{}
	for i, c := range list {
		if c.Name == "" {
			return nil, fmt.Errorf("listing components: number %d has no name", i)
		}
		if _, dup := index[c.Name]; dup {
			return nil, fmt.Errorf("listing components: two are named %q", c.Name)
		}
		if c.StopTimeout <= 0 {
			c.StopTimeout = DefaultComponentStopTimeout
		}
		p := &part{Component: c, step: Step{Component: c.Name, State: StateWaiting}}
		for _, name := range c.DependsOn {
			j, ok := index[name]
			if !ok {
				return nil, fmt.Errorf("listing components: %q depends on %q, which does not stand before it", c.Name, name)
			}
			p.needs = append(p.needs, j)
		}
		if c.DependsOn == nil {
			for j := range i {
				p.needs = append(p.needs, j)
			}
		}
		index[c.Name], parts[i] = i, p
	}
	return parts, nil
}

// startable reports whether p waits for nothing any more.
func startable(parts []*part, p *part) bool {
	return p.step.State == StateWaiting && !slices.ContainsFunc(p.needs, func(i int) bool {
		return parts[i].step.State != StateReady
	})
}
