package etcd

import (
	"context"
	"expvar"
	"time"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
)

const (
	// campaignInterval is the time between two looks at the raft node while
	// the member starts, and at no other time.
	campaignInterval = time.Millisecond
	// campaignTimeout bounds the hand-over of one message to the raft node,
	// which does not take it any more once it has failed.
	campaignTimeout = 100 * time.Millisecond
)

// campaign makes the only member leader at once, instead of after an election
// timeout: MsgTimeoutNow is what a leader sends to the one that shall succeed
// it. The raft node ignores it as leader and as candidate.
//
// It is sent only when the node has noted all committed entries as applied.
// Before that the node would search them for a change of membership, and
// panics if etcd has compacted its log in between, as etcd may.
func (m *Member) campaign(ctx context.Context) {
	srv := m.etcd.Server
	id := uint64(srv.MemberID())
	if srv.Leader() != 0 || srv.AppliedIndex() == 0 || !caughtUp(id) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, campaignTimeout)
	defer cancel()
	// An error means that the server stops, which awaitReady sees.
	_ = srv.Process(ctx, &raftpb.Message{Type: raftpb.MsgTimeoutNow.Enum(), To: &id, From: &id})
}

// caughtUp reports whether the raft node id has noted all that is committed as
// applied. etcd shows the state of its node, the last one started in the
// process, as the variable raft.status, and nowhere else. If that is another
// node, as in a test, the answer is no, and the election takes its time.
func caughtUp(id uint64) bool {
	v, ok := expvar.Get("raft.status").(expvar.Func)
	if !ok {
		return false
	}
	s, ok := v.Value().(raft.Status)
	return ok && s.ID == id && s.Applied >= s.GetCommit()
}
