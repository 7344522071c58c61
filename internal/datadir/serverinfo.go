package datadir

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// ServerInfo is how a ready server describes itself in server.json. It holds no
// secret.
type ServerInfo struct {
	PID       int       `json:"pid"`
	URL       string    `json:"url"`     // https://host:port
	Version   string    `json:"version"` // kapi's own
	StartedAt time.Time `json:"startedAt"`
}

// Alive tells whether a process with the server's pid exists. A crashed server
// leaves its file behind, and its pid may have gone to somebody else since:
// false is certain, true is not.
func (s ServerInfo) Alive() bool {
	if s.PID <= 0 {
		return false
	}
	err := syscall.Kill(s.PID, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

// WriteServerInfo replaces the file at path, with mode 0600.
func WriteServerInfo(path string, s ServerInfo) error {
	b, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encoding server info: %w", err)
	}
	return WriteFileAtomic(path, append(b, '\n'), 0o600)
}

// ReadServerInfo reads the file at path. fs.ErrNotExist is in the chain of the
// error where no server is ready.
func ReadServerInfo(path string) (ServerInfo, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return ServerInfo{}, fmt.Errorf("reading server info: %w", err)
	}
	var s ServerInfo
	if err := json.Unmarshal(b, &s); err != nil {
		return ServerInfo{}, fmt.Errorf("reading server info: %s: %w", path, err)
	}
	return s, nil
}
