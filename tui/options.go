package tui

import (
	"errors"
	"os"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/settings"
)

// Target is a server, and how to say what its errors mean.
type Target struct {
	// Name is the context's, or whatever else it is called by.
	Name string
	// Config is for client-go.
	Config *rest.Config
	// Flags make kubectl, and the other commands of kapi, talk to the same server.
	Flags []string
	// Explain makes an error of the server readable (fault.Hint has the way out).
	Explain func(error) error
}

// ErrStarting is Connect's error while the server of this process starts: there is
// nothing wrong, and it is tried again.
var ErrStarting = errors.New("the server is starting")

// Options say how to run.
type Options struct {
	// In and Out are the terminal. Getenv is the environment.
	In, Out *os.File
	Getenv  func(string) string
	// Start is the page to begin with; zero is the one of the last time.
	Start page.Location
	// Connect finds the server of a context; "" is the one that was asked for at first.
	// It makes no request. Contexts lists the others.
	Connect  func(context string) (Target, error)
	Contexts func() []string
	// Replay is shown instead of a server, under the name ReplayName.
	Replay     *data.Replay
	ReplayName string
	// Record is the file that gets what happens; it must not exist. Empty records
	// nothing.
	Record string
	// ReadOnly refuses everything that changes the server.
	ReadOnly bool
	// Plain prints lines instead of drawing screens.
	Plain bool
	// Mouse turns the mouse on.
	Mouse bool
	// Refresh is the least time between two updates.
	Refresh time.Duration
	// Theme is a theme's name or file; empty asks the settings, then the terminal.
	Theme string
	// Settings are the user's, State is what was remembered of the last time.
	Settings settings.Settings
	State    *settings.State
	// Dirs are where settings, themes and state are.
	Dirs settings.Dirs
	// Logs are the lines of the server in this process, StopServer stops it and waits;
	// both nil where none runs here. ServerDone is closed when it has ended by itself.
	Logs       *data.LogBuffer
	StopServer func()
	ServerDone <-chan struct{}
	// Command is how kapi is typed, for what is copied.
	Command string
	// Now is the clock; nil is the real one.
	Now func() time.Time

	recorder *data.Recorder
}
