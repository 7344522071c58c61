package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// userHZ is the unit of the CPU times in /proc: 100 on every Linux.
const userHZ = 100

// processMemory returns a field of /proc/PID/status in bytes: VmRSS is what is
// resident now, VmHWM the most it has been.
func processMemory(pid int, field string) (float64, error) {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0, fmt.Errorf("reading the memory of a process: %w", err)
	}
	return memoryField(string(data), field)
}

// memoryField reads a line such as "VmRSS:	 12345 kB" out of a status or meminfo file.
func memoryField(status, field string) (float64, error) {
	for line := range strings.Lines(status) {
		value, ok := strings.CutPrefix(line, field+":")
		if !ok {
			continue
		}
		kb, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 64)
		if err != nil {
			return 0, fmt.Errorf("reading %s: %w", field, err)
		}
		return kb * 1024, nil
	}
	return 0, fmt.Errorf("reading memory: no field %s", field)
}

// processThreads returns how many threads of the operating system a process has.
func processThreads(pid int) (float64, error) {
	tasks, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(pid), "task"))
	if err != nil {
		return 0, fmt.Errorf("counting the threads of a process: %w", err)
	}
	return float64(len(tasks)), nil
}

// processCPU returns the user and system time that a running process has used.
func processCPU(pid int) (time.Duration, error) {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, fmt.Errorf("reading the CPU time of a process: %w", err)
	}
	return cpuTime(string(data))
}

// cpuTime adds up fields 14 and 15 of a /proc/PID/stat file (proc(5)). The
// command, field 2, is in parentheses and may itself hold spaces and parentheses.
func cpuTime(stat string) (time.Duration, error) {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 13 {
		return 0, fmt.Errorf("reading CPU time: %d fields in %q", len(fields), stat)
	}
	var ticks int64
	for _, f := range fields[11:13] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("reading CPU time: %w", err)
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / userHZ, nil
}

// machine describes where the figures come from. What can't be found out stays empty.
type machine struct {
	OS         string  `json:"os"`
	Arch       string  `json:"arch"`
	Kernel     string  `json:"kernel,omitempty"`
	CPUs       int     `json:"cpus"`
	CPUModel   string  `json:"cpuModel,omitempty"`
	MemoryMB   float64 `json:"memoryMB,omitempty"`
	Filesystem string  `json:"filesystem,omitempty"` // of the work directory
}

func describeMachine(workDir string) machine {
	read := func(file string) string {
		data, err := os.ReadFile(file)
		if err != nil {
			return ""
		}
		return string(data)
	}
	m := machine{
		OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(),
		Kernel:     strings.TrimSpace(read("/proc/sys/kernel/osrelease")),
		Filesystem: filesystemOf(read("/proc/self/mountinfo"), workDir),
	}
	if bytes, err := memoryField(read("/proc/meminfo"), "MemTotal"); err == nil {
		m.MemoryMB = float64(int(bytes / 1e6))
	}
	for line := range strings.Lines(read("/proc/cpuinfo")) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			m.CPUModel = strings.TrimSpace(value)
			break
		}
	}
	return m
}

// filesystemOf returns the type of the file system that dir is on: the mount
// with the longest path that holds dir, the last one of equals.
func filesystemOf(mountinfo, dir string) string {
	var best, kind string
	for line := range strings.Lines(mountinfo) {
		mount, source, ok := strings.Cut(line, " - ")
		fields := strings.Fields(mount)
		if !ok || len(fields) < 5 || len(strings.Fields(source)) == 0 {
			continue
		}
		point := fields[4]
		if rel, err := filepath.Rel(point, dir); err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
			continue
		}
		if len(point) >= len(best) {
			best, kind = point, strings.Fields(source)[0]
		}
	}
	return kind
}
