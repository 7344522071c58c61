package fakenodes

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kapi-dev/kapi/internal/near"
)

// AnnotationPrefix begins the annotations of a pod by which it says what shall
// become of it.
const AnnotationPrefix = "fake-nodes.kapi.dev/"

// wishes is what the annotations of a pod ask for.
type wishes struct {
	// runFor is how long containers run; nil leaves it to the restart policy.
	runFor *time.Duration
	// forever says that they never exit; it goes before runFor.
	forever bool
	// exitCode is what they exit with.
	exitCode int32
	// never says that they do not become ready.
	never      bool
	readyAfter time.Duration
	startAfter time.Duration
	stopAfter  time.Duration
}

// annotation is one of the annotations that are known.
type annotation struct {
	name string
	// allowed ends the sentence "allowed is ...".
	allowed string
	// set takes a value over into the wishes, or says that it is not allowed.
	set func(*wishes, string) bool
}

const aDuration = "a duration from 0s to 24h, such as 5s or 1m30s"

// annotations is in the order of documentation and of complaints.
func annotations() []annotation {
	return []annotation{
		{"run-for", "forever, or " + aDuration, func(w *wishes, value string) bool {
			if w.forever = value == "forever"; w.forever {
				return true
			}
			var d time.Duration
			if !duration(&d, value) {
				return false
			}
			w.runFor = &d
			return true
		}},
		{"exit-code", "a number from 0 to 255", func(w *wishes, value string) bool {
			code, err := strconv.ParseUint(value, 10, 8)
			if err != nil {
				return false
			}
			w.exitCode = int32(code)
			if w.runFor == nil {
				run := shortRun
				w.runFor = &run
			}
			return true
		}},
		{"ready", "true or false", func(w *wishes, value string) bool {
			w.never = value == "false"
			return w.never || value == "true"
		}},
		{"ready-after", aDuration, func(w *wishes, value string) bool { return duration(&w.readyAfter, value) }},
		{"start-after", aDuration, func(w *wishes, value string) bool { return duration(&w.startAfter, value) }},
		{"stop-after", aDuration, func(w *wishes, value string) bool { return duration(&w.stopAfter, value) }},
	}
}

// longest bounds durations: a pod that is forgotten shall be somebody's wish.
const longest = 24 * time.Hour

func duration(into *time.Duration, value string) bool {
	d, err := time.ParseDuration(value)
	if err != nil || d < 0 || d > longest {
		return false
	}
	*into = d
	return true
}

// wishesOf reads the annotations of a pod. Complaints are sentences for a person,
// each about one annotation; what they are about counts as not given.
func wishesOf(pod *corev1.Pod) (wishes, []string) {
	var asked wishes
	if !slices.ContainsFunc(keys(pod), isOurs) {
		return asked, nil
	}
	var complaints, names []string
	for _, known := range annotations() {
		names = append(names, known.name)
		value, given := pod.Annotations[AnnotationPrefix+known.name]
		if !given {
			continue
		}
		next := asked
		if known.set(&next, value) {
			asked = next
			continue
		}
		complaints = append(complaints, fmt.Sprintf("annotation %s%s: %q is ignored, allowed is %s",
			AnnotationPrefix, known.name, value, known.allowed))
	}
	for _, key := range keys(pod) {
		if name, ours := strings.CutPrefix(key, AnnotationPrefix); ours && !slices.Contains(names, name) {
			complaints = append(complaints, fmt.Sprintf("annotation %s is ignored: there is no such rule; %s",
				key, near.Hint(name, names)))
		}
	}
	return asked, complaints
}

func isOurs(key string) bool { return strings.HasPrefix(key, AnnotationPrefix) }

// keys returns the annotations of a pod in a fixed order.
func keys(pod *corev1.Pod) []string {
	var sorted []string
	for key := range pod.Annotations {
		sorted = append(sorted, key)
	}
	slices.Sort(sorted)
	return sorted
}
