package text

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDetect(t *testing.T) {
	for environment, want := range map[string]Screen{
		"":                                     {Width: 100, Color: true},
		"TERM=dumb":                            {Width: 100},
		"NO_COLOR=1":                           {Width: 100},
		"NO_COLOR=1 FORCE_COLOR=1":             {Width: 100},
		"TERM=dumb FORCE_COLOR=1":              {Width: 100, Color: true},
		"CLICOLOR=0":                           {Width: 100},
		"CLICOLOR=0 CLICOLOR_FORCE=1":          {Width: 100, Color: true},
		"COLUMNS=132":                          {Width: 132, Color: true},
		"COLUMNS=0":                            {Width: 100, Color: true},
		"COLUMNS=wide":                         {Width: 100, Color: true},
		"LANG=C":                               {Width: 100, Color: true, ASCII: true},
		"LANG=POSIX":                           {Width: 100, Color: true, ASCII: true},
		"LANG=C.UTF-8":                         {Width: 100, Color: true},
		"LANG=de_DE.utf8":                      {Width: 100, Color: true},
		"LC_CTYPE=UTF-8":                       {Width: 100, Color: true},
		"LC_ALL=de_DE.ISO-8859-1 LANG=C.UTF-8": {Width: 100, Color: true, ASCII: true},
		"LC_CTYPE=en_GB.UTF-8 LANG=C":          {Width: 100, Color: true},
		"LC_ALL=C LC_CTYPE=en_GB.UTF-8 COLUMNS=5": {Width: 5, Color: true, ASCII: true},
	} {
		if got := detect(true, 100, variables(environment)); got != want {
			t.Errorf("a terminal with %q: %+v, want %+v", environment, got, want)
		}
	}
}

// What is not a terminal gets neither colours nor a width, unless it is told so.
func TestDetectFile(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for environment, want := range map[string]Screen{
		"":                           {},
		"TERM=xterm-256color":        {},
		"FORCE_COLOR=1 COLUMNS=80":   {Width: 80, Color: true},
		"CLICOLOR_FORCE=0":           {},
		"CLICOLOR_FORCE=1":           {Color: true},
		"CLICOLOR_FORCE=1 NO_COLOR=": {Color: true},
	} {
		if got := Detect(file, variables(environment)); got != want {
			t.Errorf("a file with %q: %+v, want %+v", environment, got, want)
		}
		if got := Detect(&strings.Builder{}, variables(environment)); got != want {
			t.Errorf("a builder with %q: %+v, want %+v", environment, got, want)
		}
	}
}

func variables(environment string) func(string) string {
	values := map[string]string{}
	for _, field := range strings.Fields(environment) {
		name, value, _ := strings.Cut(field, "=")
		values[name] = value
	}
	return func(name string) string { return values[name] }
}
