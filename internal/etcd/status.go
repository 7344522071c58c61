package etcd

import (
	"context"
	"fmt"

	"go.etcd.io/etcd/api/v3/version"
)

// Status is a member at one moment.
type Status struct {
	Name           string
	MemberID       uint64
	ClusterID      uint64
	Version        string // of etcd, such as "3.7.3"
	ClusterVersion string // such as "3.7.0"; "" in the first moments of a cluster
	Leader         bool   // a single member that runs is its leader

	Revision     int64 // of the last write
	RaftTerm     uint64
	RaftIndex    uint64 // of the last committed log entry
	AppliedIndex uint64 // of the last one that is in the database

	DBSize      int64 // bytes of the database file
	DBSizeInUse int64 // bytes of it that hold data
	QuotaBytes  int64 // DBSize at which writes are refused

	// Alarms that are raised: "NOSPACE" (writes are refused), "CORRUPT".
	Alarms []string
}

// Status returns the member's state, or the error that has ended it. Reading
// the revision waits for a commit to the disk that is under way; ctx bounds
// that.
func (m *Member) Status(ctx context.Context) (Status, error) {
	err := m.guard.failure()
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		// Left behind if ctx ends: it waits for a lock of etcd's.
		read := make(chan Status, 1)
		go func() { read <- m.status() }()
		select {
		case s := <-read:
			return s, nil
		case <-m.guard.failed:
			err = m.guard.failure()
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	return Status{}, fmt.Errorf("reading etcd's status: %w", err)
}

func (m *Member) status() Status {
	srv := m.etcd.Server
	s := Status{
		Name:         m.cfg.Name,
		MemberID:     uint64(srv.MemberID()),
		ClusterID:    uint64(srv.Cluster().ID()),
		Version:      version.Version,
		Leader:       srv.Leader() == srv.MemberID(),
		Revision:     srv.KV().Rev(),
		RaftTerm:     srv.Term(),
		RaftIndex:    srv.CommittedIndex(),
		AppliedIndex: srv.AppliedIndex(),
		DBSize:       srv.Backend().Size(),
		DBSizeInUse:  srv.Backend().SizeInUse(),
		QuotaBytes:   m.cfg.QuotaBytes,
	}
	if v := srv.ClusterVersion(); v != nil {
		s.ClusterVersion = v.String()
	}
	for _, a := range srv.Alarms() {
		s.Alarms = append(s.Alarms, a.Alarm.String())
	}
	return s
}
