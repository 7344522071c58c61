package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// profile takes a CPU profile of the side's API server while a step of the load
// runs, in the first pair and with --profiles only. The function that it
// returns waits for the profile; without one it returns nil at once.
func (l *lab) profile(ctx context.Context, s *side, inst *instance, name string) (finish func() error) {
	if l.opts.Profiles == "" || l.pair > 0 {
		return func() error { return nil }
	}
	result := make(chan error, 1)
	go func() {
		query := fmt.Sprintf("/debug/pprof/profile?seconds=%d", l.opts.ProfileSeconds)
		result <- l.fetchProfile(ctx, s, inst, query, name+".cpu.pprof")
	}()
	return func() error { return <-result }
}

// snapshots writes the heap and the goroutines at this moment, under the same conditions.
func (l *lab) snapshots(ctx context.Context, s *side, inst *instance, name string) error {
	if l.opts.Profiles == "" || l.pair > 0 {
		return nil
	}
	if err := l.fetchProfile(ctx, s, inst, "/debug/pprof/heap", name+".heap.pprof"); err != nil {
		return err
	}
	return l.fetchProfile(ctx, s, inst, "/debug/pprof/goroutine?debug=1", name+".goroutines.txt")
}

// fetchProfile leaves a side out that does not serve profiles; it says so once per profile.
func (l *lab) fetchProfile(ctx context.Context, s *side, inst *instance, query, name string) error {
	body, err := get(ctx, inst.http, inst.config.Host+query)
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "no profile %s of %s: %v\n", name, s.Label, err)
		return nil
	}
	if err := os.MkdirAll(l.opts.Profiles, 0o755); err != nil {
		return fmt.Errorf("making the profile directory: %w", err)
	}
	file := filepath.Join(l.opts.Profiles, fileName(s.Label)+"."+name)
	if err := os.WriteFile(file, body, 0o644); err != nil {
		return fmt.Errorf("writing a profile: %w", err)
	}
	return nil
}

// fileName makes a label, such as "kapi (a)", fit for a file name: "kapi-a".
func fileName(label string) string {
	return strings.NewReplacer(" ", "-", "(", "", ")", "").Replace(label)
}
