package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"text/tabwriter"
	"time"

	"github.com/kapi-dev/kapi/internal/config"
	"github.com/kapi-dev/kapi/internal/datadir"
	"github.com/kapi-dev/kapi/internal/version"
)

// announce tells other processes, and then the person, that the server is ready.
func (s *server) announce(context.Context) error {
	s.started()
	s.boot.Boots.Ready()
	err := datadir.WriteServerInfo(s.dir.ServerInfo(), datadir.ServerInfo{
		PID: os.Getpid(), URL: s.url(), Version: version.Get().Version, StartedAt: s.start,
	})
	if err != nil {
		return err
	}
	if s.opts.Quiet {
		return nil
	}
	if s.cfg.Log.Format == config.LogJSON {
		// Whoever wants JSON reads each line as such.
		s.log.Info("kapi is ready", "after", time.Since(s.start).Round(10*time.Millisecond), "url", s.url(), "kubeconfig", s.dir.Kubeconfig())
		return nil
	}
	out := tabwriter.NewWriter(s.opts.Err, 0, 0, 2, ' ', 0)
	fmt.Fprintf(out, "kapi is ready after %s\n", time.Since(s.start).Round(10*time.Millisecond))
	fmt.Fprintf(out, "  API\t%s\n", s.url())
	fmt.Fprintf(out, "  kubeconfig\t%s\n", s.dir.Kubeconfig())
	fmt.Fprintf(out, "  next\t%s kubectl get ns\n", s.opts.Command)
	fmt.Fprintf(out, "  look inside\t%s inspect\n", s.opts.Command)
	return out.Flush()
}

// withdraw takes the announcement back: other processes look for it to find a
// server that is ready.
func (s *server) withdraw(context.Context) error {
	if err := os.Remove(s.dir.ServerInfo()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the server's description: %w", err)
	}
	return nil
}
