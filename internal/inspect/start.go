package inspect

import (
	"sync/atomic"

	"github.com/kapi-dev/kapi/internal/inspect/boot"
)

// Start watches a start from its first moment, before there is a server to look
// into. Its fields may be used by whoever starts the parts.
type Start struct {
	// Boots takes the steps of components and keeps those of earlier starts.
	Boots *boot.Boots
	// Hooks watches the post-start hooks.
	Hooks *boot.Hooks

	inspector atomic.Pointer[Inspector]
}

// NewStart watches a start of components, one of which (hooksOf) runs the
// post-start hooks.
func NewStart(components []boot.Component, hooksOf string) *Start {
	s := &Start{}
	s.Boots = boot.NewBoots(boot.BootsConfig{
		ServerID: s.serverID, Components: components, HooksOf: hooksOf,
		ProcessStart: boot.ProcessStart(), Changed: func() { s.changed(bootSteps) },
	})
	s.Hooks = boot.NewHooks(boot.HooksConfig{
		ServerID: s.serverID, Observer: s.Boots, Changed: func() { s.changed(postStartHooks) },
	})
	return s
}

// serverID is empty until there is a server.
func (s *Start) serverID() string {
	if i := s.inspector.Load(); i != nil {
		return i.cfg.ServerID
	}
	return ""
}

func (s *Start) changed(resource string) {
	if i := s.inspector.Load(); i != nil {
		i.snapshots[resource].Changed()
	}
}
