package resources

import (
	"sync"
	"time"

	"k8s.io/component-base/metrics"

	"github.com/kapi-dev/kapi/internal/apis/inspect/families"
)

// gathered are the metrics of this process. Gathering takes milliseconds, so what
// was gathered is used for a moment.
type gathered struct {
	from metrics.Gatherer
	now  func() time.Time

	lock     sync.Mutex
	until    time.Time
	families families.Families
}

// get returns the metrics by the name of their family. What some collector could
// not tell is left out: the others are still right.
func (g *gathered) get() families.Families {
	if g.from == nil {
		return nil
	}
	g.lock.Lock()
	defer g.lock.Unlock()
	if g.now().Before(g.until) {
		return g.families
	}
	all, err := g.from.Gather()
	if err != nil && len(all) == 0 {
		return g.families
	}
	g.families = families.Of(all)
	g.until = g.now().Add(askAgain)
	return g.families
}
