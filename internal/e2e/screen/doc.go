// Package screen tests `kapi tui` and `kapi serve --tui` as a user has them: the
// real program in a real terminal (tmux), against a kapi under load and against a
// plain upstream kube-apiserver. Keys go in, and what is asserted stands on the
// screen. It has tests only.
//
// The test binary does not link the server: it runs a kapi that `go run` keeps in
// the build cache, or the one of the flag -kapi. Without tmux the tests are skipped.
package screen
