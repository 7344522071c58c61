//go:build race

package tui

// slowly says that the race detector looks on: what is done often is done less often.
const slowly = 10
