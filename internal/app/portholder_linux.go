package app

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// portHolder names the process that keeps others from listening on a TCP port
// of an address ("nginx (pid 12)"), or returns "" where this user can't see it.
// It reads /proc as ss does: from the port to the socket's inode, and from there
// to the process that holds it.
func portHolder(address net.IP, port int) string {
	inodes := map[string]bool{}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		listeningInodes(table, address, port, inodes)
	}
	links, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil || len(inodes) == 0 {
		return ""
	}
	for _, link := range links {
		target, err := os.Readlink(link)
		inode, isSocket := strings.CutPrefix(target, "socket:[")
		if err != nil || !isSocket || !inodes[strings.TrimSuffix(inode, "]")] {
			continue
		}
		pid := strings.Split(link, "/")[2]
		name, _ := os.ReadFile("/proc/" + pid + "/comm")
		return fmt.Sprintf("%s (pid %s)", strings.TrimSpace(string(name)), pid)
	}
	return ""
}

// listeningInodes adds the inodes of sockets that listen on port of address, or
// of all addresses. Columns of /proc/net/tcp: 1 local address:port in hex, 3
// state (0A listens), 9 inode.
func listeningInodes(table string, address net.IP, port int, inodes map[string]bool) {
	file, err := os.Open(table)
	if err != nil {
		return
	}
	defer file.Close()
	const listens = "0A"
	for lines := bufio.NewScanner(file); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 10 || fields[3] != listens {
			continue
		}
		local, hexPort, _ := strings.Cut(fields[1], ":")
		n, err := strconv.ParseUint(hexPort, 16, 16)
		ip := procAddress(local)
		if err == nil && int(n) == port && (ip.IsUnspecified() || address.IsUnspecified() || ip.Equal(address)) {
			inodes[fields[9]] = true
		}
	}
}

// procAddress reads an address of /proc/net: hex, in words of the machine's byte order.
func procAddress(text string) net.IP {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw)%4 != 0 {
		return nil
	}
	for i := 0; i < len(raw); i += 4 {
		binary.BigEndian.PutUint32(raw[i:], binary.NativeEndian.Uint32(raw[i:]))
	}
	return raw
}
