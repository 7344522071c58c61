package joined

import (
	"cmp"
	"fmt"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// ControllerSeverity is how bad it is what a controller does.
func ControllerSeverity(c *v1alpha1.Controller) Severity {
	switch kinds.ControllerState(c) {
	case kinds.ControllerFailed, kinds.ControllerStuck:
		return Bad
	default:
		return OK
	}
}

func joinControllers(all []*v1alpha1.Controller) Controllers {
	var count Controllers
	for _, c := range all {
		switch kinds.ControllerState(c) {
		case kinds.ControllerRunning, kinds.ControllerStarting:
			count.Running++
		case kinds.ControllerStandby:
			count.Standby++
		case kinds.ControllerOff:
			count.Off++
		default:
			count.Failing = append(count.Failing, c.Name)
		}
	}
	return count
}

// controllerProblems are controllers that should work and do not.
func controllerProblems(parts OverviewParts) []Problem {
	var (
		all   []Problem
		names []string
	)
	for _, c := range parts.Controllers {
		severity := ControllerSeverity(c)
		if severity == OK {
			continue
		}
		what, why := fmt.Sprintf("controller %s has failed", c.Name), kinds.ControllerWhy(c)
		if kinds.ControllerState(c) == kinds.ControllerStuck {
			what = fmt.Sprintf("controller %s has %d keys waiting that do not get fewer", c.Name, c.Status.QueueDepth)
			why = cmp.Or(c.Status.LastError, why)
		}
		names = append(names, c.Name)
		all = append(all, Problem{severity, what, why, "kapi inspect controllers " + c.Name})
	}
	return gather(all, names, func(n int) string { return fmt.Sprintf("%d controllers do not work", n) }, "kapi inspect controllers")
}
