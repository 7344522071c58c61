// Package e2e tests kapi from outside: the real program with its real etcd, in
// a process of its own, asked with the clients that people use. It is tests
// only, and holds what no other package can show alone: that the parts fit, and
// that what the server promises holds for kubectl and client-go.
//
// All of it is one test binary, since that links the whole server and is kapi
// as well (see package kapitest). Behaviour of the command line is in
// testdata/script, a file a subject; behaviour of the API is in Go.
//
// Tests use the shared server wherever its flags will do, with names of their
// own. The tests may import anything: this is the other end of every wire.
package e2e
