package settings

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
)

// State is what is remembered from one time to the next. A file that can't be read
// is none: nothing in it is worth an error.
type State struct {
	// Page is where one was.
	Page string `json:"page,omitempty"`
	// Theme is the one that was chosen with a key.
	Theme string `json:"theme,omitempty"`
	// Pages are sort and columns of each page, by its name.
	Pages map[string]map[string]string `json:"pages,omitempty"`

	file string
}

// LoadState reads what was remembered; dir may be empty, then nothing is kept.
func LoadState(dir string) *State {
	s := &State{}
	if dir == "" {
		return s
	}
	file := filepath.Join(dir, "tui.json")
	if raw, err := os.ReadFile(file); err == nil {
		if json.Unmarshal(raw, s) != nil {
			s = &State{}
		}
	}
	s.file = file
	return s
}

// Save writes it, as a whole or not at all.
func (s *State) Save() error {
	if s.file == "" {
		return nil
	}
	raw, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("keeping the state: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(s.file), 0o700); err != nil {
		return fmt.Errorf("keeping the state: %w", err)
	}
	temporary, err := os.CreateTemp(filepath.Dir(s.file), "tui-*.json")
	if err != nil {
		return fmt.Errorf("keeping the state: %w", err)
	}
	defer os.Remove(temporary.Name()) // of no consequence once it is renamed
	_, err = temporary.Write(append(raw, '\n'))
	if closed := temporary.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(temporary.Name(), s.file)
	}
	if err != nil {
		return fmt.Errorf("keeping the state: %w", err)
	}
	return nil
}

// Remember keeps the settings of a page, those that are set.
func (s *State) Remember(name string, memory map[string]string) {
	memory = maps.Clone(memory)
	maps.DeleteFunc(memory, func(_, value string) bool { return value == "" })
	if len(memory) == 0 {
		delete(s.Pages, name)
		return
	}
	if s.Pages == nil {
		s.Pages = map[string]map[string]string{}
	}
	s.Pages[name] = memory
}
