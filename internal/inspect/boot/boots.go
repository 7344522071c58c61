package boot

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	inspect "github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// Steps beside the components.
const (
	// StepProcess lasts from the start of the process until main runs.
	StepProcess = "process"
	// StepHooks lasts from the first post-start hook until the last has ended.
	StepHooks = "post-start hooks"
	// StepReady lasts from the start of the process until it was ready.
	StepReady = "ready"
)

// keepBoots is how many starts are shown.
const keepBoots = 10

// syncTimeout is how long a failure waits for the disk before the process ends.
const syncTimeout = 2 * time.Second

// Component is one of those that are started.
type Component struct {
	Name string
	// DependsOn has the meaning of lifecycle.Component: nil is all before it.
	DependsOn []string
}

// Step is a lifecycle.Step: a component has come to State ("waiting", "starting",
// "ready", "stopping", "stopped", "failed", "hung"). It is a type of its own, since
// inspect knows nothing of those it is told by.
type Step struct {
	Component string
	State     string
	StartedAt time.Time
	ReadyAt   time.Time
	Err       error
}

// BootsConfig is what [NewBoots] needs.
type BootsConfig struct {
	// ServerID is the identity of the server in the objects; it is asked when
	// they are made.
	ServerID func() string
	// Components are those that will be started, in order.
	Components []Component
	// HooksOf is the component whose start runs the post-start hooks.
	HooksOf string
	// ProcessStart is when the process began; see [ProcessStart]. Zero: now.
	ProcessStart time.Time
	// Changed is called when a step has come to another state; nil: nobody.
	Changed func()
}

// Boots remembers how the process has started, and how those before it did on the
// same data directory. It implements [HookObserver]. Its methods are safe for
// concurrent use.
//
// What is known of this start is appended to the file line by line, by a goroutine
// of its own: nobody waits for the disk. A line is in the page cache at once, which
// outlives the process but not the machine; the file is synced when a hook has
// failed (the failing hook waits for that), when the process is ready, and at the end.
type Boots struct {
	cfg BootsConfig

	mu      sync.Mutex
	boot    int64
	steps   []*step // of this start, in order
	history []start // of those before, oldest first
	journal *journal
}

// step is one step, as it is kept in the file.
type step struct {
	Order     int32            `json:"order"`
	Component string           `json:"component"`
	DependsOn []string         `json:"dependsOn,omitempty"`
	State     inspect.RunState `json:"state"`
	StartedAt time.Time        `json:"startedAt,omitzero"`
	ReadyAt   time.Time        `json:"readyAt,omitzero"`
	Error     string           `json:"error,omitempty"`
}

// start is one start of the process.
type start struct {
	boot     int64
	bootedAt time.Time
	steps    []*step
}

// NewBoots returns the record of this start. Nothing is on disk until Open.
func NewBoots(cfg BootsConfig) *Boots {
	now := time.Now()
	if cfg.ProcessStart.IsZero() || cfg.ProcessStart.After(now) {
		cfg.ProcessStart = now
	}
	b := &Boots{cfg: cfg, boot: 1}
	b.add(step{Component: StepProcess, DependsOn: []string{}, State: inspect.RunDone, StartedAt: cfg.ProcessStart, ReadyAt: now})
	var before []string
	needed := map[string]bool{}
	for _, c := range cfg.Components {
		needs := c.DependsOn
		if needs == nil {
			needs = slices.Clone(before)
		}
		for _, name := range needs {
			needed[name] = true
		}
		before = append(before, c.Name)
		b.add(step{Component: c.Name, DependsOn: needs, State: inspect.RunPending})
		if c.Name == cfg.HooksOf {
			// They run while the component starts, so they need what it needs.
			b.add(step{Component: StepHooks, DependsOn: needs, State: inspect.RunPending})
		}
	}
	last := slices.DeleteFunc(before, func(name string) bool { return needed[name] })
	b.add(step{Component: StepReady, DependsOn: last, State: inspect.RunRunning, StartedAt: cfg.ProcessStart})
	return b
}

func (b *Boots) add(s step) {
	s.Order = int32(len(b.steps))
	b.steps = append(b.steps, &s)
}

// Open reads the starts before this one from the file at path and goes on writing
// to it. It is called when the data directory is locked; [Boots.Close] before it is
// unlocked. A file that can't be read is set aside, and one that can't be written is
// done without: the error is for the log, the start goes on.
func (b *Boots) Open(path string) error {
	history, rewrite, err := readBoots(path)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.journal != nil {
		return fmt.Errorf("opening the record of starts: %s is open already", path)
	}
	for _, s := range history {
		b.boot = max(b.boot, s.boot+1)
	}
	b.history = history[max(len(history)-(keepBoots-1), 0):]
	var content []byte
	if rewrite {
		content = encodeStarts(b.history)
	}
	j, openErr := openJournal(path, content, rewrite)
	if openErr != nil {
		return errors.Join(err, openErr)
	}
	b.journal = j
	for _, s := range b.steps {
		b.write(s)
	}
	return err
}

// Observe takes a step of a component; it is quick and never waits for the disk.
func (b *Boots) Observe(told Step) {
	b.update(told.Component, func(s *step) bool {
		before := *s
		s.StartedAt, s.ReadyAt = told.StartedAt, told.ReadyAt
		if told.Err != nil {
			s.Error = told.Err.Error()
		}
		switch {
		case !told.ReadyAt.IsZero():
			s.State = inspect.RunDone
		case told.StartedAt.IsZero():
			s.State = inspect.RunPending
		case told.State == "starting":
			s.State = inspect.RunRunning
		default:
			s.fail(before.ReadyAt, "the start was given up")
		}
		return s.State != before.State || s.Error != before.Error
	})
}

// fail ends a step that has not become ready; why is for one without an error.
func (s *step) fail(at time.Time, why string) {
	if at.IsZero() {
		at = time.Now()
	}
	s.State, s.ReadyAt = inspect.RunFailed, at
	if s.Error == "" {
		s.Error = why
	}
}

// HooksStarted implements [HookObserver].
func (b *Boots) HooksStarted(at time.Time) {
	b.update(StepHooks, func(s *step) bool {
		s.StartedAt = at
		if s.State == inspect.RunPending { // the end of quick hooks may be told before
			s.State = inspect.RunRunning
		}
		return true
	})
}

// HooksDone implements [HookObserver].
func (b *Boots) HooksDone(at time.Time) {
	b.update(StepHooks, func(s *step) bool {
		s.State, s.ReadyAt = inspect.RunDone, at
		return true
	})
}

// HookFailed implements [HookObserver]: it returns when the failure is on disk, or
// after two seconds.
func (b *Boots) HookFailed(f HookError) {
	b.update(StepHooks, func(s *step) bool {
		if s.State == inspect.RunFailed {
			return false // the first is the one that the process ends for
		}
		if s.StartedAt.IsZero() {
			s.StartedAt = f.At
		}
		s.Error = f.Error()
		s.fail(f.At, "")
		return true
	})
	b.sync()
}

// Ready notes that the process is ready. The file is synced, but not waited for.
func (b *Boots) Ready() {
	b.update(StepReady, func(s *step) bool {
		s.State, s.ReadyAt = inspect.RunDone, time.Now()
		return true
	})
	if j := b.open(); j != nil {
		j.requestSync()
	}
}

// Died notes why the process is about to end by itself, and returns when that is on
// disk, or after two seconds.
func (b *Boots) Died(why string) {
	b.update(StepReady, func(s *step) bool {
		s.Error = why
		if s.State != inspect.RunDone {
			s.fail(time.Time{}, why)
		}
		return true
	})
	b.sync()
}

// Close writes what is left and returns when the file is closed, or ctx is done.
// What is told later is remembered only.
func (b *Boots) Close(ctx context.Context) error {
	b.mu.Lock()
	j := b.journal
	b.journal = nil
	b.mu.Unlock()
	if j == nil {
		return nil
	}
	return j.close(ctx)
}

func (b *Boots) open() *journal {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.journal
}

func (b *Boots) sync() {
	if j := b.open(); j != nil {
		ctx, cancel := context.WithTimeout(context.Background(), syncTimeout)
		defer cancel()
		j.flush(ctx)
	}
}

// update changes a step, writes it if change says so, and tells who wants to know.
func (b *Boots) update(component string, change func(*step) bool) {
	b.mu.Lock()
	i := slices.IndexFunc(b.steps, func(s *step) bool { return s.Component == component })
	changed := i >= 0 && change(b.steps[i])
	if changed {
		b.write(b.steps[i])
	}
	b.mu.Unlock()
	if changed && b.cfg.Changed != nil {
		b.cfg.Changed()
	}
}

// write is called with the lock held.
func (b *Boots) write(s *step) {
	if b.journal != nil {
		b.journal.append(encodeStep(b.boot, b.cfg.ProcessStart, s))
	}
}

// sortedSteps returns the steps of a start in order, one for each component.
func sortedSteps(byComponent map[string]*step) []*step {
	return slices.SortedFunc(maps.Values(byComponent), func(a, b *step) int { return int(a.Order - b.Order) })
}
