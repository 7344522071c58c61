package joined

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// hangs is how long a hook may run. The server notes where it is from then on.
const hangs = 5 * time.Second

func hookProblems(parts OverviewParts) []Problem {
	var (
		all   []Problem
		names []string
	)
	for _, h := range parts.Hooks {
		look := "kapi inspect hooks " + h.Name
		switch {
		case h.Status.State == v1alpha1.RunFailed:
			all = append(all, Problem{Bad, fmt.Sprintf("post-start hook %s has failed", h.Name), h.Status.Error, look})
		case h.Status.State == v1alpha1.RunRunning && h.Status.Duration.Duration >= hangs:
			all = append(all, Problem{
				Bad, fmt.Sprintf("post-start hook %s has not ended", h.Name),
				fmt.Sprintf("it runs for %s, and the server is not ready before", kinds.Took(h.Status.Duration)), look,
			})
		default:
			continue
		}
		names = append(names, h.Name)
	}
	return gather(all, names, func(n int) string { return fmt.Sprintf("%d post-start hooks have failed or hang", n) }, "kapi inspect hooks")
}

// From these parts of the quota on, and that long before it is reached, the store
// is a problem.
const (
	quotaWarning, quotaBad     = 0.80, 0.95
	noSpaceWarning, noSpaceBad = 24 * time.Hour, time.Hour
)

func etcdProblems(parts OverviewParts) []Problem {
	var all []Problem
	for _, m := range parts.Etcd {
		if p, ok := etcdProblem(m, parts.About.At); ok {
			p.Look = "kapi inspect etcd " + m.Name
			all = append(all, p)
		}
	}
	return all
}

// etcdProblem is the worst of one member.
func etcdProblem(m *v1alpha1.EtcdMember, now time.Time) (Problem, bool) {
	s := &m.Status
	part := 0.0
	if s.Quota > 0 {
		part = float64(s.DBSize) / float64(s.Quota)
	}
	full := fmt.Sprintf("%s of %s; writes are refused when it is full", kinds.Size(s.DBSize), kinds.Size(s.Quota))
	left := time.Duration(-1)
	if s.NoSpaceAt != nil {
		left = max(0, s.NoSpaceAt.Sub(now))
	}
	soon := "its quota will be reached in " + duration.HumanDuration(left)
	growing := fmt.Sprintf("%s of %s, growing by %s an hour", kinds.Size(s.DBSize), kinds.Size(s.Quota), kinds.Size(s.BytesPerHour))
	for _, c := range []struct {
		holds     bool
		severity  Severity
		what, why string
	}{
		{s.Error != "", Bad, "can't be asked", s.Error},
		{len(s.Alarms) > 0, Bad, "has raised " + strings.Join(s.Alarms, " and "), alarmMeans(s.Alarms)},
		{unhealthy(s.Conditions) != "", Bad, "is not healthy", unhealthy(s.Conditions)},
		{part >= quotaBad, Bad, "has nearly reached its quota", full},
		{left >= 0 && left < noSpaceBad, Bad, soon, growing},
		{part >= quotaWarning, Warning, "comes close to its quota", full},
		{left >= 0 && left < noSpaceWarning, Warning, soon, growing},
	} {
		if c.holds {
			what := fmt.Sprintf("etcd member %s %s", m.Name, c.what)
			if c.what == soon {
				what = fmt.Sprintf("etcd member %s: %s", m.Name, soon)
			}
			return Problem{Severity: c.severity, What: what, Why: c.why}, true
		}
	}
	return Problem{}, false
}

// alarmMeans says what alarms do to clients.
func alarmMeans(alarms []string) string {
	for _, alarm := range alarms {
		if alarm == "CORRUPT" {
			return "the members disagree about the data"
		}
	}
	return "it is full, and writes are refused until it has been compacted, defragmented and disarmed"
}

func unhealthy(conditions []metav1.Condition) string {
	for _, c := range conditions {
		if c.Type == v1alpha1.ConditionHealthy && c.Status == metav1.ConditionFalse {
			if c.Message == "" {
				return c.Reason
			}
			return c.Message
		}
	}
	return ""
}

// flowProblems are levels in which requests wait, and requests that were refused
// lately. What was refused since the start says nothing of now.
func flowProblems(parts OverviewParts) []Problem {
	var all []Problem
	refused := map[string]int{}
	for _, t := range recent(parts) {
		if t.Status.Code == tooMany && t.Status.PriorityLevel != "" && t.Status.TerminatedBy.Kind != v1alpha1.EndedByLayer {
			refused[t.Status.PriorityLevel]++
		}
	}
	for _, f := range parts.Flows {
		look := "kapi inspect flow " + f.Name
		seats := fmt.Sprintf("%d of %d seats in use, %d requests wait", f.Status.SeatsInUse, f.Status.SeatsLimit, f.Status.Queued)
		switch n := refused[f.Name]; {
		case n > 0:
			all = append(all, Problem{Warning, fmt.Sprintf("flow control has refused %s of level %s in the last %s", requests(n), f.Name, windowText), seats, look})
		case f.Status.Queued > 0:
			all = append(all, Problem{Warning, fmt.Sprintf("requests wait in priority level %s", f.Name), seats, look})
		}
	}
	return all
}

// filterProblems are filters that have ended requests with a fault. They are counted
// since the start, so they count only where there are no traces that tell when.
func filterProblems(parts OverviewParts) []Problem {
	if Why(parts.Missing, partTraces) == "" {
		return nil
	}
	var all []Problem
	for _, f := range parts.Filters {
		if n := sum(f.Status.Terminated, 500); n > 0 {
			all = append(all, Problem{
				Warning, fmt.Sprintf("filter %s has ended %s with a fault since the start", f.Name, requests(int(n))),
				kinds.Codes(f.Status.Terminated), "kapi inspect filters " + f.Name,
			})
		}
	}
	return all
}
