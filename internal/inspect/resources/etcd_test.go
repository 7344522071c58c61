package resources

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

func TestEmbeddedMember(t *testing.T) {
	t.Parallel()
	put(t, "/members", 0, 5, 100)
	defragged := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	r := New(Config{ServerID: "server", Etcd: Etcd{
		Client: sharedEtcd.Client(), Endpoints: []string{sharedEtcd.Endpoint()}, Embedded: true,
		Metrics:    prometheus.DefaultGatherer,
		Maintained: func() (time.Time, time.Time) { return defragged, time.Time{} },
	}})
	all := named[*v1alpha1.EtcdMember](t, r.EtcdMembers)
	member := all["kapi"]
	if len(all) != 1 || member == nil {
		t.Fatalf("members are %v", all)
	}
	if !member.Spec.Embedded || member.Spec.Endpoint != sharedEtcd.Endpoint() || member.Spec.MemberID == "" || len(member.Spec.Peers) != 0 {
		t.Errorf("spec is %+v", member.Spec)
	}
	s := member.Status
	if s.Version != "3.7.3" || !s.Leader || s.RaftTerm == 0 || s.RaftIndex == 0 || s.Revision < 5 || s.DBSize <= 0 || s.DBSizeInUse <= 0 || s.Quota != 1<<30 || s.Error != "" {
		t.Errorf("status is %+v", s)
	}
	if s.Fsync == nil || s.Commit == nil || s.Commit.Count == 0 || s.LastSnapshot != nil || !s.LastDefrag.Time.Equal(defragged) {
		t.Errorf("status is %+v, fsync %+v, commit %+v", s, s.Fsync, s.Commit)
	}
	if c := s.Conditions[0]; c.Type != v1alpha1.ConditionHealthy || c.Status != "True" || c.LastTransitionTime.IsZero() {
		t.Errorf("condition is %+v", c)
	}
}

func TestMemberOverItsSocket(t *testing.T) {
	t.Parallel()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{sharedEtcd.Endpoint()}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	r := New(Config{Etcd: Etcd{Client: client, Endpoints: client.Endpoints()}})
	member := named[*v1alpha1.EtcdMember](t, r.EtcdMembers)["kapi"]
	if member == nil || member.Spec.Embedded || member.Status.Version == "" || member.Status.Fsync != nil {
		t.Errorf("member is %+v", member)
	}
}

// cluster plays members of etcd that do what a test can't make real ones do.
type cluster struct {
	statuses map[string]*clientv3.StatusResponse
	list     []*etcdserverpb.Member
	alarms   []*etcdserverpb.AlarmMember
}

func (c *cluster) Status(ctx context.Context, endpoint string) (*clientv3.StatusResponse, error) {
	if endpoint == "hangs" {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if status := c.statuses[endpoint]; status != nil {
		return status, nil
	}
	return nil, errors.New("connection refused")
}

func (c *cluster) MemberList(context.Context, ...clientv3.OpOption) (*clientv3.MemberListResponse, error) {
	if c.list == nil {
		return nil, errors.New("nobody answers")
	}
	return (*clientv3.MemberListResponse)(&etcdserverpb.MemberListResponse{Members: c.list}), nil
}

func (c *cluster) AlarmList(context.Context) (*clientv3.AlarmResponse, error) {
	return (*clientv3.AlarmResponse)(&etcdserverpb.AlarmResponse{Alarms: c.alarms}), nil
}

func answering(id, leader uint64, inUse int64) *clientv3.StatusResponse {
	return (*clientv3.StatusResponse)(&etcdserverpb.StatusResponse{
		Header: &etcdserverpb.ResponseHeader{MemberId: id, Revision: 7}, Leader: leader, Version: "3.7.3",
		DbSize: 2 * inUse, DbSizeInUse: inUse,
	})
}

func TestClusterMembers(t *testing.T) {
	t.Parallel()
	c := &cluster{
		list: []*etcdserverpb.Member{
			{ID: 0xa, Name: "a"}, {ID: 0xb, Name: "b/b"}, {ID: 0xc, Name: "c", ClientURLs: []string{"https://c:2379"}},
		},
		statuses: map[string]*clientv3.StatusResponse{"one": answering(0xa, 0xa, 100), "two": answering(0xb, 0, 100)},
		alarms:   []*etcdserverpb.AlarmMember{{MemberID: 0xa, Alarm: etcdserverpb.AlarmType_NOSPACE}},
	}
	r := New(Config{Etcd: Etcd{Client: c, Endpoints: []string{"one", "two", "three"}, Quota: 1000}})
	all := named[*v1alpha1.EtcdMember](t, r.EtcdMembers)
	for name, want := range map[string]struct{ reason, endpoint string }{
		"a": {"Alarm", "one"}, "b-b": {"NoLeader", "two"}, "c": {"Unreachable", "https://c:2379"}, "endpoint-2": {"Unreachable", "three"},
	} {
		one := all[name]
		if one == nil || one.Status.Conditions[0].Reason != want.reason || one.Status.Conditions[0].Status != "False" || one.Spec.Endpoint != want.endpoint {
			t.Errorf("%s is %+v, want %+v", name, one, want)
		}
	}
	if a := all["a"]; fmt.Sprint(a.Status.Alarms) != "[NOSPACE]" || !a.Status.Leader || fmt.Sprint(a.Spec.Peers) != "[b-b c endpoint-2]" || a.Status.Quota != 1000 {
		t.Errorf("a is %+v", a)
	}
	// A member that has answered once is known by its endpoint when it goes away.
	c.statuses, c.list = nil, nil
	if gone := named[*v1alpha1.EtcdMember](t, r.EtcdMembers)["a"]; gone == nil || gone.Status.Conditions[0].Reason != "Unreachable" {
		t.Errorf("gone is %+v", gone)
	}
}

func TestMemberThatHangs(t *testing.T) {
	t.Parallel()
	r := New(Config{Etcd: Etcd{Client: &cluster{}, Endpoints: []string{"hangs"}}})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	objects, err := r.EtcdMembers(ctx)
	if err != nil || len(objects) != 1 || objects[0].(*v1alpha1.EtcdMember).Status.Error == "" {
		t.Errorf("got %v, %v", objects, err)
	}
}

func TestForecast(t *testing.T) {
	t.Parallel()
	c, now := &cluster{list: []*etcdserverpb.Member{{ID: 1, Name: "a"}}}, newClock()
	r := New(Config{Now: now.time, Etcd: Etcd{Client: c, Endpoints: []string{"one"}, Quota: 10_000}})
	var status v1alpha1.EtcdMemberStatus
	look := func(inUse int64) {
		c.statuses = map[string]*clientv3.StatusResponse{"one": answering(1, 1, inUse)}
		status = named[*v1alpha1.EtcdMember](t, r.EtcdMembers)["a"].Status
		now.later(samplePeriod)
	}
	look(10) // a start fills it within its first minutes
	look(500)
	look(1000)
	since := status.Conditions[0].LastTransitionTime
	if status.NoSpaceAt != nil || status.BytesPerHour != 0 {
		t.Errorf("after one sample: %+v", status)
	}
	for i := range int64(10) {
		if status.NoSpaceAt != nil || status.BytesPerHour != 0 {
			t.Errorf("after %d minutes: %+v", i, status)
		}
		look(1000 + 100*(i+1))
	}
	// 8,000 bytes are left, and 100 come each minute.
	want := now.time().Add(-samplePeriod).Add(80 * time.Minute)
	if status.BytesPerHour != 6000 || status.NoSpaceAt == nil || status.NoSpaceAt.Sub(want).Abs() > 2*time.Minute {
		t.Errorf("grows by %d, full at %v, want 6000, %v", status.BytesPerHour, status.NoSpaceAt, want)
	}
	if !status.Conditions[0].LastTransitionTime.Equal(&since) {
		t.Errorf("nothing has changed, and the condition is %+v", status.Conditions[0])
	}
	for i := range int64(30) {
		look(2000 - 50*(i+1))
	}
	if status.BytesPerHour >= 0 || status.NoSpaceAt != nil {
		t.Errorf("it shrinks: %+v", status)
	}
}

func TestGrowthForgets(t *testing.T) {
	t.Parallel()
	var g growth
	at := time.Now()
	for i := range int64(5 * growthSamples) { // the first four hours are steep
		step := max(0, i-4*growthSamples)
		g.add(at, 1_000_000*min(i, 4*growthSamples)+10*step)
		at = at.Add(samplePeriod)
	}
	if got := math.Round(g.perHour()); got != 600 {
		t.Errorf("growth is %v an hour, want 600", got)
	}
	g.add(at.Add(-samplePeriod+time.Second), 1<<40) // too early
	if got := math.Round(g.perHour()); got != 600 {
		t.Errorf("growth is %v an hour after an early sample", got)
	}
}
