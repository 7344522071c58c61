//go:build !race

package tui

// slowly says how much less often things are done than without the race detector.
const slowly = 1
