package etcd

import "fmt"

const (
	walName = "write-ahead log"
	dbName  = "database"
)

// damage is an error of a file's content, found by reading it.
type damage struct {
	what   string // walName or dbName
	file   string // path
	offset int64  // in file; -1: not at one place
	reason string
}

func (d *damage) Error() string {
	if d.offset < 0 {
		return fmt.Sprintf("etcd's %s is damaged: %s: %s", d.what, d.file, d.reason)
	}
	return fmt.Sprintf("etcd's %s is damaged: %s at byte %d: %s", d.what, d.file, d.offset, d.reason)
}
