//go:build !linux

package app

import "net"

// portHolder names the process that listens on a TCP port; only Linux tells.
func portHolder(net.IP, int) string { return "" }
