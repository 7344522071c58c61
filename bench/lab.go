package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/kapi-dev/kapi/internal/kapitest/peer"
)

// lab is one run of the bench: the two sides, a temporary directory, and every
// process that has been started, so that close can end them all.
type lab struct {
	opts    *options
	bins    binaries
	sides   [2]*side
	dir     string
	machine machine
	peer    *peer.PKI // made before the first pair

	pair int      // that runs now, from 0
	rows []string // of the scenario that runs now

	mu    sync.Mutex
	procs []*process
	dirs  int
}

// side is one of the two that are compared.
type side struct {
	Label     string
	spec      sideSpec
	populated map[string]string   // the filled directories, by what fills them
	bare      map[string][]sample // controllers.none.SIZE: what others are compared with
}

func newLab(o *options, bins binaries) (*lab, error) {
	dir, err := os.MkdirTemp(o.WorkDir, "kapi-bench-")
	if err != nil {
		return nil, fmt.Errorf("making the work directory: %w", err)
	}
	l := &lab{opts: o, bins: bins, dir: dir, machine: describeMachine(dir)}
	for i, spec := range []sideSpec{o.A, o.B} {
		l.sides[i] = &side{Label: spec.label(), spec: spec, populated: map[string]string{}, bare: map[string][]sample{}}
	}
	if l.sides[0].Label == l.sides[1].Label {
		l.sides[0].Label += " (a)"
		l.sides[1].Label += " (b)"
	}
	if l.peer, err = peer.NewPKI(filepath.Join(dir, "peer-pki")); err != nil {
		return nil, errors.Join(err, l.close())
	}
	return l, nil
}

func (s sideSpec) label() string {
	if s.Bin != "" {
		return filepath.Base(s.Bin)
	}
	return s.Kind
}

// close ends every process that is left, newest first, and removes the
// temporary directory. It is safe to call at any time after newLab.
func (l *lab) close() error {
	l.mu.Lock()
	procs := l.procs
	l.procs = nil
	l.mu.Unlock()
	for _, p := range slices.Backward(procs) {
		p.kill()
	}
	if err := os.RemoveAll(l.dir); err != nil {
		return fmt.Errorf("removing the work directory: %w", err)
	}
	return nil
}

// run runs the chosen scenarios, each in pairs A B A B. What it returns beside
// an error holds every pair completed before it.
func (l *lab) run(ctx context.Context) (report, error) {
	rep, err := l.newReport()
	if err != nil {
		return rep, err
	}
	for _, sc := range selected(scenarios(), l.opts.Rows) {
		l.rows = nil
		for _, r := range sc.Rows {
			l.rows = append(l.rows, r.Name)
		}
		collected, err := l.runScenario(ctx, sc)
		rep.add(sc, collected)
		if err != nil {
			return rep, err
		}
	}
	return rep, nil
}

// runScenario returns the samples of each side, one per pair.
func (l *lab) runScenario(ctx context.Context, sc scenario) ([2][]sample, error) {
	var collected [2][]sample
	for l.pair = 0; l.pair < l.opts.Pairs; l.pair++ {
		var pair [2]sample
		for i, s := range l.sides {
			begun := time.Now()
			got, err := sc.Run(ctx, l, s)
			if err != nil {
				return collected, fmt.Errorf("running %s on %s, pair %d: %w", sc.Name, s.Label, l.pair+1, err)
			}
			pair[i] = got
			l.progress(sc, s, got, time.Since(begun))
		}
		for i := range pair {
			collected[i] = append(collected[i], pair[i])
		}
	}
	return collected, nil
}

func (l *lab) progress(sc scenario, s *side, got sample, took time.Duration) {
	fmt.Fprintf(os.Stderr, "%s %d/%d %s (%.0f s)\n", sc.Name, l.pair+1, l.opts.Pairs, s.Label, took.Seconds())
	if !l.opts.Verbose {
		return
	}
	for _, r := range sc.Rows {
		if v, ok := got[r.Name]; ok {
			fmt.Fprintf(os.Stderr, "    %s %s %s\n", r.Name, number(v), r.Unit)
		}
	}
}

// wants returns whether the current scenario is to print a row of one of these names.
func (l *lab) wants(names ...string) bool {
	return slices.ContainsFunc(l.rows, func(r string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return rowMatches(r, n) })
	})
}

// newDir returns the path of a directory for a server that nothing has used.
// It is short: a data directory holds unix sockets, whose paths are limited.
func (l *lab) newDir() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dirs++
	return filepath.Join(l.dir, fmt.Sprintf("d%d", l.dirs))
}

// startProcess starts a process that close ends if nothing else has.
func (l *lab) startProcess(s *side, name, bin string, args []string) (*process, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	log := filepath.Join(l.dir, "logs", fmt.Sprintf("%d-%s.log", len(l.procs), fileName(name)))
	p, err := startProcess(name, bin, args, s.spec.Env, log)
	if err != nil {
		return nil, err
	}
	l.procs = append(l.procs, p)
	return p, nil
}

// wait waits, and returns early with an error if ctx ends.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
