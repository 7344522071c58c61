package tui

import (
	"sync"
	"time"
)

// clock is a time that goes on when it is told to. It is safe for concurrent use.
type clock struct {
	lock sync.Mutex
	at   time.Time
}

func (c *clock) now() time.Time {
	c.lock.Lock()
	defer c.lock.Unlock()
	return c.at
}

func (c *clock) forward(by time.Duration) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.at = c.at.Add(by)
}

func (c *clock) set(at time.Time) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.at = at
}
