// Command bench measures `kapi serve` beside its peer, an etcd process and a
// kube-apiserver process built from the same module graph, in pairs (A B A B)
// in one run, and prints one table and, on request, JSON. README.md says what
// each row means.
//
// It reports and judges nothing else: no figure makes it fail. It is a client
// of both sides: it may import client-go, apimachinery and internal/fault, and
// no server package (bench/peer holds the one exception).
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/kapi-dev/kapi/internal/fault"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal the default action is back, so that a second ^C
	// ends the program although a clean-up hangs.
	context.AfterFunc(ctx, stop)
	err := mainRun(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, pflag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		if hint := fault.Hint(err); hint != "" {
			fmt.Fprintln(os.Stderr, "hint:", hint)
		}
	}
	os.Exit(exitCode(err))
}

var errInterrupted = errors.New("interrupted; every process has been ended")

func exitCode(err error) int {
	if errors.Is(err, pflag.ErrHelp) {
		return 0
	}
	return fault.Code(err)
}

// mainRun is the whole program but for the signal and the exit code.
func mainRun(ctx context.Context, args []string) (err error) {
	opts, err := parseOptions(args, os.Stderr)
	if err != nil {
		return err
	}
	bins, err := prepareBinaries(ctx, opts)
	if err != nil {
		return err
	}
	l, err := newLab(opts, bins)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close()) }()

	rep, runErr := l.run(ctx)
	if ctx.Err() != nil {
		// What broke under the signal is no news.
		runErr = errInterrupted
	}
	// What was measured before a failure or a ^C is still worth its minutes.
	if rep.Pairs > 0 {
		writeTable(os.Stdout, rep)
	}
	if opts.JSON != "" {
		runErr = errors.Join(runErr, writeJSON(opts.JSON, rep))
	}
	return runErr
}
