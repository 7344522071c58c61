package etcd

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coreos/go-semver/semver"
	"go.etcd.io/etcd/api/v3/version"
	"go.uber.org/zap"

	"github.com/kapi-dev/kapi/internal/fault"
)

// dataDir is what preflight found.
type dataDir struct {
	empty  bool // nothing has been stored yet
	cutOff bool // and what is there is of no use: see cutOff
}

// preflight reads the data directory dir and says whether a single member of
// this version of etcd can be started on it. It changes nothing.
func preflight(dir string, lg *zap.Logger) (dataDir, error) {
	if err := checkAccess(dir); err != nil {
		return dataDir{}, err
	}
	empty, err := checkLayout(dir)
	if err != nil {
		return dataDir{}, err
	}
	if empty {
		return dataDir{empty: true}, checkRoom(dir, roomForStart())
	}
	log, err := scanWAL(walDir(dir))
	if err != nil {
		return dataDir{}, damageHint(ignoreMissing(err), dir)
	}
	hasDB, db, err := findDB(dbPath(dir))
	switch {
	case err != nil && log.files == 0 && errors.As(err, new(*damage)):
		// A first start that was cut off, or a log that is gone: who knows.
		return dataDir{}, fault.WithHint(err, "There is no log beside it. If nothing was ever stored here, delete %s; else restore a snapshot.", memberDir(dir))
	case err != nil:
		return dataDir{}, damageHint(err, dir)
	}
	found, err := judge(dir, log, db, hasDB)
	if err != nil {
		return dataDir{}, err
	}
	if found.cutOff, err = cutOff(dir, log, db); err != nil || found.cutOff {
		return dataDir{empty: true, cutOff: found.cutOff}, errors.Join(err, checkRoom(dir, roomForStart()))
	}
	if log.torn != "" {
		lg.Warn("the last write to the log was cut off and is not used: it was never acknowledged", zap.String("where", log.torn))
		// etcd keeps a copy of the file, and can't go on if it can't make one.
		err = checkRoom(dir, uint64(log.tornSize))
	}
	return found, err
}

// findDB reads the database, if there is one. A file of size 0 is none: bbolt
// had no time to write to it.
func findDB(path string) (bool, dbState, error) {
	fi, err := os.Stat(path)
	if err = ignoreMissing(err); err != nil || fi == nil || fi.Size() == 0 {
		return false, dbState{}, err
	}
	db, err := scanDB(path)
	if errors.Is(err, errLocked) {
		err = fault.WithHint(err, "Stop the other kapi or etcd that uses this directory, or choose another one.")
	}
	return err == nil, db, err
}

// judge compares log and database, each of them sound.
func judge(dir string, log walState, db dbState, hasDB bool) (dataDir, error) {
	if err := checkVersion(dir, db); err != nil {
		return dataDir{}, err
	}
	restore := func(format string, args ...any) (dataDir, error) {
		return dataDir{}, fault.WithHint(fmt.Errorf(format, args...), "Restore %s from a snapshot.", dir)
	}
	switch {
	case log.files == 0 && (db.consistentIndex > 0 || db.keys > 0):
		return restore("etcd's write-ahead log is missing: no log file in %s, though the database has data", walDir(dir))
	case log.files == 0:
		// A first start that was cut off before the log was made.
		return dataDir{empty: true}, checkRoom(dir, roomForStart())
	case !hasDB && log.snapshot > 0:
		return restore("etcd's database is missing: %s, though the log begins with entry %d", dbPath(dir), log.snapshot+1)
	case !hasDB:
		// The log has everything from the first entry on.
		return dataDir{}, nil
	}
	if err := checkMembers(dir, log, db); err != nil {
		return dataDir{}, err
	}
	switch {
	case db.consistentIndex > log.last:
		return restore("etcd's write-ahead log in %s ends with entry %d, but the database has entry %d already: the end of the log is lost, or it is of another cluster",
			walDir(dir), log.last, db.consistentIndex)
	case db.consistentIndex < log.snapshot:
		return restore("etcd's database %s ends with log entry %d, but the log needs it up to entry %d: it is older than the log, or of another cluster",
			dbPath(dir), db.consistentIndex, log.snapshot)
	}
	return dataDir{}, nil
}

// checkVersion refuses what a newer etcd has written: it may mean things that
// this one does not know.
func checkVersion(dir string, db dbState) error {
	ours := semver.New(version.Version)
	for _, theirs := range []string{db.storageVersion, db.clusterVersion} {
		if theirs == "" {
			continue
		}
		v, err := semver.NewVersion(theirs)
		if err != nil {
			return damageHint(&damage{what: dbName, file: dbPath(dir), offset: -1, reason: fmt.Sprintf("it has the version %q", theirs)}, dir)
		}
		if v.Major != ours.Major || v.Minor > ours.Minor {
			return fault.WithHint(
				fmt.Errorf("the data in %s was written by etcd %d.%d, and this is etcd %s", dir, v.Major, v.Minor, version.Version),
				"Use a kapi with etcd %d.%d or newer, or downgrade the data with etcd's own tools first.", v.Major, v.Minor)
		}
	}
	return nil
}

// checkMembers refuses data of a cluster that this member can't run alone, and
// a database of another cluster than the log's. The member list is empty until
// the first entries are in the database.
func checkMembers(dir string, log walState, db dbState) error {
	if _, ok := db.members[log.nodeID]; !ok && len(db.members) > 0 {
		return fault.WithHint(
			fmt.Errorf("log and database in %s are of different clusters: the log is of member %x, the database knows %s", dir, log.nodeID, memberList(db)),
			"Put the directories wal and snap back that belong together, or restore a snapshot.")
	}
	if len(db.members) > 1 {
		return fault.WithHint(
			fmt.Errorf("the data in %s is of a cluster of %d members (%s), which one member can't run", dir, len(db.members), memberList(db)),
			"Take a snapshot of that cluster and restore it into an empty directory.")
	}
	return nil
}

func memberList(db dbState) string {
	var s []string
	for _, id := range slices.Sorted(maps.Keys(db.members)) {
		s = append(s, strings.TrimSpace(fmt.Sprintf("%s %x", db.members[id], id)))
	}
	return strings.Join(s, ", ")
}

// checkLayout tells an etcd data directory, and an empty one, from any other.
func checkLayout(dir string) (empty bool, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading the data directory: %w", err)
	}
	var other []string
	for _, e := range entries {
		switch e.Name() {
		case "member":
			if fi, err := os.Stat(memberDir(dir)); err != nil || !fi.IsDir() {
				return false, errors.Join(fmt.Errorf("opening %s: it is not a directory", memberDir(dir)), err)
			}
			return false, nil
		case "lost+found", ".touch": // of the file system; of an etcd that was killed
		default:
			other = append(other, e.Name())
		}
	}
	if len(other) > 0 {
		return false, fault.WithHint(fault.Usagef("%s is not an etcd data directory: it has no member directory, but %s", dir, other[0]),
			"Choose an empty directory, or one that does not exist.")
	}
	return true, nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// damageHint adds the way out of damage.
func damageHint(err error, dir string) error {
	var d *damage
	if !errors.As(err, &d) || fault.Hint(err) != "" {
		return err
	}
	return fault.WithHint(err, "Nothing was changed. Keep a copy of %s, and restore it from a snapshot.", dir)
}

// dataFiles are the files that etcd opens for writing, as far as they exist.
func dataFiles(dir string) []string {
	files := []string{dir, memberDir(dir), snapDir(dir), walDir(dir), dbPath(dir)}
	logs, _ := filepath.Glob(filepath.Join(walDir(dir), "*.wal")) // the pattern is right
	return append(files, logs...)
}
