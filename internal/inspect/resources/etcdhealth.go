package resources

import (
	"math"
	"strconv"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	clientv3 "go.etcd.io/etcd/client/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/families"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// Metrics of an embedded etcd.
// Source: go.etcd.io/etcd/server/v3/storage/wal and storage/backend.
const (
	fsyncMetric  = "etcd_disk_wal_fsync_duration_seconds"
	commitMetric = "etcd_disk_backend_commit_duration_seconds"
)

// forecastLimit is how far a forecast reaches: beyond a year, at the speed of an
// hour, it would say nothing.
const forecastLimit = 365 * 24 * time.Hour

// finish adds what a member does not say of itself.
func (m *members) finish(object *v1alpha1.EtcdMember, alarms *clientv3.AlarmResponse) {
	status, known := &object.Status, m.known[object.Name]
	if alarms != nil {
		for _, alarm := range alarms.Alarms {
			if strconv.FormatUint(alarm.MemberID, 16) == object.Spec.MemberID {
				status.Alarms = append(status.Alarms, alarm.Alarm.String())
			}
		}
	}
	if status.Quota == 0 {
		status.Quota = m.config.Quota
	}
	if status.DBSize > 0 {
		known.growth.add(m.now(), status.DBSizeInUse)
	}
	status.BytesPerHour = int64(math.Round(known.growth.perHour()))
	status.NoSpaceAt = noSpaceAt(m.now(), status)
	if m.config.Embedded {
		families := m.metrics.get()
		status.Fsync, status.Commit = latencyOf(families[fsyncMetric]), latencyOf(families[commitMetric])
	}
	if m.config.Maintained != nil {
		defrag, snapshot := m.config.Maintained()
		status.LastDefrag, status.LastSnapshot = optionalTime(defrag), optionalTime(snapshot)
	}
	status.Conditions = []metav1.Condition{m.healthy(known, status)}
}

// healthy keeps the time at which the status has last changed.
func (m *members) healthy(known *knownMember, status *v1alpha1.EtcdMemberStatus) metav1.Condition {
	next := metav1.Condition{Type: v1alpha1.ConditionHealthy, Status: metav1.ConditionFalse}
	switch {
	case status.Error != "" && status.Version == "":
		next.Reason, next.Message = "Unreachable", status.Error
	case status.Error != "":
		next.Reason, next.Message = "NoLeader", status.Error
	case len(status.Alarms) > 0:
		next.Reason, next.Message = "Alarm", "alarms are raised: "+strings.Join(status.Alarms, ", ")
	default:
		next.Status, next.Reason, next.Message = metav1.ConditionTrue, "Serving", "it answers and knows its leader"
	}
	next.LastTransitionTime = known.condition.LastTransitionTime
	if next.Status != known.condition.Status {
		next.LastTransitionTime = metav1.NewTime(m.now())
	}
	known.condition = next
	return next
}

// noSpaceAt is when the data will fill the quota. Free pages of the file are used
// before it grows, so it is the data that counts, not the file. The time is rounded
// to what the speed is worth: otherwise each look would show another one.
func noSpaceAt(now time.Time, status *v1alpha1.EtcdMemberStatus) *metav1.MicroTime {
	left := status.Quota - status.DBSizeInUse
	if status.Quota <= 0 || status.BytesPerHour <= 0 || left <= 0 {
		return nil
	}
	hours := float64(left) / float64(status.BytesPerHour)
	if hours > forecastLimit.Hours() {
		return nil
	}
	in := time.Duration(math.Round(hours * float64(time.Hour)))
	at := metav1.NewMicroTime(now.Add(in).Truncate(max(time.Minute, (in / 100).Truncate(time.Minute))))
	return &at
}

func latencyOf(metrics []*dto.Metric) *v1alpha1.Latency {
	if len(metrics) == 0 {
		return nil
	}
	var all families.Distribution
	for _, metric := range metrics {
		all.Add(metric.GetHistogram())
	}
	latency := all.Latency()
	return &latency
}

func optionalTime(t time.Time) *metav1.MicroTime {
	if t.IsZero() {
		return nil
	}
	at := metav1.NewMicroTime(t)
	return &at
}
