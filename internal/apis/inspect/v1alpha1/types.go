package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Latency sums up a distribution of durations since the server started.
type Latency struct {
	// count is how many durations were measured.
	Count int64 `json:"count"`
	// p50 is the duration that half of them stayed below.
	P50 metav1.Duration `json:"p50"`
	// p90 is the duration that nine of ten stayed below.
	P90 metav1.Duration `json:"p90"`
	// p99 is the duration that 99 of 100 stayed below.
	P99 metav1.Duration `json:"p99"`
	// max is the longest; of times that upstream counts, the upper edge of the bucket that it is in.
	Max metav1.Duration `json:"max"`
}

// StatusCount counts answers with one HTTP status code.
type StatusCount struct {
	// code is the HTTP status code; 0 stands for a connection that was given up.
	Code int32 `json:"code"`
	// count is the number of answers.
	Count int64 `json:"count"`
}

// Types of conditions in this group.
const (
	// ConditionHealthy is true while what is looked at does its work.
	ConditionHealthy = "Healthy"
	// ConditionDone is true when something that runs once has succeeded.
	ConditionDone = "Done"
	// ConditionRunning is true while something runs in this server.
	ConditionRunning = "Running"
)
