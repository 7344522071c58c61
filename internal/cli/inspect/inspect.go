// Package inspect is `kapi inspect`: what an API server shows of itself, for
// scripts and for people at a prompt. One file a command. What is shown comes from
// an inspection.Server, so that each command works on kapi, on any other API
// server, and on a recording; how it looks on a screen stands in packages text and
// view. It may import client, connect, text, view and the API types.
package inspect

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/kapi-dev/kapi/internal/cli/connect"
	"github.com/kapi-dev/kapi/internal/fault"
)

// groups order the commands in the help, and say what they are about.
var groups = []*cobra.Group{
	{ID: "request", Title: "On the way of a request:"},
	{ID: "start", Title: "How the server starts and does:"},
	{ID: "api", Title: "What it serves and stores:"},
	{ID: "whole", Title: "All of it at once:"},
}

// NewCmd returns `kapi inspect` with its commands. flagError is what makes of a
// wrong flag an error that names the way out.
func NewCmd(flagError func(*cobra.Command, error) error) *cobra.Command {
	s := &session{}
	cmd := newOverviewCmd(s)
	s.flags.Add(cmd.PersistentFlags())
	cmd.PersistentFlags().StringVar(&s.from, "from", "", "Read a snapshot or a bundle in place of a server (\"-\" is stdin).")
	cmd.AddGroup(groups...)
	cmd.SetUsageTemplate(usageTemplate)
	for _, row := range kindRows {
		cmd.AddCommand(newKindCmd(s, row))
	}
	cmd.AddCommand(
		newDefinitionsCmd(s), newAPIServicesCmd(s),
		newRouteCmd(s), newRequestsCmd(s), newRequestCmd(s),
		newSnapshotCmd(s), newDiffCmd(s), newBundleCmd(s),
	)
	for _, each := range append(cmd.Commands(), cmd) {
		each.SetFlagErrorFunc(flagError)
		each.RunE = s.run(each.RunE)
		completeFlags(s, each)
	}
	return cmd
}

// session is one run of a command: what the flags of all commands say.
type session struct {
	flags connect.Flags
	from  string
	// connection is set once a server is being talked to.
	connection *connect.Connection
}

// run makes of a command one that ends at an interrupt with the exit code that
// shells give it, and whose errors say what to do.
func (s *session) run(run func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		context.AfterFunc(ctx, stop) // a second signal ends the process
		cmd.SetContext(ctx)
		var err error
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			err = run(cmd, args)
		}()
		select {
		case <-ended:
			if ctx.Err() != nil {
				return errInterrupted()
			}
			if s.connection != nil {
				err = s.connection.Explain(err)
			}
			return err
		case <-ctx.Done():
		}
		// What can hang without asking a context (a pipe that nobody writes to, a
		// plugin that gets credentials) ends with the process.
		select {
		case <-ended:
		case <-time.After(lastWords):
		}
		return errInterrupted()
	}
}

// lastWords is how long a command may take to clean up after a signal.
const lastWords = time.Second

func errInterrupted() error {
	return fault.WithCode(fault.Silent(errors.New("interrupted")), fault.CodeInterrupted)
}
