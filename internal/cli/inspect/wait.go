package inspect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kapi-dev/kapi/internal/fault"
)

// goal is what --for waits for: a condition with a status.
type goal struct {
	condition, status string
}

func parseGoal(text string) (goal, error) {
	kind, rest, ok := strings.Cut(text, "=")
	condition, status, given := strings.Cut(rest, "=")
	if !ok || kind != "condition" || condition == "" || given && status == "" {
		return goal{}, fault.WithHint(fault.Usagef("--for=%q can't be waited for", text),
			"write --for=condition=TYPE or --for=condition=TYPE=STATUS, as in --for=condition=Established")
	}
	if !given {
		status = string(metav1.ConditionTrue)
	}
	return goal{condition: condition, status: status}, nil
}

func (g goal) String() string { return g.condition + "=" + g.status }

// reached tells whether an object is where it should be; state says where it is.
func (g goal) reached(object runtime.Object) (ok bool, state string) {
	conditions, _ := conditionsOf(object)
	for _, c := range conditions {
		if !strings.EqualFold(c.Type, g.condition) {
			continue
		}
		state = fmt.Sprintf("%s=%s", c.Type, c.Status)
		if c.Reason != "" {
			state += " (" + c.Reason + ")"
		}
		if c.Message != "" {
			state += ": " + c.Message
		}
		return strings.EqualFold(string(c.Status), g.status), state
	}
	types := make([]string, 0, len(conditions))
	for _, c := range conditions {
		types = append(types, c.Type)
	}
	slices.Sort(types)
	if len(types) == 0 {
		return false, "no conditions yet"
	}
	return false, fmt.Sprintf("no condition %s yet, only %s", g.condition, strings.Join(types, ", "))
}

// errReached ends a feed when nothing is left to wait for.
var errReached = errors.New("all conditions are met")

// await waits until all objects of a feed are at the goal: those of names, also
// ones that do not exist yet, or without names all that there are at first. met is
// called for each as it gets there. A timeout of 0 looks once.
func await(ctx context.Context, f *feed, g goal, names []string, timeout time.Duration, met func(runtime.Object) error) error {
	open, done, listed := map[string]string{}, map[string]bool{}, false
	for _, name := range names {
		open[name] = "it does not exist"
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience(timeout), errTimeout)
	defer cancel()
	look := func(kind watch.EventType, object runtime.Object) error {
		name := key(object)
		_, waited := open[name]
		if done[name] || listed && !waited || len(names) > 0 && !waited {
			return nil
		}
		if kind == watch.Deleted {
			open[name] = "it was deleted"
			return nil
		}
		ok, state := g.reached(object)
		if !ok {
			open[name] = state
			return nil
		}
		delete(open, name)
		done[name] = true
		if err := met(object); err != nil {
			return err
		}
		return finished(listed, open)
	}
	err := f.run(ctx, look, func() error {
		listed = true
		if len(open) == 0 && len(done) == 0 {
			return errors.New("there is nothing to wait for")
		}
		if err := finished(listed, open); err != nil || timeout != 0 {
			return err
		}
		return errTimeout
	})
	switch {
	case errors.Is(err, errReached):
		return nil
	case errors.Is(err, errTimeout), errors.Is(context.Cause(ctx), errTimeout):
		return late(g, timeout, open)
	}
	return err
}

var errTimeout = errors.New("the time is over")

// patience is how long a timeout lasts; below 0 that is a week, as in kubectl.
func patience(timeout time.Duration) time.Duration {
	switch {
	case timeout < 0:
		return 7 * 24 * time.Hour
	case timeout == 0:
		return time.Minute // for the one look
	}
	return timeout
}

func finished(listed bool, open map[string]string) error {
	if listed && len(open) == 0 {
		return errReached
	}
	return nil
}

// late says what was waited for in vain, and where it has come to.
func late(g goal, timeout time.Duration, open map[string]string) error {
	lines := make([]string, 0, len(open))
	for name, state := range open {
		lines = append(lines, fmt.Sprintf("%s: %s", name, state))
	}
	if len(lines) == 0 {
		return fmt.Errorf("waited %s for the list of what should be %s in vain", timeout, g)
	}
	slices.Sort(lines)
	return fmt.Errorf("waited %s for %s in vain: %s", timeout, g, strings.Join(lines, "; "))
}
