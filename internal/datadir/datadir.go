// Package datadir owns the layout of kapi's data directory on disk: where it is
// by default, that nobody else can read it or has planted something in it, that
// one kapi at a time works in it, and how files are replaced in it so that a
// crash leaves the old content or the new one.
//
// It is not what lies in the directory: certificates are pki's, the database is
// etcd's. It may import fault and the standard library only, so that the client
// side can use it too.
//
//	lock          flock, and the pid of the holder as text
//	kubeconfig    admin kubeconfig of this server
//	server.json   ServerInfo, while the server is ready
//	boots.json    how the last starts went
//	pki/          authorities, certificates, keys
//	etcd/         the data directory of etcd
//	run/          unix sockets of etcd
package datadir

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/kapi-dev/kapi/internal/fault"
)

const (
	lockName       = "lock"
	kubeconfigName = "kubeconfig"
	serverInfoName = "server.json"
	bootsName      = "boots.json"
	pkiName        = "pki"
	etcdName       = "etcd"
	runName        = "run"
)

// rootDefault is the data directory of uid 0, the place the file system
// hierarchy standard gives to a system service.
const rootDefault = "/var/lib/kapi"

// Default returns the data directory used when none is named:
// $XDG_STATE_HOME/kapi, else /var/lib/kapi for uid 0 and ~/.local/state/kapi
// for everybody else. It creates nothing, and fails only where there is no home
// directory.
func Default() (string, error) {
	return defaultFor(os.Geteuid(), os.Getenv("XDG_STATE_HOME"), os.UserHomeDir)
}

func defaultFor(uid int, stateHome string, home func() (string, error)) (string, error) {
	// The XDG base directory specification tells to ignore a relative value.
	if filepath.IsAbs(stateHome) {
		return filepath.Join(stateHome, "kapi"), nil
	}
	if uid == 0 {
		return rootDefault, nil
	}
	h, err := home()
	if err != nil {
		return "", fault.WithHint(fmt.Errorf("finding the default data directory: %w", err),
			"set HOME, or name a directory with --data-dir")
	}
	return filepath.Join(h, ".local", "state", "kapi"), nil
}

// Dir is a data directory that was checked by Open. Its methods only join
// names; whether the files exist is not known to it.
type Dir struct {
	path string
}

// At returns the layout below path without looking at the disk. It is for
// readers, such as a client that searches for the kubeconfig of a server;
// a server uses Open.
func At(path string) *Dir { return &Dir{path: path} }

// Path is the directory itself: after Open absolute and free of symlinks.
func (d *Dir) Path() string { return d.path }

// LockFile is the file that Lock locks.
func (d *Dir) LockFile() string { return filepath.Join(d.path, lockName) }

// Kubeconfig is the admin kubeconfig of the server of this directory.
func (d *Dir) Kubeconfig() string { return filepath.Join(d.path, kubeconfigName) }

// ServerInfo is the file in which a ready server describes itself.
func (d *Dir) ServerInfo() string { return filepath.Join(d.path, serverInfoName) }

// Boots is the file with the steps of the last starts.
func (d *Dir) Boots() string { return filepath.Join(d.path, bootsName) }

// PKI is the directory of authorities, certificates and keys.
func (d *Dir) PKI() string { return filepath.Join(d.path, pkiName) }

// Etcd is the data directory of the embedded etcd.
func (d *Dir) Etcd() string { return filepath.Join(d.path, etcdName) }

// Run is the directory of unix sockets.
func (d *Dir) Run() string { return filepath.Join(d.path, runName) }
