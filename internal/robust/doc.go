// Package robust tests what must hold when things go wrong around a complete
// kapi: kill -9 under load, full disks, damaged files, hung requests, an etcd
// that goes away, a second kapi. It has no code of its own, only tests.
//
// They drive a binary from outside, as a user and the system do: the one that
// KAPI_BIN names, or one that is built once for all of them. No package of the
// server is imported, so the test binary is small, and nothing can be reached
// but what a user reaches.
//
// What runs in `go test ./...` is the short form. KAPI_ROBUST=full runs the
// long one (full.sh), which takes many minutes and prints its figures.
package robust
