package datadir

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"syscall"
)

// Identity returns a name for who uses the directory: the host's name and a hash of
// where on it the directory is. The same directory has the same one until the machine is
// started anew, and a copy of it, there or on another host, has another.
func (d *Dir) Identity() (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("asking for the name of the host: %w", err)
	}
	info, err := os.Stat(d.path)
	if err != nil {
		return "", fmt.Errorf("looking at the data directory: %w", err)
	}
	place := d.path
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		place = fmt.Sprintf("%s\x00%d\x00%d", d.path, stat.Dev, stat.Ino)
	}
	// Machines that are copies of one another have the same directories. Each start of a
	// machine has its own name; a system without it has none of this.
	if boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
		place += "\x00" + string(boot)
	}
	sum := sha256.Sum256([]byte(place))
	return host + "_" + hex.EncodeToString(sum[:8]), nil
}
