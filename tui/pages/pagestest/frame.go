// Package pagestest is what tests of pages need: frames of recorded servers, paper,
// pictures of what a page draws, and the rules that every page keeps. It may import
// what pages import and the recordings of servers; only tests import it.
package pagestest

import (
	"fmt"
	"testing"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/client/inspection/recorded"
	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/tui/data"
)

// Recordings of real servers, as a test of a page finds them.
const (
	// Kapi is a kapi with some troubles.
	Kapi = "../../../internal/cli/inspect/testdata/kapi.json"
	// Foreign is another API server.
	Foreign = "../../../internal/cli/inspect/testdata/foreign.json"
	// Demo is a kapi under load, with all its layers and filters.
	Demo = "../../../internal/client/inspection/recorded/testdata/after.json"
)

// Frame is a live frame of the server in a recording, at the time of the recording.
func Frame(t testing.TB, path string) data.Frame {
	t.Helper()
	server, err := recorded.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return FrameOf(t, server)
}

// FrameOf is a live frame of a server. What can't be read has failed in it.
func FrameOf(t testing.TB, server inspection.Server) data.Frame {
	t.Helper()
	about, err := server.About(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	frame := data.Frame{Revision: 1, Now: about.At, About: about, State: data.Live}
	view := func(key data.Key, objects []kinds.Object, gaps []inspection.Gap, err error) {
		v := data.View{Key: key, State: data.Live, Objects: objects, Gaps: gaps, At: about.At, Revision: 1}
		if err != nil {
			v.State, v.Err = data.Failed, err
		}
		frame = frame.With(v)
	}
	for _, kind := range kinds.All() {
		listing, err := server.List(t.Context(), kind, inspection.Query{})
		view(data.Of(kind.Resource), listing.Objects, listing.Gaps, err)
	}
	var definitions, services []kinds.Object
	for definition, each := range server.Definitions(t.Context()) {
		if err = each; err != nil {
			break
		}
		definitions = append(definitions, definition)
	}
	view(data.Definitions, definitions, nil, err)
	for service, each := range server.APIServices(t.Context()) {
		if err = each; err != nil {
			break
		}
		services = append(services, service)
	}
	view(data.APIServices, services, nil, err)
	var namespaces []kinds.Object
	for namespace, each := range server.TerminatingNamespaces(t.Context()) {
		if err = each; err != nil {
			break
		}
		namespaces = append(namespaces, namespace)
	}
	view(data.Terminating, namespaces, nil, err)
	return frame
}

// In returns the frame with a feed in another state and without objects: what a page
// sees before there is something to see.
func In(frame data.Frame, state data.State, keys ...data.Key) data.Frame {
	for _, key := range keys {
		v := data.View{Key: key, State: state}
		switch state {
		case data.Forbidden:
			v.Err = fault.WithHint(fmt.Errorf("listing is forbidden: User %q cannot list it", "jane"), "bind ClusterRole kapi:inspect to the user")
		case data.Failed:
			v.Err = fmt.Errorf("listing: the server has not answered within 10s")
		case data.Absent:
			v.Gaps = []inspection.Gap{{Reason: "this server does not say it"}}
		case data.Loading, data.Live, data.Stale:
		}
		frame = frame.With(v)
	}
	return frame
}
