package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// figures are what a usage holds, in the order in which they are taken: each is
// changed by what comes before it. Asking for metrics and collecting garbage cost
// memory and time themselves, and come last.
func figures() []row {
	return []row{
		{Name: "cpu", Unit: "%"}, // of one CPU
		{Name: "memory", Unit: "MB"},
		{Name: "threads"},
		{Name: "goroutines"},
		{Name: "heap", Unit: "MB"},
	}
}

// usage is what an instance costs that is left alone: by figure, one value for
// each process.
type usage map[string][]float64

// measureUsage takes the figures of all instances over the same --idle-time.
func (l *lab) measureUsage(ctx context.Context, instances []*instance) ([]usage, error) {
	before, err := cpuOfAll(instances)
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	if err := wait(ctx, l.opts.IdleTime); err != nil {
		return nil, err
	}
	after, err := cpuOfAll(instances)
	if err != nil {
		return nil, err
	}
	elapsed := time.Since(begun).Seconds()
	out := make([]usage, len(instances))
	for n, inst := range instances {
		u := usage{}
		for p := range inst.procs {
			u["cpu"] = append(u["cpu"], 100*(after[n][p]-before[n][p])/elapsed)
		}
		if err := inst.addSizes(ctx, u); err != nil {
			return nil, err
		}
		out[n] = u
	}
	return out, nil
}

func cpuOfAll(instances []*instance) ([][]float64, error) {
	var out [][]float64
	for _, inst := range instances {
		values, err := inst.each(inst.cpuOf)
		if err != nil {
			return nil, err
		}
		out = append(out, values)
	}
	return out, nil
}

// addSizes fills in every figure but cpu.
func (i *instance) addSizes(ctx context.Context, u usage) (err error) {
	for _, f := range []struct {
		name string
		of   func(n int) (float64, error)
	}{
		{"memory", func(n int) (float64, error) { return i.memoryOf(n, "VmRSS") }},
		{"threads", func(n int) (float64, error) { return processThreads(i.procs[n].pid()) }},
		{"goroutines", func(n int) (float64, error) { return i.goroutinesOf(ctx, n) }},
		{"heap", func(n int) (float64, error) { return i.heapOf(ctx, n) }},
	} {
		if u[f.name], err = i.each(f.of); err != nil {
			return fmt.Errorf("measuring %s: %w", f.name, err)
		}
	}
	return nil
}

// each returns what f says of each process, by its number.
func (i *instance) each(f func(n int) (float64, error)) ([]float64, error) {
	values := make([]float64, len(i.procs))
	for n, p := range i.procs {
		v, err := f(n)
		if err != nil {
			return nil, errors.Join(err, p.exited())
		}
		values[n] = v
	}
	return values, nil
}

func total(values []float64) float64 {
	var sum float64
	for _, v := range values {
		sum += v
	}
	return sum
}

// memory returns a field of /proc/PID/status in MB (10^6 bytes), over all processes.
func (i *instance) memory(field string) (float64, error) {
	values, err := i.each(func(n int) (float64, error) { return i.memoryOf(n, field) })
	return total(values), err
}

func (i *instance) memoryOf(n int, field string) (float64, error) {
	bytes, err := processMemory(i.procs[n].pid(), field)
	return bytes / 1e6, err
}

// cpu returns the CPU seconds used so far, over all processes.
func (i *instance) cpu() (float64, error) {
	values, err := i.each(i.cpuOf)
	return total(values), err
}

func (i *instance) cpuOf(n int) (float64, error) {
	used, err := processCPU(i.procs[n].pid())
	return used.Seconds(), err
}

// goroutines returns the number over all processes.
func (i *instance) goroutines(ctx context.Context) (float64, error) {
	values, err := i.each(func(n int) (float64, error) { return i.goroutinesOf(ctx, n) })
	return total(values), err
}

func (i *instance) goroutinesOf(ctx context.Context, n int) (float64, error) {
	body, err := get(ctx, i.http, i.urls[n]+"/metrics")
	if err != nil {
		return 0, err
	}
	return numberAfter(string(body), "go_goroutines ")
}

// heapOf returns the MB that live objects have after a garbage collection. It is
// the second one that frees what pools hold.
func (i *instance) heapOf(ctx context.Context, n int) (float64, error) {
	var body []byte
	for range 2 {
		var err error
		if body, err = get(ctx, i.http, i.urls[n]+"/debug/pprof/heap?gc=1&debug=1"); err != nil {
			return 0, err
		}
	}
	bytes, err := numberAfter(string(body), "# HeapAlloc = ")
	return bytes / 1e6, err
}

// numberAfter returns the number of the first line that begins with prefix.
func numberAfter(text, prefix string) (float64, error) {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, prefix); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				return 0, fmt.Errorf("reading %q: %w", strings.TrimSpace(prefix), err)
			}
			return n, nil
		}
	}
	return 0, fmt.Errorf("no line begins with %q", prefix)
}
