// Package termguard keeps the terminal quiet while a program starts.
//
// Bubble Tea v1 asks the terminal for its background colour in a package
// initialiser (tea_init.go; issue 1771 of that project), so every command of a
// binary that links it writes a query and waits for the answer: on a terminal
// that never answers, `kapi version` took five seconds. Its colour library asks
// nothing of a terminal that calls itself dumb, so this package sets TERM=dumb
// before that initialiser runs, and main calls Restore first thing.
//
// # Why this runs first
//
// The language orders package initialisation ("Program initialization" in the Go
// specification, since Go 1.21): all packages are sorted by import path, and
// again and again the first one in that list whose imports are all initialised
// is initialised. This package imports only os. Whatever reads TERM imports os
// too, so whenever such a package is ready this one is ready as well, and of
// two that are ready the smaller path goes first: "github.com/kapi-dev/kapi/..."
// sorts before "github.com/muesli/termenv", the package that writes the query.
// Packages with smaller paths that query (Bubble Tea, Lip Gloss) import termenv,
// and so come after it.
//
// Two things would break it: an import other than os here, and a library that
// queries without termenv and sorts before this path. The import-direction
// test holds the first, this package's test on a silent terminal shows both.
//
// It is not a terminal library: after Restore it has no effect but one. A library
// that has cached an answer keeps it, so code that draws must build its own
// renderer, and not trust the default one's idea of the background.
package termguard

import "os"

// The value that Restore gives back. They are written once, in init, before
// any other goroutine exists, and only read afterwards; a guard that acts in
// package initialisation has nowhere else to keep them.
var (
	term    string
	termSet bool
)

const variable = "TERM"

func init() {
	term, termSet = os.LookupEnv(variable)
	// Setenv refuses only a malformed name or value, and these are neither.
	_ = os.Setenv(variable, "dumb")
}

// Restore gives TERM the value that the process was started with, or removes it
// when there was none. Call it first in main, before anything draws, starts a
// child process or reads the environment. No other variable is ever touched.
func Restore() {
	if !termSet {
		_ = os.Unsetenv(variable)
		return
	}
	_ = os.Setenv(variable, term)
}
