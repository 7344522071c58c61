package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"
)

func startupScenario() scenario {
	return scenario{
		Name: "startup",
		Doc:  "exec to /readyz 200, new data directory, no fsync",
		Rows: []row{
			{Name: "startup.ready", Unit: "s", Better: lower, Goal: goal{Ratio: 0.30}},
			{Name: "startup.cpu", Unit: "s", Better: lower},
		},
		Run: func(ctx context.Context, l *lab, s *side) (sample, error) {
			dir := l.newDir()
			defer os.RemoveAll(dir)
			return l.measureStart(ctx, s, "startup", startOptions{Dir: dir})
		},
	}
}

func existingScenario() scenario {
	return scenario{
		Name: "existing",
		Doc:  "the same on a directory of --crds and --objects",
		Rows: []row{
			{Name: "existing.ready", Unit: "s", Better: lower, Goal: goal{Ratio: 0.5}},
			{Name: "existing.cpu", Unit: "s", Better: lower},
		},
		Run: func(ctx context.Context, l *lab, s *side) (sample, error) {
			f := filling{Name: "existing", Namespaces: 10, CRDs: l.opts.CRDs, Objects: l.opts.Objects, CustomEach: 2}
			dir, err := l.populate(ctx, s, f, startOptions{})
			if err != nil {
				return nil, err
			}
			return l.measureStart(ctx, s, "existing", startOptions{Dir: dir})
		},
	}
}

// measureStart starts a server, takes the time and the CPU time to ready, and stops it.
func (l *lab) measureStart(ctx context.Context, s *side, name string, so startOptions) (sample, error) {
	inst, err := l.start(ctx, s, so)
	if err != nil {
		return nil, err
	}
	defer inst.kill()
	cpu, err := inst.cpu()
	if err != nil {
		return nil, err
	}
	if _, err := inst.stop(ctx); err != nil {
		return nil, err
	}
	return sample{name + ".ready": inst.startup.Seconds(), name + ".cpu": cpu}, nil
}

func loadScenario() scenario {
	rows := []row{
		{Name: "memory.idle", Unit: "MB", Better: lower, Goal: goal{Ratio: 0.6}},
		{Name: "memory.loaded", Unit: "MB", Better: lower, Goal: goal{Ratio: 0.6}},
		{Name: "memory.peak", Unit: "MB", Better: lower},
		{Name: "goroutines", Unit: "", Better: lower},
	}
	goals := map[string]float64{"create": 1.6, "get": 2, "patch": 2, "delete": 2, "list": 1.5}
	for _, st := range loadSteps(&options{}) {
		name := "throughput." + st.name
		rows = append(rows,
			row{Name: name, Unit: "/s", Better: higher, Goal: goal{Ratio: goals[st.name]}},
			row{Name: name + ".p50", Unit: "ms", Better: lower},
			row{Name: name + ".p99", Unit: "ms", Better: lower})
	}
	return scenario{
		Name: "load",
		Doc:  "one server, fsync on: memory.*, goroutines, throughput.*, cpu, stop",
		Rows: append(rows,
			row{Name: "cpu", Unit: "s", Better: lower, Goal: goal{Ratio: 0.5}},
			row{Name: "stop", Unit: "s", Better: lower, Goal: goal{Absolute: 1}}),
		Run: runLoadScenario,
	}
}

func runLoadScenario(ctx context.Context, l *lab, s *side) (sample, error) {
	dir := l.newDir()
	defer os.RemoveAll(dir)
	inst, err := l.start(ctx, s, startOptions{Dir: dir, Fsync: true})
	if err != nil {
		return nil, err
	}
	defer inst.kill()
	got := sample{}
	if err := l.measureIdle(ctx, s, inst, got); err != nil {
		return nil, err
	}
	if l.wants("throughput", "cpu", "memory.loaded", "memory.peak") {
		if err := l.measureLoad(ctx, s, inst, got); err != nil {
			return nil, inst.explain(err)
		}
	}
	stopped, err := inst.stop(ctx)
	if err != nil {
		return nil, err
	}
	got["stop"] = stopped.Seconds()
	return got, nil
}

// measureIdle fills in what a server costs that is ready and has been left alone.
func (l *lab) measureIdle(ctx context.Context, s *side, inst *instance, got sample) error {
	if err := wait(ctx, l.opts.Settle); err != nil {
		return err
	}
	var err error
	if got["memory.idle"], err = inst.memory("VmRSS"); err != nil {
		return err
	}
	if got["goroutines"], err = inst.goroutines(ctx); err != nil {
		return err
	}
	return l.snapshots(ctx, s, inst, "idle")
}

func (l *lab) measureLoad(ctx context.Context, s *side, inst *instance, got sample) error {
	clients, err := newLoadClients(inst.config, l.opts.Clients)
	if err != nil {
		return err
	}
	defer closeAll(clients)
	before, err := inst.cpu()
	if err != nil {
		return err
	}
	if err := prepareLoad(ctx, l.opts, clients); err != nil {
		return err
	}
	for _, st := range loadSteps(l.opts) {
		finish := l.profile(ctx, s, inst, st.name)
		p, err := runPhase(ctx, len(clients), st.count, func(ctx context.Context, w, i int) error {
			return st.do(ctx, clients[w], i)
		})
		if err != nil {
			return fmt.Errorf("%s: %w", st.name, err)
		}
		name := "throughput." + st.name
		got[name] = p.perSecond()
		got[name+".p50"] = percentile(p.latencies, 0.50)
		got[name+".p99"] = percentile(p.latencies, 0.99)
		if err := finish(); err != nil {
			return err
		}
	}
	after, err := inst.cpu()
	if err != nil {
		return err
	}
	got["cpu"] = after - before
	closeAll(clients)
	return l.measureLoaded(ctx, s, inst, got)
}

// measureLoaded fills in the memory figures after the load.
func (l *lab) measureLoaded(ctx context.Context, s *side, inst *instance, got sample) error {
	if err := wait(ctx, l.opts.Settle); err != nil {
		return err
	}
	var err error
	if got["memory.loaded"], err = inst.memory("VmRSS"); err != nil {
		return err
	}
	if got["memory.peak"], err = inst.memory("VmHWM"); err != nil {
		return err
	}
	return l.snapshots(ctx, s, inst, "loaded")
}

// explain adds to an error of a request what a process that ended has said.
func (i *instance) explain(err error) error {
	for _, p := range slices.Backward(i.procs) {
		if gone := p.exited(); gone != nil {
			return fmt.Errorf("%w\n%w", err, gone)
		}
	}
	return err
}

func sizeScenario() scenario {
	return scenario{
		Name: "size",
		Doc:  "bytes of the stripped binaries",
		Rows: []row{{Name: "size", Unit: "MB", Better: lower}},
		Run: func(_ context.Context, l *lab, s *side) (sample, error) {
			var sum float64
			for _, bin := range l.binariesOf(s) {
				info, err := os.Stat(bin)
				if err != nil {
					return nil, fmt.Errorf("reading the size of a binary: %w", err)
				}
				sum += float64(info.Size()) / 1e6
			}
			return sample{"size": sum}, nil
		},
	}
}

func idleScenario() scenario {
	return scenario{
		Name:  "idle",
		Doc:   "CPU of an idle server over --idle-time, no fsync",
		OptIn: true,
		Rows:  []row{{Name: "idle.cpu", Unit: "ms/s", Better: lower, Goal: goal{Ratio: 0.6}}},
		Run: func(ctx context.Context, l *lab, s *side) (sample, error) {
			dir := l.newDir()
			defer os.RemoveAll(dir)
			inst, err := l.start(ctx, s, startOptions{Dir: dir})
			if err != nil {
				return nil, err
			}
			defer inst.kill()
			if err := wait(ctx, l.opts.Settle); err != nil {
				return nil, err
			}
			begun := time.Now()
			before, err := inst.cpu()
			if err != nil {
				return nil, err
			}
			if err := wait(ctx, l.opts.IdleTime); err != nil {
				return nil, err
			}
			after, err := inst.cpu()
			if err != nil {
				return nil, err
			}
			used := 1000 * (after - before) / time.Since(begun).Seconds()
			_, err = inst.stop(ctx)
			return sample{"idle.cpu": used}, err
		},
	}
}
