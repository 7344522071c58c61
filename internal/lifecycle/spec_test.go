package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/kapi-dev/kapi/internal/fault"
)

// parseSpec makes a component from a line such as
//
//	server after=etcd,pki start=1s stop=hang fail=5s timeout=10s
//
//	after    the dependencies; "-" for none; not given: all before it
//	start    how long Start takes, or: hang (until its ctx ends), stuck (does not
//	stop     heed its ctx), error, panic, goexit; the same for Stop
//	fail     how long after Start it fails; or nil (a nil error), closed
//
// What is stuck ends when release is closed.
func parseSpec(line string, release <-chan struct{}) (Component, error) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return Component{}, errors.New("empty line")
	}
	c := Component{Name: words[0]}
	act := func(what, how string) func(context.Context) error {
		return func(ctx context.Context) error { return behave(ctx, release, what, how) }
	}
	c.Start, c.Stop = act("start", "0s"), act("stop", "0s")
	for _, word := range words[1:] {
		key, val, _ := strings.Cut(word, "=")
		switch key {
		case "after":
			c.DependsOn = []string{}
			if val != "-" {
				c.DependsOn = strings.Split(val, ",")
			}
		case "start":
			c.Start = act("start", val)
		case "stop":
			c.Stop = act("stop", val)
		case "fail":
			c.Failed = func() <-chan error { return failing(val) }
		case "timeout":
			d, err := time.ParseDuration(val)
			if err != nil {
				return c, err
			}
			c.StopTimeout = d
		default:
			return c, fmt.Errorf("unknown word %q", word)
		}
	}
	return c, nil
}

func behave(ctx context.Context, release <-chan struct{}, what, how string) error {
	switch how {
	case "hang":
		<-ctx.Done()
		return fmt.Errorf("waiting: %w", ctx.Err())
	case "stuck":
		<-release
		return nil
	case "error":
		return fault.WithHint(errors.New("no "+what), "try another way")
	case "panic":
		panic("can't " + what)
	case "goexit":
		runtime.Goexit()
	}
	d, err := time.ParseDuration(how)
	if err != nil || d == 0 {
		return err
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func failing(how string) <-chan error {
	c := make(chan error, 1)
	switch how {
	case "nil":
		c <- nil
	case "closed":
		close(c)
	default:
		d, err := time.ParseDuration(how)
		if err != nil {
			d, how = 0, err.Error()
		}
		time.AfterFunc(d, func() { c <- errors.New("broken after " + how) })
	}
	return c
}
