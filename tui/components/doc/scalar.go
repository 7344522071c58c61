package doc

import (
	"strconv"
	"strings"
	"unicode"

	"sigs.k8s.io/yaml"
)

// quote writes a text as a YAML scalar on one line, with quotes only where it would
// be read as something else without them.
func quote(s string) string {
	if isPlain(s) {
		return s
	}
	// The library does not read back all that it writes: line breaks of Unicode, and
	// the sign of a merge. What Go writes between quotes is YAML, too.
	if !isGraphic(s, "") || s == "<<" {
		return strconv.Quote(s)
	}
	written, err := yaml.Marshal(s)
	if err != nil {
		return strconv.Quote(s)
	}
	// The library breaks long texts into lines.
	line := strings.TrimSuffix(string(written), "\n")
	if strings.ContainsAny(line, "\n\r") || line == "" || line[0] == '|' || line[0] == '>' {
		return strconv.Quote(s)
	}
	return line
}

// isPlain tells of most texts quickly that they need no quotes; of the others the
// library has to tell.
func isPlain(s string) bool {
	if s == "" || !isLetter(s[0]) && s[0] != '/' || s[len(s)-1] == ' ' || s[len(s)-1] == ':' {
		return false
	}
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	if strings.Contains(s, ": ") || strings.Contains(s, " #") {
		return false
	}
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null":
		return false
	}
	return true
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// isBlock tells whether a text is better read as a block of lines.
func isBlock(s string) bool { return strings.Contains(strings.TrimSuffix(s, "\n"), "\n") }

// canBlock tells whether a block can hold a text as it is.
func canBlock(s string) bool {
	return s != "" && !strings.ContainsRune(" \n\t", rune(s[0])) && isGraphic(s, "\n\t")
}

// isGraphic tells whether all of a text can be seen, but for the letters given.
func isGraphic(s, but string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return !unicode.IsGraphic(r) && !strings.ContainsRune(but, r) }) < 0
}
