package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"

	"github.com/kapi-dev/kapi/internal/app"
	"github.com/kapi-dev/kapi/internal/cli/connect"
	"github.com/kapi-dev/kapi/internal/datadir"
	"github.com/kapi-dev/kapi/tui"
	"github.com/kapi-dev/kapi/tui/data"
)

// consoleOptions are the flags of `kapi serve --tui`.
type consoleOptions struct {
	on   bool
	look lookOptions
}

// add declares the flags, in a group of their own.
func (o *consoleOptions) add(flags *pflag.FlagSet) cliflag.NamedFlagSets {
	var groups cliflag.NamedFlagSets
	set := groups.FlagSet("Terminal UI")
	set.BoolVar(&o.on, "tui", false, "Open the terminal UI on the server; its log goes to the page logs. Quitting asks whether to stop the server.")
	flags.AddFlagSet(set)
	return groups
}

// keptLines is how much of the server's log the page of logs has.
const keptLines = 5000

// run serves and shows at the same time. The end of the server ends the screen;
// the end of the screen ends the server, unless it was asked to stay.
func (o *consoleOptions) run(cmd *cobra.Command, server app.Options, serve func(context.Context, app.Options) error) error {
	o.look.refresh = 200 * time.Millisecond
	options, err := o.look.options(cmd)
	if err != nil {
		return err
	}
	if err := tui.CheckTerminal(options); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(cmd.Context())
	defer stop()
	logs := &consoleLog{buffer: data.NewLogBuffer(keptLines)}
	terminal := server.Err
	server.Err, server.Color = logs, false
	done := make(chan struct{})
	var served error
	go func() {
		defer close(done)
		served = serve(ctx, server)
	}()
	options.Logs, options.StopServer, options.ServerDone = logs.buffer, stop, done
	options.Connect = func(string) (tui.Target, error) { return ownServer(server.Config.DataDir) }
	outcome, shown := tui.Run(cmd.Context(), options)
	// From here on the terminal has the log again.
	logs.to(terminal)
	if !outcome.KeepServer || shown != nil {
		stop()
	}
	<-done
	return errors.Join(served, shown)
}

// ownServer is the server of this process, once it has said that it is ready.
func ownServer(dir string) (tui.Target, error) {
	target := tui.Target{Name: "this server", Explain: func(err error) error { return err }}
	if dir == "" {
		var err error
		if dir, err = datadir.Default(); err != nil {
			return target, err
		}
	}
	info, err := datadir.ReadServerInfo(datadir.At(dir).ServerInfo())
	if err != nil || info.PID != os.Getpid() {
		return target, tui.ErrStarting
	}
	flags := connect.Flags{DataDir: dir}
	connection, err := flags.Connect()
	if err != nil {
		return target, err
	}
	target.Config, target.Explain, target.Flags = connection.Config, connection.Explain, connection.Again()
	return target, nil
}

// consoleLog is the server's log: kept for its page, and written to the terminal
// while no screen is there.
type consoleLog struct {
	buffer *data.LogBuffer

	lock sync.Mutex
	out  io.Writer
}

func (l *consoleLog) Write(p []byte) (int, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.out != nil {
		return l.out.Write(p)
	}
	return l.buffer.Write(p)
}

func (l *consoleLog) to(out io.Writer) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.out = out
}
