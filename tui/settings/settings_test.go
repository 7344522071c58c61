package settings

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/kapi-dev/kapi/internal/fault"
)

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoad(t *testing.T) {
	t.Parallel()
	on := true
	for name, test := range map[string]struct {
		text  string
		want  Settings
		wrong string
	}{
		"empty":            {},
		"all":              {text: "theme: dark\nglyphs: ascii\nrefresh: 2s\nmouse: true\nkeys: {sort: [o, ctrl+s], delete: []}", want: Settings{Theme: "dark", Glyphs: "ascii", Refresh: "2s", Mouse: &on, Keys: map[string][]string{"sort": {"o", "ctrl+s"}, "delete": {}}}},
		"no YAML":          {text: "theme: [", wrong: "settings"},
		"another shape":    {text: "- dark", wrong: "settings"},
		"an unknown key":   {text: "thme: dark", wrong: "thme"},
		"a key twice":      {text: "theme: dark\ntheme: light", wrong: "theme"},
		"keys as text":     {text: "keys: {sort: o}", wrong: "keys"},
		"no duration":      {text: "refresh: soon", wrong: `"soon" is no duration`},
		"too short":        {text: "refresh: 1ms", wrong: "1ms is not between"},
		"too long":         {text: "refresh: 2h", wrong: "2h0m0s is not between"},
		"wide and strange": {text: "theme: 花子\x00", wrong: "settings"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := write(t, filepath.Join(t.TempDir(), "tui.yaml"), test.text)
			got, err := Load(file)
			if test.wrong != "" {
				if fault.Code(err) != fault.CodeUsage || !strings.Contains(err.Error(), test.wrong) || !strings.Contains(err.Error(), file) || fault.Hint(err) == "" {
					t.Errorf("got %v (%s), want the file and %q, and a way out", err, fault.Hint(err), test.wrong)
				}
				return
			}
			if err != nil || !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
	for _, none := range []string{"", filepath.Join(t.TempDir(), "none", "tui.yaml")} {
		if got, err := Load(none); err != nil || !reflect.DeepEqual(got, Settings{}) {
			t.Errorf("%q: %+v, %v", none, got, err)
		}
	}
	if _, err := Load(t.TempDir()); fault.Code(err) != fault.CodeUsage {
		t.Errorf("a directory: %v", err)
	}
}

func TestFindDirs(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		env  map[string]string
		want Dirs
	}{
		{map[string]string{"HOME": "/home/花子"}, Dirs{Config: "/home/花子/.config/kapi", State: "/home/花子/.local/state/kapi"}},
		{map[string]string{"HOME": "/h", "XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s"}, Dirs{Config: "/c/kapi", State: "/s/kapi"}},
		{map[string]string{"HOME": "/h", "XDG_CONFIG_HOME": "relative"}, Dirs{Config: "/h/.config/kapi", State: "/h/.local/state/kapi"}},
		{nil, Dirs{}},
	} {
		if got := FindDirs(func(name string) string { return test.env[name] }); got != test.want {
			t.Errorf("%v: %+v, want %+v", test.env, got, test.want)
		}
	}
	if none := (Dirs{}); none.File() != "" || none.Themes() != "" {
		t.Errorf("without a home: %q, %q", none.File(), none.Themes())
	}
}

func TestState(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "not", "there", "yet")
	s := LoadState(dir)
	s.Page, s.Theme = "crds", "light"
	s.Remember("crds", map[string]string{"sort": "NAME"})
	s.Remember("flow", map[string]string{"sort": "SEATS"})
	s.Remember("flow", nil)
	s.Remember("none", nil)
	if err := s.Save(); err != nil {
		t.Fatal(err)
	}
	again := LoadState(dir)
	if !reflect.DeepEqual(again, s) || len(again.Pages) != 1 {
		t.Errorf("got %+v, want %+v", again, s)
	}
	if info, err := os.Stat(filepath.Join(dir, "tui.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := LoadState("").Save(); err != nil {
		t.Errorf("nowhere to keep it: %v", err)
	}
}

// What can't be read is not there; the next time it is written anew.
func TestBrokenState(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "{", "[]", `{"page": 7}`, `{"pages": {"crds": "x"}}`, "\x00花"} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "tui.json"), text)
		s := LoadState(dir)
		if s.Page != "" || s.Pages != nil {
			t.Errorf("%q: %+v", text, s)
		}
		s.Page = "flow"
		if err := s.Save(); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if got := LoadState(dir).Page; got != "flow" {
			t.Errorf("%q: afterwards %q", text, got)
		}
	}
}

func TestStateThatCantBeWritten(t *testing.T) {
	t.Parallel()
	file := write(t, filepath.Join(t.TempDir(), "file"), "")
	s := LoadState(filepath.Join(file, "below"))
	if err := s.Save(); err == nil || !strings.HasPrefix(err.Error(), "keeping the state: ") {
		t.Errorf("got %v", err)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "tui.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := LoadState(dir).Save(); err == nil {
		t.Error("a directory was replaced")
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

// Two that write at the same time leave one whole file, and nothing else.
func TestStateIsWhole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			s := LoadState(dir)
			s.Page = strings.Repeat("花", 2000)
			if err := s.Save(); err != nil {
				t.Error(err)
			}
			if got := LoadState(dir).Page; got != s.Page {
				t.Errorf("a part of it is there: %d bytes", len(got))
			}
		})
	}
	group.Wait()
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}
