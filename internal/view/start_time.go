package view

import (
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
)

// moment writes a time in the zone of now, and how long ago it was; nothing for the
// zero time.
func moment(at, now time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.In(now.Location()).Format("2006-01-02 15:04:05.000 MST") + ", " + ago(at, now)
}

// ago writes how long before now something was: "5m ago".
func ago(at, now time.Time) string {
	if since := now.Sub(at); since >= 0 {
		return duration.HumanDuration(since) + " ago"
	}
	return "in the future by this clock"
}
