//go:build !linux

package tui

import "testing"

func child(string) int { return 0 }

func TestTerminal(t *testing.T) { t.Skip("pseudo-terminals are made here for Linux only") }
