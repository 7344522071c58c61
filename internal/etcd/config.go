package etcd

import (
	"path/filepath"
	"regexp"

	"go.uber.org/zap"

	"github.com/kapi-dev/kapi/internal/fault"
)

// DefaultQuotaBytes is the size that the database may reach before writes are
// refused with NOSPACE: 8 GiB, the largest that etcd recommends.
const DefaultQuotaBytes = int64(8) << 30

// DefaultName is the member's name where the Config gives none.
const DefaultName = "kapi"

// Config says where a member lives. The zero value is not usable: Dir and
// RunDir are required.
type Config struct {
	// Dir is etcd's data directory. It is made (0700) where it does not exist.
	Dir string
	// RunDir is the directory of the unix sockets client.sock and peer.sock.
	// It is made (0700) where it does not exist. If the paths in it are too
	// long for a socket, a private short directory is used instead, and the
	// symbolic link "sockets" in RunDir leads to it.
	RunDir string
	// Name is the member's name in its cluster: letters, digits, '.', '_' and
	// '-'. Empty means DefaultName.
	Name string
	// QuotaBytes is the size that the database may reach before writes are
	// refused. 0 means DefaultQuotaBytes.
	QuotaBytes int64
	// UnsafeNoFsync leaves the durability of acknowledged writes to the
	// operating system: a power failure may lose or corrupt data. For tests.
	UnsafeNoFsync bool
	// Logger receives etcd's own log. Nil means none of it.
	Logger *zap.Logger
	// OnFatal is called at most once, when a running member meets an error
	// that it can't survive, such as a full disk. From then on the member
	// answers no write, and the process should end. It is called on a
	// goroutine of the member, may call Stop, and may be nil: Err has the
	// error as well.
	OnFatal func(error)
}

// memberName is what etcd's initial-cluster syntax ("name=url,...") can carry.
var memberName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// validate fills the defaults in and returns a usage error for what can't be
// accepted.
func (c *Config) validate() error {
	if c.Dir == "" {
		return fault.Usagef("etcd data directory is empty: name a directory")
	}
	if c.RunDir == "" {
		return fault.Usagef("directory of etcd's sockets is empty: name a directory")
	}
	for _, p := range []*string{&c.Dir, &c.RunDir} {
		abs, err := filepath.Abs(*p)
		if err != nil {
			return fault.Usagef("making %q absolute: %w", *p, err)
		}
		*p = abs
	}
	if c.Name == "" {
		c.Name = DefaultName
	}
	if !memberName.MatchString(c.Name) {
		return fault.Usagef("etcd member name %q: only letters, digits, '.', '_' and '-' are allowed, beginning with a letter or digit", c.Name)
	}
	if c.QuotaBytes < 0 {
		return fault.Usagef("etcd quota %d: must be a number of bytes above 0, or 0 for the default of %d", c.QuotaBytes, DefaultQuotaBytes)
	}
	if c.QuotaBytes == 0 {
		c.QuotaBytes = DefaultQuotaBytes
	}
	if c.Logger == nil {
		c.Logger = zap.NewNop()
	}
	return nil
}

// Paths of etcd's data directory, below Config.Dir.
func memberDir(dir string) string { return filepath.Join(dir, "member") }
func walDir(dir string) string    { return filepath.Join(dir, "member", "wal") }
func snapDir(dir string) string   { return filepath.Join(dir, "member", "snap") }
func dbPath(dir string) string    { return filepath.Join(dir, "member", "snap", "db") }
