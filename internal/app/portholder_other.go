//go:build !linux

package app

// portHolder names the process that listens on a TCP port; only Linux tells.
func portHolder(int) string { return "" }
