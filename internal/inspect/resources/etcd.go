package resources

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/inspect/store"
)

// memberTime bounds the questions of one collection: a member that hangs is one
// that can't be asked.
const memberTime = 2 * time.Second

// members remembers what was seen of the members of etcd.
type members struct {
	config  Etcd
	metrics gathered
	now     func() time.Time

	lock  sync.Mutex
	known map[string]*knownMember // by name
	// names are those that endpoints had when they last answered.
	names map[string]string
}

type knownMember struct {
	growth    growth
	condition metav1.Condition
}

// askedMember is what one endpoint has answered.
type askedMember struct {
	endpoint string
	status   *clientv3.StatusResponse
	err      error
}

// EtcdMembers returns an EtcdMember for each member of the cluster, and for each
// endpoint that does not answer and has never said which member it is.
func (r *Resources) EtcdMembers(ctx context.Context) ([]store.Object, error) {
	m := &r.members
	if m.config.Client == nil {
		return nil, nil
	}
	m.lock.Lock()
	defer m.lock.Unlock()
	ctx, cancel := context.WithTimeout(ctx, memberTime)
	defer cancel()
	var (
		list   *clientv3.MemberListResponse
		alarms *clientv3.AlarmResponse
		asked  []askedMember
		asking sync.WaitGroup
	)
	// What can't be listed is missed below, where each member is asked itself.
	asking.Go(func() { list, _ = m.config.Client.MemberList(ctx) })
	asking.Go(func() { alarms, _ = m.config.Client.AlarmList(ctx) })
	asking.Go(func() { asked = m.ask(ctx) })
	asking.Wait()

	objects := m.objects(list, asked)
	for _, object := range objects {
		object.ServerID = r.config.ServerID
		m.finish(object, alarms)
	}
	slices.SortFunc(objects, func(a, b *v1alpha1.EtcdMember) int { return strings.Compare(a.Name, b.Name) })
	result := make([]store.Object, 0, len(objects))
	for _, object := range objects {
		result = append(result, object)
	}
	return result, nil
}

// ask asks all endpoints side by side.
func (m *members) ask(ctx context.Context) []askedMember {
	asked := make([]askedMember, len(m.config.Endpoints))
	var asking sync.WaitGroup
	for i, endpoint := range m.config.Endpoints {
		asking.Go(func() {
			asked[i].endpoint = endpoint
			asked[i].status, asked[i].err = m.config.Client.Status(ctx, endpoint)
		})
	}
	asking.Wait()
	return asked
}

// objects makes one object a member: of those in the list, and of endpoints that
// belong to none of them.
func (m *members) objects(list *clientv3.MemberListResponse, asked []askedMember) []*v1alpha1.EtcdMember {
	objects := map[string]*v1alpha1.EtcdMember{}
	names := map[uint64]string{}
	if list != nil {
		for _, member := range list.Members {
			name := memberName(member)
			names[member.ID] = name
			objects[name] = m.object(name)
			objects[name].Spec.MemberID = strconv.FormatUint(member.ID, 16)
			objects[name].Spec.Endpoint = strings.Join(member.ClientURLs, ",")
			objects[name].Status.Learner = member.IsLearner
			objects[name].Status.Error = "none of the endpoints that this server uses has answered as this member"
		}
	}
	for i, one := range asked {
		name := m.names[one.endpoint]
		if one.status != nil {
			if name = names[one.status.Header.GetMemberId()]; name == "" {
				name = strconv.FormatUint(one.status.Header.GetMemberId(), 16)
			}
			m.remember(one.endpoint, name)
		}
		if name == "" {
			name = "endpoint-" + strconv.Itoa(i)
		}
		if objects[name] == nil {
			objects[name] = m.object(name)
		}
		fill(objects[name], one)
	}
	for _, object := range objects {
		for name := range objects {
			if name != object.Name {
				object.Spec.Peers = append(object.Spec.Peers, name)
			}
		}
		slices.Sort(object.Spec.Peers)
	}
	m.forget(objects)
	result := make([]*v1alpha1.EtcdMember, 0, len(objects))
	for _, object := range objects {
		result = append(result, object)
	}
	return result
}

func memberName(member *etcdserverpb.Member) string {
	if member.Name == "" { // it was added and has not started yet
		return strconv.FormatUint(member.ID, 16)
	}
	return segment(member.Name)
}

func (m *members) object(name string) *v1alpha1.EtcdMember {
	return &v1alpha1.EtcdMember{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.EtcdMemberSpec{Embedded: m.config.Embedded},
	}
}

func (m *members) remember(endpoint, name string) {
	if m.names == nil {
		m.names = map[string]string{}
	}
	m.names[endpoint] = name // there are as many as endpoints
}

// forget drops what was known of members that are no longer there.
func (m *members) forget(objects map[string]*v1alpha1.EtcdMember) {
	next := make(map[string]*knownMember, len(objects))
	for name := range objects {
		if next[name] = m.known[name]; next[name] == nil {
			next[name] = &knownMember{}
		}
	}
	m.known = next
}

func fill(object *v1alpha1.EtcdMember, asked askedMember) {
	object.Spec.Endpoint = asked.endpoint
	if asked.err != nil {
		object.Status.Error = fmt.Sprintf("asking %s: %v", asked.endpoint, asked.err)
		return
	}
	s := asked.status
	object.Spec.MemberID = strconv.FormatUint(s.Header.GetMemberId(), 16)
	object.Status = v1alpha1.EtcdMemberStatus{
		Version: s.Version, Leader: s.Leader != 0 && s.Leader == s.Header.GetMemberId(), Learner: s.IsLearner,
		RaftTerm: int64(s.RaftTerm), RaftIndex: int64(s.RaftIndex), Revision: s.Header.GetRevision(),
		DBSize: s.DbSize, DBSizeInUse: s.DbSizeInUse, Quota: s.DbSizeQuota,
	}
	if s.Leader == 0 {
		object.Status.Error = "it knows no leader: writes wait"
	}
}
