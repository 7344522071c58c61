package text

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/term"
)

// Detect returns the screen that out is, as far as it and the environment tell.
//
// Colours are for terminals that are not "dumb"; FORCE_COLOR and CLICOLOR_FORCE
// turn them on everywhere, and NO_COLOR, which is the strongest, off
// (https://no-color.org, https://bixense.com/clicolors). The width is COLUMNS, or
// that of the terminal; there is none for a file. Lines and blocks are drawn with
// ASCII where the locale names a character set that does not have them; one that
// names none has them nearly everywhere by now, if it is not set at all.
func Detect(out io.Writer, getenv func(string) string) Screen {
	file, ok := out.(interface{ Fd() uintptr })
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return detect(false, 0, getenv)
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		width = 0
	}
	return detect(true, width, getenv)
}

func detect(terminal bool, width int, getenv func(string) string) Screen {
	if columns, err := strconv.Atoi(getenv("COLUMNS")); err == nil && columns > 0 {
		width = columns
	}
	return Screen{Width: max(0, width), Color: colored(terminal, getenv), ASCII: !unicodeLocale(getenv)}
}

func colored(terminal bool, getenv func(string) string) bool {
	off := []string{"", "0", "false"}
	switch {
	case getenv("NO_COLOR") != "":
		return false
	case !slices.Contains(off, getenv("FORCE_COLOR")), !slices.Contains(off, getenv("CLICOLOR_FORCE")):
		return true
	default:
		return terminal && getenv("TERM") != "dumb" && getenv("CLICOLOR") != "0"
	}
}

func unicodeLocale(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := strings.ToUpper(getenv(name)); locale != "" {
			return strings.Contains(locale, "UTF-8") || strings.Contains(locale, "UTF8")
		}
	}
	return true
}
