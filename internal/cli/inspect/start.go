package inspect

import (
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/view"
)

// How a server starts is a waterfall for people, and a list for everything else.

func viewHooks(l *kindList, listing inspection.Listing) error {
	return view.Hooks(l.out, l.screen(), typedAs[*v1alpha1.PostStartHook](listing), readAt(l.server))
}

func viewBoot(l *kindList, listing inspection.Listing) error {
	return view.Boot(l.out, l.screen(), typedAs[*v1alpha1.BootStep](listing), readAt(l.server))
}
