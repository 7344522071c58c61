// Package arch holds the architecture's import directions as a test: a table of
// who may import whom, each row with its reason, checked against the real import
// graph (`go list -deps`). It has no code of its own to import, it looks at
// imports only, and test files are free of its rules.
package arch
