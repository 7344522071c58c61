package resources

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// Counts are at least countPeriod old before they are made again, and at most
	// countSlowest: one pass over all resources is some hundred reads of the index
	// of keys, and shall take no more than one part in countShare of the time.
	countPeriod  = time.Second
	countSlowest = 10 * time.Second
	countShare   = 100
	countTime    = 3 * time.Second
	// A sample of values is the first ones of a resource, up to sampleValues or
	// sampleBytes, and its average is used for samplePeriods.
	sampleValues = 100
	samplePage   = 10
	sampleBytes  = 1 << 20
	sampleAge    = 5 * time.Minute
)

// counts knows how many objects there are, and how large.
//
// Upstream counts too (apiserver_resource_objects), but once a minute, and at the
// start before there is anything; the count here is etcd's. The size of an object
// is upstream's average where it has one, since reading all objects to add up
// their sizes would cost too much, and else the average of at most sampleValues
// values with their keys.
type counts struct {
	kv      Getter
	metrics gathered
	now     func() time.Time

	lock     sync.Mutex
	counted  time.Time
	took     time.Duration
	revision int64
	known    map[string]*stock // by prefix
}

// stock is what is known of the objects below one prefix.
type stock struct {
	objects, bytes int64 // -1: not known
	// growth is that of objects, which are counted; bytes also change with the
	// estimate of what one takes, though nobody has touched any. Each is that estimate.
	growth  growth
	each    float64
	average float64
	sampled time.Time
}

// perHour is how fast it grows, in bytes, by objects that come and go.
func (s *stock) perHour() int64 { return int64(math.Round(s.growth.perHour() * s.each)) }

// countedStock is a stock as it was at one moment.
type countedStock struct{ objects, bytes, perHour int64 }

// get counts the objects below each prefix, unless that was done just before, and
// returns the counts and the revision of the store that they are of. estimate
// returns the average size of an object where upstream knows it.
func (c *counts) get(ctx context.Context, prefixes map[string]schema.GroupResource, estimate func(schema.GroupResource) float64) (map[string]countedStock, int64) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.pass(ctx, prefixes, estimate)
	c.readRevision(ctx)
	result := make(map[string]countedStock, len(c.known))
	for prefix, s := range c.known {
		result[prefix] = countedStock{s.objects, s.bytes, s.perHour()}
	}
	return result, c.revision
}

// readRevision asks which revision the store has now: counts may be seconds old,
// but how far a watch cache is behind is a matter of milliseconds.
func (c *counts) readRevision(ctx context.Context) {
	if c.kv == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, countTime)
	defer cancel()
	response, err := c.kv.Get(ctx, "\x00", clientv3.WithCountOnly(), clientv3.WithSerializable())
	if err == nil {
		c.revision = max(c.revision, response.Header.GetRevision())
	}
}

// pass counts what is due: all, if that was not done for some seconds, and
// resources that are new. What etcd does not tell stays as it was.
func (c *counts) pass(ctx context.Context, prefixes map[string]schema.GroupResource, estimate func(schema.GroupResource) float64) {
	all := c.now().Sub(c.counted) >= min(max(countShare*c.took, countPeriod), countSlowest)
	var due []string
	next := make(map[string]*stock, len(prefixes))
	for prefix := range prefixes {
		known := c.known[prefix]
		if all || known == nil {
			due = append(due, prefix)
		}
		if next[prefix] = known; known == nil {
			next[prefix] = &stock{objects: -1, bytes: -1}
		}
	}
	c.known = next
	if all {
		c.counted = c.now()
	}
	if c.kv == nil || len(due) == 0 {
		return
	}
	if all {
		start := time.Now()
		defer func() { c.took = time.Since(start) }()
	}
	ctx, cancel := context.WithTimeout(ctx, countTime)
	defer cancel()
	for _, prefix := range due {
		if err := c.count(ctx, prefix, next[prefix], estimate(prefixes[prefix])); err != nil {
			return // etcd is away, or slow: EtcdMember says why
		}
	}
}

func (c *counts) count(ctx context.Context, prefix string, s *stock, average float64) error {
	// Serializable: the member's own state is new enough, and costs no round of Raft.
	response, err := c.kv.Get(ctx, prefix+"/", clientv3.WithPrefix(), clientv3.WithCountOnly(), clientv3.WithSerializable())
	if err != nil {
		return fmt.Errorf("counting the keys below %s: %w", prefix, err)
	}
	s.objects = response.Count
	if s.objects > 0 && average <= 0 {
		if average, err = c.sampled(ctx, prefix, s); err != nil {
			return err
		}
	}
	s.bytes = int64(float64(s.objects) * average)
	if average > 0 { // else there is none left, and what has gone was as large as before
		s.each = average
	}
	s.growth.add(c.now(), s.objects)
	return nil
}

// sampled returns the average size of the first values below a prefix.
func (c *counts) sampled(ctx context.Context, prefix string, s *stock) (float64, error) {
	if s.average > 0 && c.now().Sub(s.sampled) < sampleAge {
		return s.average, nil
	}
	from, end := prefix+"/", clientv3.GetPrefixRangeEnd(prefix+"/")
	var values, bytes int
	for values < sampleValues && bytes < sampleBytes {
		response, err := c.kv.Get(ctx, from, clientv3.WithRange(end), clientv3.WithLimit(samplePage), clientv3.WithSerializable())
		if err != nil {
			return 0, fmt.Errorf("reading values below %s: %w", prefix, err)
		}
		for _, kv := range response.Kvs {
			values, bytes = values+1, bytes+len(kv.Key)+len(kv.Value)
			from = string(kv.Key) + "\x00"
		}
		if !response.More {
			break
		}
	}
	if values == 0 {
		return 0, nil // deleted since they were counted
	}
	s.average, s.sampled = float64(bytes)/float64(values), c.now()
	return s.average, nil
}
