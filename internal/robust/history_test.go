package robust

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// The model of one key: a register that is absent or has a value. Each write
// writes a value that nobody else writes, so that a value stands for the
// revision that it was written with.
const absent = ""

type verb string

const (
	get    verb = "get"
	create verb = "create"
	update verb = "update" // with the resourceVersion of the value that is expected
	remove verb = "delete" // in the same way
)

// call is what a client asks.
type call struct {
	verb     verb
	key      string
	expected string // of update and delete: the value that was read before
	value    string // of create and update
}

type outcome string

const (
	done     outcome = "done"
	exists   outcome = "already exists"
	missing  outcome = "not found"
	conflict outcome = "conflict"
	// unknown: it may have happened, may happen later, or never.
	unknown outcome = "unknown"
)

// answer is what a client is told.
type answer struct {
	outcome outcome
	value   string // of get
}

// outcomeOf sorts the server's answers. Whatever is not an answer about the
// object leaves open what has happened.
func outcomeOf(err error) outcome {
	switch {
	case err == nil:
		return done
	case apierrors.IsNotFound(err):
		return missing
	case apierrors.IsAlreadyExists(err):
		return exists
	case apierrors.IsConflict(err):
		return conflict
	}
	return unknown
}

// step is the register: what the state is after a call with this answer, and
// whether there can be such an answer.
func step(state string, c call, a answer) (possible bool, next string) {
	written := c.value // absent after a delete
	switch {
	case c.verb == get:
		return a.outcome == unknown || a.value == state, state
	case a.outcome == missing:
		return state == absent && c.verb != create, state
	case a.outcome == exists:
		return state != absent && c.verb == create, state
	case a.outcome == conflict:
		return state != absent && state != c.expected && c.verb != create, state
	case state == c.expected: // that of create is absent
		return true, written
	}
	return a.outcome == unknown, state
}

var registers = porcupine.Model{
	Init: func() any { return absent },
	Step: func(state, in, out any) (bool, any) { return step(state.(string), in.(call), out.(answer)) },
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		var parts [][]porcupine.Operation
		index := map[string]int{}
		for _, op := range history {
			key := op.Input.(call).key
			i, ok := index[key]
			if !ok {
				i = len(parts)
				index[key], parts = i, append(parts, nil)
			}
			parts[i] = append(parts[i], op)
		}
		return parts
	},
	DescribeOperation: func(in, out any) string {
		c, a := in.(call), out.(answer)
		return fmt.Sprintf("%s %s %q→%q: %s %q", c.verb, c.key, c.expected, c.value, a.outcome, a.value)
	},
}

// history records what clients ask and are told.
type history struct {
	began time.Time
	mu    sync.Mutex
	ops   []porcupine.Operation
	// acks are the writes that were acknowledged, with their revisions.
	acks []ack
}

type ack struct {
	begun, ended int64
	revision     int64
	call         call
}

func newHistory() *history { return &history{began: time.Now()} }

// now is monotonic.
func (h *history) now() int64 { return time.Since(h.began).Nanoseconds() }

// add records a call that began at begun and has just been answered. revision
// is the resourceVersion of what was written, 0 where none is told.
func (h *history) add(client int, begun int64, c call, a answer, revision int64) {
	ended := h.now()
	h.mu.Lock()
	defer h.mu.Unlock()
	if a.outcome == done && revision > 0 && c.verb != get {
		h.acks = append(h.acks, ack{begun, ended, revision, c})
	}
	if a.outcome == unknown {
		if c.verb == get {
			return // says nothing
		}
		ended = math.MaxInt64 // it may take effect at any time
	}
	h.ops = append(h.ops, porcupine.Operation{ClientId: client, Input: c, Call: begun, Output: a, Return: ended})
}

// mustBeLinearizable fails the test if no order of the calls explains the answers.
func (h *history) mustBeLinearizable(t testing.TB) {
	t.Helper()
	counts := map[outcome]int{}
	for _, op := range h.ops {
		counts[op.Output.(answer).outcome]++
	}
	for _, part := range registers.Partition(h.ops) {
		result, info := porcupine.CheckOperationsVerbose(registers, part, patience)
		if result == porcupine.Ok {
			continue
		}
		t.Errorf("the history of %s (%d calls) is not linearizable: %s", part[0].Input.(call).key, len(part), result)
		file := filepath.Join(os.TempDir(), "kapi-history-"+part[0].Input.(call).key+".html")
		if err := porcupine.VisualizePath(registers, info, file); err == nil {
			t.Logf("drawn in %s", file)
		}
		for _, op := range part {
			t.Logf("client %d %d..%d %s", op.ClientId, op.Call, op.Return, registers.DescribeOperation(op.Input, op.Output))
		}
	}
	t.Logf("linearizable: %d calls on %d keys, answers %v", len(h.ops), len(registers.Partition(h.ops)), counts)
}

// TestRegister shows that the checker would find what it is there for.
func TestRegister(t *testing.T) {
	t.Parallel()
	op := func(begun, ended int64, c call, a answer) porcupine.Operation {
		return porcupine.Operation{Input: c, Output: a, Call: begun, Return: ended}
	}
	written := op(0, 1, call{verb: create, value: "a"}, answer{outcome: done})
	perhaps := op(0, math.MaxInt64, call{verb: create, value: "a"}, answer{outcome: unknown})
	for _, tc := range []struct {
		name string
		ok   bool
		ops  []porcupine.Operation
	}{
		{"read", true, []porcupine.Operation{written, op(2, 3, call{verb: get}, answer{done, "a"})}},
		{"lost write", false, []porcupine.Operation{written, op(2, 3, call{verb: get}, answer{missing, absent})}},
		{"unknown, happened", true, []porcupine.Operation{perhaps, op(2, 3, call{verb: get}, answer{done, "a"})}},
		{"unknown, did not", true, []porcupine.Operation{perhaps, op(2, 3, call{verb: get}, answer{missing, absent})}},
		{"unknown, undone", false, []porcupine.Operation{
			perhaps, op(2, 3, call{verb: get}, answer{done, "a"}), op(4, 5, call{verb: get}, answer{missing, absent}),
		}},
		{"lost update", false, []porcupine.Operation{
			written,
			op(2, 5, call{verb: update, expected: "a", value: "b"}, answer{outcome: done}),
			op(2, 5, call{verb: update, expected: "a", value: "c"}, answer{outcome: done}),
		}},
		{"old read", false, []porcupine.Operation{
			written, op(2, 3, call{verb: update, expected: "a", value: "b"}, answer{outcome: done}),
			op(4, 5, call{verb: get}, answer{done, "a"}),
		}},
		{"conflict without cause", false, []porcupine.Operation{
			written, op(2, 3, call{verb: update, expected: "a", value: "b"}, answer{outcome: conflict}),
		}},
		{"deleted twice", false, []porcupine.Operation{
			written, op(2, 3, call{verb: remove, expected: "a"}, answer{outcome: done}),
			op(4, 5, call{verb: remove, expected: "a"}, answer{outcome: done}),
		}},
	} {
		if got := porcupine.CheckOperations(registers, tc.ops); got != tc.ok {
			t.Errorf("%s: linearizable is %v", tc.name, got)
		}
	}
}
