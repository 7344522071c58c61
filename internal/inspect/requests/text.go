package requests

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// packer copies texts into one piece of memory, so that a trace holds on to nothing
// that its texts were cut from: a path is part of a URL, whose query can be a
// megabyte.
type packer struct{ text strings.Builder }

// newPacker prepares room for about so much text beside the small parts of a trace.
func newPacker(size int) *packer {
	p := &packer{}
	p.text.Grow(min(size, maxPath) + 320)
	return p
}

// keep copies a text, with a mark for each character that could disturb a terminal,
// and cut off after so many characters.
func (p *packer) keep(text string, most int) string {
	text = clean(text, most)
	if text == "" {
		return ""
	}
	start := p.text.Len()
	p.text.WriteString(text)
	return p.text.String()[start:]
}

// isHidden tells whether a character is a control or formatting one, which only
// serves to show something else than there is.
func isHidden(char rune) bool {
	return unicode.IsControl(char) || unicode.Is(unicode.Cf, char) || unicode.In(char, unicode.Zl, unicode.Zp)
}

// clean puts U+FFFD in the place of each hidden character, and cuts a text off. None
// is dropped: a user of another name must not look like "system".
func clean(text string, most int) string {
	if len(text) <= most && isPlain(text) {
		return text
	}
	text = text[:min(len(text), most*utf8.UTFMax)]
	var b strings.Builder
	for _, char := range text {
		if most == 0 {
			break
		}
		if isHidden(char) {
			char = utf8.RuneError
		}
		b.WriteRune(char)
		most--
	}
	return b.String()
}

// shortened cuts a text off, and shows that it did.
func shortened(text string, most int) string {
	if len(text) <= most || utf8.RuneCountInString(text) <= most {
		return text
	}
	runes := []rune(text[:min(len(text), most*utf8.UTFMax)])
	return string(runes[:most-1]) + "…"
}

func isPlain(text string) bool {
	for i := range len(text) {
		if text[i]-' ' > '~'-' ' { // bytes below the space wrap around
			return false
		}
	}
	return true
}

// wellKnown are the parameters whose values are no secret, and what these look
// like: a value of another form is a mistake, and shown as one. All others,
// selectors among them, are left out with their names.
var wellKnown = map[string]func(rune) bool{
	"watch": isLetter, "allowWatchBookmarks": isLetter, "sendInitialEvents": isLetter, "pretty": isLetter,
	"limit": isDigit, "timeoutSeconds": isDigit, "resourceVersion": isDigit,
	"resourceVersionMatch": isLetter, "dryRun": isLetter, "fieldValidation": isLetter, "propagationPolicy": isLetter,
	"fieldManager": func(rune) bool { return true },
}

func isDigit(r rune) bool { return r == '-' || '0' <= r && r <= '9' }

// isLetter takes the digits of 0 and 1 too, which stand for false and true.
func isLetter(r rune) bool {
	return r == '0' || r == '1' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

const (
	// maxFormed is the longest value of a parameter that has a form ("NotOlderThan", a revision).
	maxFormed = 20
	malformed = "malformed"
)

// shown returns the value of a parameter as it is recorded.
func shown(name, value string) string {
	if name == "fieldManager" {
		return clean(value, maxParameter)
	}
	other := func(r rune) bool { return !wellKnown[name](r) }
	if len(value) > maxFormed || strings.ContainsFunc(value, other) {
		return malformed
	}
	return value
}

// Bounds of what is kept of a query, whatever it is.
const (
	maxParameter  = 128 // characters of a value
	maxParameters = 16
	maxQuery      = 8192 // bytes that are looked at
)

// query copies the well-known parameters of a query, in the order in which they came.
func (p *packer) query(raw string) string {
	if raw == "" {
		return ""
	}
	start, kept := p.text.Len(), 0
	raw = raw[:min(len(raw), maxQuery)]
	for raw != "" && kept < maxParameters {
		var pair string
		pair, raw, _ = strings.Cut(raw, "&")
		name, value, _ := strings.Cut(pair, "=")
		// A pair with a semicolon is none: net/url refuses it too.
		if wellKnown[name] == nil || strings.Contains(value, ";") {
			continue
		}
		value, err := url.QueryUnescape(value)
		if err != nil {
			continue
		}
		if kept++; kept > 1 {
			p.text.WriteByte('&')
		}
		p.text.WriteString(name)
		p.text.WriteByte('=')
		p.text.WriteString(url.QueryEscape(shown(name, value)))
	}
	return p.text.String()[start:]
}
