package resources

import "time"

const (
	// growthSamples are an hour of samples.
	growthSamples = 60
	// growthSpan is the least time over which a speed is told: what a single large
	// write adds says nothing of the hours to come.
	growthSpan = 10 * time.Minute
	// growthStart is how long what is remembered is only the latest sample: what a
	// start adds within its first minutes would bend the line for an hour.
	growthStart = 2 * time.Minute
)

// growth remembers how a size has changed. Its zero value is ready; it is used
// under the lock of its owner.
type growth struct {
	samples [growthSamples]sizeSample // a ring, the oldest at next once it is full
	next    int
	count   int
	first   time.Time // of all samples, also those that are no longer remembered
	last    time.Time
}

type sizeSample struct {
	at   time.Time
	size int64 // bytes, or objects
}

// add takes a sample, unless the last one is less than samplePeriod old.
func (g *growth) add(at time.Time, size int64) {
	// Half a second of slack, so that a ticker that comes early counts.
	if g.count > 0 && at.Sub(g.last) < samplePeriod-time.Second/2 {
		return
	}
	if g.first.IsZero() {
		g.first = at
	}
	if at.Sub(g.first) <= growthStart {
		g.next, g.count = 0, 0
	}
	g.samples[g.next] = sizeSample{at, size}
	g.next = (g.next + 1) % growthSamples
	g.count, g.last = min(g.count+1, growthSamples), at
}

// perHour is the slope of the line through the samples that leaves the smallest
// squares: a single compaction or burst bends it less than it would bend the
// difference of two samples. Zero while too little is known.
func (g *growth) perHour() float64 {
	if g.count < 2 {
		return 0
	}
	oldest := g.samples[(g.next-g.count+growthSamples)%growthSamples]
	if g.last.Sub(oldest.at) < growthSpan {
		return 0
	}
	var n, sumX, sumY, sumXX, sumXY float64
	for _, sample := range g.samples[:g.count] {
		x, y := sample.at.Sub(oldest.at).Hours(), float64(sample.size-oldest.size)
		n, sumX, sumY, sumXX, sumXY = n+1, sumX+x, sumY+y, sumXX+x*x, sumXY+x*y
	}
	return (n*sumXY - sumX*sumY) / (n*sumXX - sumX*sumX)
}
