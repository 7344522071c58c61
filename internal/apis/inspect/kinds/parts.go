package kinds

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

func v1Duration(d time.Duration) metav1.Duration { return metav1.Duration{Duration: d} }

func partKinds() []Kind {
	type member = *v1alpha1.EtcdMember
	return []Kind{
		{
			Resource: "etcdmembers", Singular: "etcdmember", Kind: "EtcdMember", ShortNames: []string{"etcd"},
			New:     func() runtime.Object { return &v1alpha1.EtcdMember{} },
			NewList: func() runtime.Object { return &v1alpha1.EtcdMemberList{} },
			Columns: []Column{
				column("Version", "string", "Version of etcd", func(o member) any { return o.Status.Version }),
				column("Leader", "boolean", "Whether it leads", func(o member) any { return o.Status.Leader }),
				column("Revision", "integer", "Changes of the store", func(o member) any { return o.Status.Revision }),
				column("Size", "string", "Size of the database file", known(func(o member) string { return Size(o.Status.DBSize) })),
				column("In-Use", "string", "How much of it holds data", known(func(o member) string { return Size(o.Status.DBSizeInUse) })),
				column("No-Space-In", "string", "When the quota will be reached", known(func(o member) string {
					if o.Status.NoSpaceAt == nil {
						return "never"
					}
					return duration.HumanDuration(max(time.Until(o.Status.NoSpaceAt.Time), 0))
				})),
				column("Trouble", "string", "Alarms that are raised, or why the member could not be asked", func(o member) any {
					if o.Status.Error != "" {
						return short(o.Status.Error, 60)
					}
					return list(o.Status.Alarms)
				}),
				wide("Quota", "string", "Size at which writes are refused", func(o member) any { return Size(o.Status.Quota) }),
				wide("Per-Hour", "string", "Growth of the data", func(o member) any { return growth(o.Status.BytesPerHour) }),
				wide("Fsync-P99", "string", "99th percentile of a sync of the log", func(o member) any { return p99(o.Status.Fsync) }),
				wide("Commit-P99", "string", "99th percentile of a commit", func(o member) any { return p99(o.Status.Commit) }),
				wide("Term", "integer", "Elections so far", func(o member) any { return o.Status.RaftTerm }),
				wide("Endpoint", "string", "How it is reached", func(o member) any { return o.Spec.Endpoint }),
			},
		},
		controllers(),
	}
}

// known is a cell that says nothing of a member that could not be asked.
func known(cell func(*v1alpha1.EtcdMember) string) func(*v1alpha1.EtcdMember) any {
	return func(o *v1alpha1.EtcdMember) any {
		if o.Status.Error != "" {
			return "?"
		}
		return cell(o)
	}
}

func p99(latency *v1alpha1.Latency) string {
	if latency == nil {
		return ""
	}
	return Took(latency.P99)
}
