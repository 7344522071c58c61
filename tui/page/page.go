// Package page is the contract between the application and its pages: where one
// is, what a page shows, what can be done on it, and what it asks for in return.
// A page does no I/O: it is told frames and actions, and returns effects.
package page

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
)

// Page is one screen of the application, between the head and the status line.
type Page interface {
	// Title is its last breadcrumb ("chain", "authorization").
	Title() string
	// Needs are the feeds that it shows; the same for as long as it lives.
	Needs() []data.Key
	// Update takes a frame; only the newest counts. It must not do I/O.
	Update(frame data.Frame)
	// Act does an action. Those that it does not know have no effect.
	Act(action Action) Effect
	// Offers tells whether an action does something here and now: for the footer,
	// the help and the palette.
	Offers(action ActionID) bool
	// View draws it in exactly paper.Height lines.
	View(paper ink.Paper) []ink.Line
}

// Filterer is a page that can be narrowed by a text.
type Filterer interface {
	// Filter narrows it; "" is everything. The error says what is wrong with the text
	// and where.
	Filter(text string) error
	// Filtered is the text in use.
	Filtered() string
}

// Selecter is a page on which something is selected.
type Selecter interface {
	// Selected is what the cursor is on; false where there is nothing.
	Selected() (Subject, bool)
}

// Receiver is a page that asks for something with Effect.Run.
type Receiver interface {
	// Receive takes the answer.
	Receive(answer any) Effect
}

// Remembered is a page with settings that outlive it: sort and columns.
type Remembered interface {
	// Memory returns them, Restore sets them; Restore ignores what it does not know.
	Memory() map[string]string
	Restore(map[string]string)
}

// Subject is something that can be copied, shown as YAML, described, deleted.
type Subject struct {
	// Kind says what it is in words ("filter", "APIService", "request").
	Kind string
	// Name is copied by c.
	Name string
	// Inspect is its resource in inspect.kapi.dev, where it is of it.
	Inspect string
	// Resource and Namespace are those of a real object.
	Resource  schema.GroupVersionResource
	Namespace string
	// UID is that of the very object, where the page knows it: what is deleted must be
	// what was asked about.
	UID types.UID
	// Object is the object where the page has it; for YAML.
	Object any
	// Path is that of the object in the API; empty where it has none.
	Path string
	// Commands are further command lines for what is on the screen ("kapi inspect
	// request last"), each ready to be typed.
	Commands []string
}

// Effect is what a page asks of the application. The zero Effect is nothing.
type Effect struct {
	// Open goes to a place; Replace leaves the page behind.
	Open    Location
	Replace bool
	// Toast is said for a moment. Bad makes it an error.
	Toast string
	Bad   bool
	// Run is work that may wait: it gets a context with a deadline, and what it
	// returns goes to Receive, unless the page has gone. It runs in a goroutine of its
	// own and must not touch the page.
	Run func(ctx context.Context) any
	// Timeout is that deadline; 10 s where it is zero.
	Timeout time.Duration
	// Copy is put into the clipboard, as What.
	Copy, What string
}

// Env is what a page is made with.
type Env struct {
	// Client is for what is asked once.
	Client data.Client
	// Frame returns the newest frame.
	Frame func() data.Frame
	// ReadOnly says that nothing may be changed.
	ReadOnly bool
	// Command is how kapi is typed.
	Command string
}
