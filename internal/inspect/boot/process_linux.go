package boot

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"time"
)

// ticks is the unit of times in /proc, for all architectures that Go runs on.
const ticks = 10 * time.Millisecond

// ProcessStart returns when the process began, to ten milliseconds, and the zero
// time where the system does not say.
func ProcessStart() time.Time {
	started, err := startTicks()
	if err != nil {
		return time.Time{}
	}
	uptime, err := os.ReadFile("/proc/uptime")
	if err != nil {
		return time.Time{}
	}
	seconds, _, _ := bytes.Cut(uptime, []byte(" "))
	up, err := strconv.ParseFloat(string(seconds), 64)
	if err != nil {
		return time.Time{}
	}
	age := time.Duration(up*float64(time.Second)) - time.Duration(started)*ticks
	if age < 0 || age > maxPrelude {
		return time.Time{}
	}
	return time.Now().Add(-age)
}

// maxPrelude is how long a process may have run before it asks. One that is older
// was something else before: a shell that has replaced itself.
const maxPrelude = 10 * time.Second

// startTicks is field 22 of /proc/self/stat: since the machine was started.
func startTicks() (int64, error) {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0, err
	}
	// The name, field 2, may hold anything, but it ends with the last parenthesis.
	const behindName = 22 - 3
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) <= behindName {
		return 0, errors.New("reading /proc/self/stat: it is too short")
	}
	return strconv.ParseInt(string(fields[behindName]), 10, 64)
}
