package pagestest

import (
	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/tui/data"
)

// Earlier is the server of Demo some time before.
const Earlier = "../../../internal/client/inspection/recorded/testdata/before.json"

// Objects replaces the objects of a feed.
func Objects(frame data.Frame, key data.Key, objects ...kinds.Object) data.Frame {
	view := frame.View(key)
	view.Key, view.State, view.Objects, view.Revision = key, data.Live, objects, view.Revision+1
	return frame.With(view)
}
