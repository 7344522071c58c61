package inspect

import (
	"context"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/labels"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/inspect/requests"
	"github.com/kapi-dev/kapi/internal/inspect/store"
)

// ownRequests hides from a client its own requests for this group: a dashboard
// would see mostly itself. Those that failed are shown, and a selector that names
// the label shows all.
func ownRequests(ctx context.Context, selector labels.Selector) func(store.Object) bool {
	asker, ok := apirequest.UserFrom(ctx)
	wanted, _ := selector.Requirements()
	for _, requirement := range wanted {
		if requirement.Key() == requests.LabelInspect {
			ok = false
		}
	}
	if !ok {
		return func(store.Object) bool { return false }
	}
	return func(object store.Object) bool {
		trace, ok := object.(*v1alpha1.RequestTrace)
		return ok && !trace.Status.Failed && trace.Labels[requests.LabelInspect] != "" && trace.Spec.User != nil && trace.Spec.User.Name == asker.GetName()
	}
}

// burst is how many traces may come at once before the rate counts.
const burst = 50

// rate bounds what one watch of traces gets. Tokens come evenly, so that what is
// delivered is spread over all that happens.
func (i *Inspector) rate() func() bool {
	limiter := rate.NewLimiter(rate.Limit(i.cfg.WatchRate), burst)
	return func() bool { return limiter.AllowN(time.Now(), 1) }
}
