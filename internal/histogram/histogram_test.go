package histogram

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"
)

// Every bucket begins where the one before it ends, and holds its own bounds.
func TestBucketsTile(t *testing.T) {
	for i := range numBuckets {
		low, high := lower(i), lower(i+1)
		if high <= low {
			t.Fatalf("bucket %d is [%d, %d)", i, low, high)
		}
		for _, d := range []time.Duration{low, low + (high-low)/2, high - 1, representative(i)} {
			if got := bucketOf(d); got != i {
				t.Errorf("%d is in bucket %d, want %d", d, got, i)
			}
		}
	}
	if last := lower(numBuckets); last < 100*time.Second {
		t.Errorf("the last bucket ends at %s", last)
	}
	if got := bucketOf(math.MaxInt64); got != numBuckets-1 {
		t.Errorf("the longest duration is in bucket %d", got)
	}
}

func TestQuantileIsClose(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for name, draw := range map[string]func() time.Duration{
		"uniform in the exponent": func() time.Duration { return time.Duration(math.Exp2(6 + 31*random.Float64())) },
		"around a millisecond":    func() time.Duration { return time.Duration(1e6 * math.Exp(random.NormFloat64())) },
		"one value":               func() time.Duration { return 12345 },
	} {
		var h Histogram
		var all []time.Duration
		var sum time.Duration
		for range 20_000 {
			d := draw()
			h.Record(d)
			all = append(all, d)
			sum += d
		}
		slices.Sort(all)
		s := h.Snapshot()
		if s.Count() != int64(len(all)) || s.Sum() != sum || s.Max() != all[len(all)-1] || s.Mean() != sum/time.Duration(len(all)) {
			t.Errorf("%s: count %d, sum %s, max %s, mean %s", name, s.Count(), s.Sum(), s.Max(), s.Mean())
		}
		for _, q := range []float64{0, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1} {
			rank := max(int(math.Ceil(q*float64(len(all)))), 1)
			exact := all[rank-1]
			if got := s.Quantile(q); math.Abs(float64(got-exact)) > 0.06*float64(exact) {
				t.Errorf("%s: quantile %g is %s, exactly %s", name, q, got, exact)
			}
		}
	}
}

func TestEdges(t *testing.T) {
	var empty Snapshot
	if empty.Quantile(0.5) != 0 || empty.Max() != 0 || empty.Mean() != 0 || empty.Count() != 0 {
		t.Errorf("an empty histogram has %+v", empty)
	}
	var h Histogram
	h.Record(-time.Second)
	h.Record(time.Hour)
	s := h.Snapshot()
	if s.Sum() != time.Hour || s.Quantile(0) != 4 || s.Quantile(1) != time.Hour || s.Quantile(2) != time.Hour || s.Quantile(-1) != 4 {
		t.Errorf("a negative one and an hour: sum %s, quantiles %s to %s", s.Sum(), s.Quantile(0), s.Quantile(1))
	}
}

// Merging is the same as counting everything in one place.
func TestMerge(t *testing.T) {
	var all, a, b Snapshot
	var h Histogram
	for i := range time.Duration(1000) {
		d := time.Duration(int64(i)*int64(i)) * time.Microsecond
		all.Add(d)
		h.Record(d)
		if i%3 == 0 {
			a.Add(d)
		} else {
			b.Add(d)
		}
	}
	a.Merge(b)
	if a != all || h.Snapshot() != all {
		t.Error("merged, recorded and added differ")
	}
}

func TestBuckets(t *testing.T) {
	var s Snapshot
	durations := []time.Duration{0, 100, 1023, 1024, time.Millisecond, time.Second, 68 * time.Second, time.Hour}
	for _, d := range durations {
		s.Add(d)
	}
	var bounds []time.Duration
	for bound, count := range s.Buckets() {
		bounds = append(bounds, bound)
		want := 0
		for _, d := range durations {
			if d < bound {
				want++
			}
		}
		if count != int64(want) {
			t.Errorf("%d below %s, want %d", count, bound, want)
		}
	}
	if !slices.IsSorted(bounds) || bounds[0] != 1024 || bounds[len(bounds)-1] != 1<<36 {
		t.Errorf("bounds are %v", bounds)
	}
	for range s.Buckets() {
		break // a reader may stop
	}
}

func TestConcurrentWriters(t *testing.T) {
	const writers, each = 8, 5000
	var h Histogram
	var group sync.WaitGroup
	stop := make(chan struct{})
	reader := sync.WaitGroup{}
	reader.Go(func() {
		for last := int64(0); ; {
			select {
			case <-stop:
				return
			default:
				count := h.Snapshot().Count()
				if count < last {
					t.Error("the count went down")
				}
				last = count
			}
		}
	})
	for w := range time.Duration(writers) {
		group.Go(func() {
			for i := range time.Duration(each) {
				h.Record(time.Duration(int64(w)*int64(time.Millisecond)) + i)
			}
		})
	}
	group.Wait()
	close(stop)
	reader.Wait()
	s := h.Snapshot()
	want := time.Duration(each)*time.Millisecond*(writers*(writers-1)/2) + writers*each*(each-1)/2
	if s.Count() != writers*each || s.Sum() != want || s.Max() != (writers-1)*time.Millisecond+each-1 {
		t.Errorf("count %d, sum %s (want %s), max %s", s.Count(), s.Sum(), want, s.Max())
	}
}

func BenchmarkRecord(b *testing.B) {
	var h Histogram
	for i := 0; b.Loop(); i++ {
		h.Record(time.Duration(i&0xfffff) * 100)
	}
}
