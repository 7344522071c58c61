package datadir

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kapi-dev/kapi/internal/fault"
)

func TestDefault(t *testing.T) {
	t.Parallel()
	home := func() (string, error) { return "/home/ada", nil }
	tests := []struct {
		name      string
		uid       int
		stateHome string
		want      string
	}{
		{"user", 1000, "", "/home/ada/.local/state/kapi"},
		{"user with XDG_STATE_HOME", 1000, "/state", "/state/kapi"},
		{"user with a relative XDG_STATE_HOME", 1000, "state", "/home/ada/.local/state/kapi"},
		{"root", 0, "", "/var/lib/kapi"},
		{"root with XDG_STATE_HOME", 0, "/state", "/state/kapi"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := defaultFor(tt.uid, tt.stateHome, home)
			if err != nil || got != tt.want {
				t.Errorf("got %q, %v; want %q", got, err, tt.want)
			}
		})
	}
	t.Run("no home", func(t *testing.T) {
		t.Parallel()
		_, err := defaultFor(1000, "", func() (string, error) { return "", errors.New("$HOME is not defined") })
		if err == nil || !strings.Contains(fault.Hint(err), "--data-dir") {
			t.Errorf("got %v with hint %q, want an error that names --data-dir", err, fault.Hint(err))
		}
	})
}

func TestDefaultReadsTheEnvironment(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", "/somewhere")
	if got, err := Default(); err != nil || got != "/somewhere/kapi" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestLayout(t *testing.T) {
	t.Parallel()
	d := At("/d")
	for want, got := range map[string]string{
		"":            d.Path(),
		"lock":        d.LockFile(),
		"kubeconfig":  d.Kubeconfig(),
		"server.json": d.ServerInfo(),
		"pki":         d.PKI(),
		"etcd":        d.Etcd(),
		"run":         d.Run(),
	} {
		if got != filepath.Join("/d", want) {
			t.Errorf("got %q for %q", got, want)
		}
	}
}
