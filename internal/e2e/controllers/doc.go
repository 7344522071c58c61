// Package controllers tests the controllers inside kapi from outside: the real
// program, asked with the clients that people use. It is tests only. It is a
// package beside e2e since that one is as long as a test binary may run.
//
// What the set api does is shown on the server that the package shares, which has
// it by default; the set workloads on a server of its own (TestWorkloads), and
// what several servers do together in TestOneLeader. The tests may import
// anything.
package controllers
