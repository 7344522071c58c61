package joined

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// window is how far back requests count.
const (
	window     = 5 * time.Minute
	windowText = "5 minutes"
	tooMany    = int32(http.StatusTooManyRequests)
)

// recent returns the traces of the window, newest first, each once.
func recent(parts OverviewParts) []*v1alpha1.RequestTrace {
	var all []*v1alpha1.RequestTrace
	seen := map[string]bool{}
	for _, t := range parts.Traces {
		if !seen[t.Name] && parts.About.At.Sub(t.Status.ReceivedAt.Time) <= window {
			seen[t.Name] = true
			all = append(all, t)
		}
	}
	slices.SortStableFunc(all, func(a, b *v1alpha1.RequestTrace) int { return b.Status.ReceivedAt.Compare(a.Status.ReceivedAt.Time) })
	return all
}

// failedProblems are requests that have failed lately, by what has ended them, newest
// first. Questions for the health are left out: a bad answer to them is a good one.
func failedProblems(parts OverviewParts) []Problem {
	var order []v1alpha1.EndedBy
	by := map[v1alpha1.EndedBy][]*v1alpha1.RequestTrace{}
	for _, t := range recent(parts) {
		if !t.Status.Failed || asksHealth(t.Spec.Path) {
			continue
		}
		if by[t.Status.TerminatedBy] == nil {
			order = append(order, t.Status.TerminatedBy)
		}
		by[t.Status.TerminatedBy] = append(by[t.Status.TerminatedBy], t)
	}
	var all []Problem
	for _, ended := range order {
		failed := by[ended]
		p := Problem{
			Warning, fmt.Sprintf("%s failed in the last %s in %s %s", requests(len(failed)), windowText, words(ended.Kind), ended.Name),
			last(failed[0], parts.About.At), "kapi inspect requests --status '>=500'",
		}
		if slices.ContainsFunc(failed, func(t *v1alpha1.RequestTrace) bool { return t.Status.Panicked }) {
			p.Severity, p.What = Bad, fmt.Sprintf("%s failed in the last %s by a panic", requests(len(failed)), windowText)
		}
		if ended.Kind == v1alpha1.EndedByConnection {
			continue // the client gave up
		}
		all = append(all, p)
	}
	return all
}

func asksHealth(path string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return first == "livez" || first == "readyz" || first == "healthz"
}

func slowProblems(parts OverviewParts) []Problem {
	var slow []*v1alpha1.RequestTrace
	for _, t := range recent(parts) {
		if t.Status.Slow && !t.Status.Failed {
			slow = append(slow, t)
		}
	}
	if len(slow) == 0 {
		return nil
	}
	slowest := slices.MaxFunc(slow, func(a, b *v1alpha1.RequestTrace) int {
		return int(a.Status.Duration.Duration - b.Status.Duration.Duration)
	})
	verb := "were"
	if len(slow) == 1 {
		verb = "was"
	}
	return []Problem{{
		Warning, fmt.Sprintf("%s %s slow in the last %s", requests(len(slow)), verb, windowText),
		fmt.Sprintf("%s %s took %s", slowest.Spec.Method, slowest.Spec.Path, kinds.Took(slowest.Status.Duration)),
		"kapi inspect requests --slower-than 1s",
	}}
}

// last describes a request and when it was.
func last(t *v1alpha1.RequestTrace, now time.Time) string {
	answer := "no answer"
	if t.Status.Code != 0 {
		answer = fmt.Sprint(t.Status.Code)
	}
	return fmt.Sprintf("%s ago %s %s: %s", duration.HumanDuration(max(0, now.Sub(t.Status.ReceivedAt.Time))), t.Spec.Method, t.Spec.Path, answer)
}

func requests(n int) string {
	if n == 1 {
		return "1 request"
	}
	return fmt.Sprintf("%d requests", n)
}

func words(kind v1alpha1.EndedByKind) string {
	switch kind {
	case v1alpha1.EndedByFilter:
		return "filter"
	case v1alpha1.EndedByAdmission:
		return "admission plugin"
	case v1alpha1.EndedByBodyLimit:
		return "body limit"
	case v1alpha1.EndedByConnection:
		return "connection"
	case v1alpha1.EndedByLayer:
		return "layer"
	default:
		return string(kind)
	}
}
