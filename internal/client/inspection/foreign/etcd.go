package foreign

import (
	"context"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/families"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
)

const (
	// dbSize is the size of the database, one for each etcd cluster.
	// Source: k8s.io/apiserver/pkg/storage/etcd3/metrics.
	dbSize = "apiserver_storage_size_bytes"
	// etcdCheck is the health check of etcd.
	etcdCheck = "etcd"
	unknown   = -1
)

// etcdMembers finds the etcd clusters that this server stores in: the size of the
// database is in the metrics, whether it answers is a health check. Members and
// everything else of them only etcd itself tells.
func (s *Server) etcdMembers(ctx context.Context, _ inspection.Query) (*finding, error) {
	metrics, noMetrics := s.metrics(ctx, dbSize)
	checks, noChecks := s.verbose(ctx, "livez")
	if noMetrics != nil && noChecks != nil {
		return nil, noMetrics
	}
	f := &finding{}
	flags, noFlags := s.flags(ctx)
	for i, metric := range metrics[dbSize] {
		id := families.Label(metric, "storage_cluster_id")
		if id == "" {
			id = "etcd-" + strconv.Itoa(i)
		}
		f.add(etcdMember(id, int64(families.Value(metric))))
	}
	if noMetrics != nil {
		f.gap(why(noMetrics, metricsPath), "Size")
	}
	if len(f.objects) == 0 {
		f.add(etcdMember("etcd-0", unknown))
		f.gap(noMetric(dbSize), "Size")
	}
	for _, object := range f.objects {
		if member, ok := object.(*v1alpha1.EtcdMember); ok {
			s.judge(ctx, member, checks)
			member.Spec.Endpoint = withoutCredentials(strings.Trim(flags["etcd-servers"], "[]"))
		}
	}
	if noFlags != nil {
		f.gap(why(noFlags, flagsPath), "Endpoint")
	}
	if noChecks != nil {
		f.gap(why(noChecks, "/livez"), "Trouble")
	}
	f.emptyFor("its health check passes; alarms only etcd itself tells", "Trouble")
	f.gap("only etcd itself tells it: etcdctl endpoint status",
		"Version", "Leader", "Revision", "In-Use", "No-Space-In", "Quota", "Term")
	f.gap("only etcd's own metrics tell it", "Per-Hour", "Fsync-P99", "Commit-P99")
	return f, nil
}

func etcdMember(name string, size int64) *v1alpha1.EtcdMember {
	return &v1alpha1.EtcdMember{
		ObjectMeta: named(name),
		Status:     v1alpha1.EtcdMemberStatus{DBSize: size, DBSizeInUse: unknown, Quota: unknown},
	}
}

// judge notes whether the health check of etcd passes. There is one check for all
// clusters, so each of them is suspect while it fails.
func (s *Server) judge(ctx context.Context, member *v1alpha1.EtcdMember, checks []check) {
	i := slices.IndexFunc(checks, func(c check) bool { return c.name == etcdCheck })
	if i < 0 {
		return
	}
	condition := metav1.Condition{Type: v1alpha1.ConditionHealthy, Status: metav1.ConditionTrue, Reason: "Passed"}
	if checks[i].failed {
		member.Status.Error = "the health check fails: " + s.reason(ctx, "livez", checks[i])
		condition.Status, condition.Reason, condition.Message = metav1.ConditionFalse, "Failed", member.Status.Error
	}
	member.Status.Conditions = []metav1.Condition{condition}
}
