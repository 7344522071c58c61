// Package settings is what the terminal UI is told by its user for good, and what
// it remembers by itself. The one is a file that is only read, the other a file
// that only the program writes. It knows no page and no theme.
package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/internal/near"
)

// Settings are those of the user's file, tui.yaml.
type Settings struct {
	// Theme is a name (dark, light, high-contrast, ansi16, mono, one of the user's), a
	// file, or "auto".
	Theme string `json:"theme,omitempty"`
	// Glyphs are "auto", "unicode" or "ascii".
	Glyphs string `json:"glyphs,omitempty"`
	// Refresh is the least time between two updates, as "200ms".
	Refresh string `json:"refresh,omitempty"`
	// Mouse turns the mouse on or off.
	Mouse *bool `json:"mouse,omitempty"`
	// Keys are the keys of actions, by their names.
	Keys map[string][]string `json:"keys,omitempty"`
}

// Dirs are where the files are.
type Dirs struct {
	// Config has tui.yaml and themes, State what is remembered.
	Config, State string
}

// FindDirs returns the directories of the XDG base directory specification; empty
// where there is no home directory either: then nothing is read or kept.
func FindDirs(getenv func(string) string) Dirs {
	return Dirs{Config: under(getenv, "XDG_CONFIG_HOME", ".config"), State: under(getenv, "XDG_STATE_HOME", ".local/state")}
}

func under(getenv func(string) string, name, fallback string) string {
	if dir := getenv(name); filepath.IsAbs(dir) {
		return filepath.Join(dir, "kapi")
	}
	if home := getenv("HOME"); home != "" {
		return filepath.Join(home, fallback, "kapi")
	}
	return ""
}

// File is the file of the settings.
func (d Dirs) File() string { return d.in(d.Config, "tui.yaml") }

// Themes is the directory of the user's themes.
func (d Dirs) Themes() string { return d.in(d.Config, "themes") }

func (d Dirs) in(dir, name string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, name)
}

// Load reads the settings; there are none if there is no file. A key that is not
// known and a value that can't be are bad input.
func Load(file string) (Settings, error) {
	var s Settings
	if file == "" {
		return s, nil
	}
	raw, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) { // HOME may be /dev/null
		return s, nil
	}
	if err != nil {
		return s, fault.Usagef("reading the settings: %w", err)
	}
	if err := yaml.UnmarshalStrict(raw, &s); err != nil {
		if _, after, ok := strings.Cut(err.Error(), `unknown field "`); ok {
			name, _, _ := strings.Cut(after, `"`)
			return s, fault.WithHint(fault.Usagef("settings %s: there is no key %q", file, name), "%s", near.Hint(name, []string{"theme", "glyphs", "refresh", "mouse", "keys"}))
		}
		return s, fault.WithHint(fault.Usagef("settings %s: %w", file, err), "keys are theme, glyphs, refresh, mouse and keys; docs/tui.md explains them")
	}
	if s.Refresh != "" {
		if _, err := ParseRefresh(s.Refresh); err != nil {
			return s, fmt.Errorf("settings %s: refresh: %w", file, err)
		}
	}
	return s, nil
}

// The bounds of Refresh.
const (
	LeastRefresh = 100 * time.Millisecond
	MostRefresh  = time.Minute
)

// ParseRefresh reads a refresh interval.
func ParseRefresh(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fault.WithHint(fault.Usagef("%q is no duration", text), `write it as "200ms" or "2s"`)
	}
	return d, CheckRefresh(d)
}

// CheckRefresh refuses an interval that is too short or too long.
func CheckRefresh(d time.Duration) error {
	if d < LeastRefresh || d > MostRefresh {
		return fault.WithHint(fault.Usagef("%s is not between %s and %s", d, LeastRefresh, MostRefresh), "200ms is the default")
	}
	return nil
}
