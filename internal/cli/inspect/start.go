package inspect

import (
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/view"
)

// How a server starts is a waterfall for people, and a list for everything else.
// One controller is a page of its own.

func viewHooks(l *kindList, listing inspection.Listing) error {
	return view.Hooks(l.out, l.screen(), typedAs[*v1alpha1.PostStartHook](listing), readAt(l.server))
}

func viewBoot(l *kindList, listing inspection.Listing) error {
	return view.Boot(l.out, l.screen(), typedAs[*v1alpha1.BootStep](listing), readAt(l.server))
}

func viewController(l *kindList, listing inspection.Listing) error {
	return view.Controller(l.out, l.screen(), typedAs[*v1alpha1.Controller](listing)[0], readAt(l.server))
}
