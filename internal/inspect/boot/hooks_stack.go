package boot

import (
	"bytes"
	"fmt"
	"runtime/pprof"
	"strings"
	"sync"
	"time"
)

const (
	// stackLabel is the pprof label of goroutines of hooks that go through Func,
	// and of those that they start.
	stackLabel = "kapi_post_start_hook"
	// hookFrame is in the stack of such a hook itself.
	hookFrame = "internal/inspect/boot.(*Hooks).runHook"
	// stackEvery is how old a stack may be: taking all of them costs milliseconds.
	stackEvery = time.Second
	// maxStackLines bounds what is shown of one.
	maxStackLines = 64
)

// stackCache keeps the stacks of all hooks that run.
type stackCache struct {
	mu     sync.Mutex
	taken  time.Time
	stacks []goroutine
}

// goroutine is one record of the goroutine profile: one or more goroutines with
// the same stack and the same labels.
type goroutine struct {
	labels string   // `{"name":"value"}`; empty when it has none
	frames []string // "function file:line", innermost first
}

// of returns where the hook is now, as well as it can be told: by its label, or
// by its function below the frame of upstream's that runs hooks.
func (c *stackCache) of(k *hook) string {
	for _, g := range c.all() {
		if g.runs(k) {
			return strings.Join(g.frames[:min(len(g.frames), maxStackLines)], "\n")
		}
	}
	return ""
}

// runs says that the goroutine runs the hook.
func (g goroutine) runs(k *hook) bool {
	if k.exact {
		return g.has(hookFrame) && strings.Contains(g.labels, fmt.Sprintf("%q:%q", stackLabel, k.name))
	}
	return k.function != "" && g.has(runnerFrame) && g.has(k.function+" ")
}

// all returns the goroutines that run hooks, as of a second ago at most.
func (c *stackCache) all() []goroutine {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); now.Sub(c.taken) >= stackEvery {
		c.stacks, c.taken = hookGoroutines(), now
	}
	return c.stacks
}

// has says that a function is on the stack; it may be named by the end of its name.
func (g goroutine) has(function string) bool {
	for _, frame := range g.frames {
		if strings.Contains(frame, function) {
			return true
		}
	}
	return false
}

// hookGoroutines returns all goroutines that run a hook.
func hookGoroutines() []goroutine {
	var text bytes.Buffer
	// The form with labels and without the values of arguments.
	if err := pprof.Lookup("goroutine").WriteTo(&text, 1); err != nil {
		return nil
	}
	var hooks []goroutine
	for record := range strings.SplitSeq(text.String(), "\n\n") {
		if g := parseGoroutine(record); g.has(hookFrame) || g.has(runnerFrame) {
			hooks = append(hooks, g)
		}
	}
	return hooks
}

// parseGoroutine reads a record of runtime/pprof's text:
//
//	1 @ 0x4 0x5
//	# labels: {"name":"value"}
//	#	0x47d3c4	main.main+0x24	/src/main.go:7
func parseGoroutine(record string) goroutine {
	var g goroutine
	for line := range strings.Lines(record) {
		if labels, ok := strings.CutPrefix(line, "# labels: "); ok {
			g.labels = strings.TrimSpace(labels)
			continue
		}
		// Columns are aligned with as many tabs as it takes.
		columns := strings.FieldsFunc(strings.TrimSpace(line), func(r rune) bool { return r == '\t' })
		if len(columns) < 4 || columns[0] != "#" {
			continue
		}
		function := columns[2]
		if plus := strings.LastIndex(function, "+0x"); plus > 0 {
			function = function[:plus]
		}
		g.frames = append(g.frames, function+" "+shortFile(columns[3]))
	}
	return g
}
