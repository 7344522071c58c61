package etcd

import (
	"crypto/rand"
	"encoding/hex"
	"net/url"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"google.golang.org/grpc"
)

// peerURL is the peer address stored in the data directory. It stands for
// "this member" and is never dialed, since there is no second one; as it does
// not name a place, a data directory can be moved and still starts.
const peerURL = "unix://kapi-peer"

const (
	// Ticks of 100 ms cost an idle server ten wake-ups a second. Shorter ones
	// would speed the first election up, but Member.campaign makes that
	// immediate anyway, and with long ticks a disk that stalls for seconds
	// neither floods the log with missed ticks nor costs the leadership.
	tickMs     = 100
	electionMs = 1000

	// kube-apiserver's watch cache learns from these notifications how far an
	// idle resource is (KEP-3157, KEP-2340), and asks for 5 s.
	watchProgressInterval = 5 * time.Second

	// Entries between two snapshot records of the log: bounds what is replayed
	// at the next start. It must stay well below the 5000 entries of backlog at
	// which etcd refuses proposals: it would refuse its own first one, in a loop
	// without a pause, for as long as it replays.
	snapshotCount = 2000

	// Log entries kept in memory behind the last applied one, for followers
	// that lag behind. There are none, but the raft node itself may look at
	// entries that etcd has applied and the node has not noted as such yet, and
	// panics if they are gone: keep more than what is replayed at a start.
	catchUpEntries = snapshotCount + 1000

	// A request that takes longer is a warning in the log. etcd's own 100 ms
	// is for a machine of its own: here the server starts on the same cores, and
	// each of its first requests would be one.
	slowRequest = time.Second

	// Closed 64 MB segments of the log that are kept. Nothing reads the older
	// ones of a single member except the next start, which scans all of them.
	maxWALFiles = 2
)

// embedConfig translates c. Everything not named here is etcd's default:
// requests of up to 1.5 MiB, 128 operations in a transaction, a backend commit
// every 100 ms or 10,000 operations, no automatic compaction (the API server
// compacts), no metrics port.
func embedConfig(c Config, s sockets, lg *zap.Logger, register func(*grpc.Server)) (*embed.Config, error) {
	token := make([]byte, 8)
	if _, err := rand.Read(token); err != nil {
		return nil, err
	}
	peer, err := url.Parse(peerURL)
	if err != nil {
		return nil, err
	}

	e := embed.NewConfig()
	e.Name = c.Name
	e.Dir = c.Dir
	e.ZapLoggerBuilder = embed.NewZapLoggerBuilder(lg)

	// etcd takes a peer socket's path from the URL's host only, a client
	// socket's from host and path.
	e.ListenPeerUrls = []url.URL{{Scheme: "unix", Host: s.peer()}}
	e.AdvertisePeerUrls = []url.URL{*peer}
	e.ListenClientUrls = []url.URL{{Scheme: "unix", Path: s.client()}}
	e.AdvertiseClientUrls = e.ListenClientUrls

	// Used when the data directory is empty and never again: a random token
	// makes member and cluster IDs unique, so that a database and a log of two
	// different clusters are recognised as such.
	e.InitialCluster = c.Name + "=" + peerURL
	e.InitialClusterToken = "kapi-" + hex.EncodeToString(token)
	e.ClusterState = embed.ClusterStateFlagNew

	e.TickMs = tickMs
	e.ElectionMs = electionMs
	e.SnapshotCount = snapshotCount
	e.SnapshotCatchUpEntries = catchUpEntries
	e.MaxWalFiles = maxWALFiles
	e.WarningApplyDuration = slowRequest
	e.QuotaBackendBytes = c.QuotaBytes
	e.UnsafeNoFsync = c.UnsafeNoFsync
	e.AutoCompactionRetention = "0"
	e.WatchProgressNotifyInterval = watchProgressInterval

	// The gateway is a JSON translation of the gRPC API with a client
	// connection of its own. Nobody here speaks it.
	e.EnableGRPCGateway = false
	e.ServiceRegister = register
	return e, nil
}
