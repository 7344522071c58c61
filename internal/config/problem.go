package config

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// KeyError is a value that a key can't have.
type KeyError struct {
	// Key is the path of the key, with an index in a list: serviceMap[1].port.
	Key string
	// Value is what was given, as text.
	Value string
	// Want says what is allowed.
	Want string
	// Origin says where the value is from, as Loaded.Origin does; "" if unknown.
	Origin string
}

// Error names key, value, what is allowed and, where known, the origin.
// Credentials in URLs are left out.
func (e *KeyError) Error() string {
	text := fmt.Sprintf("%s: %q is not allowed: want %s", e.Key, shorten(redact(e.Value)), e.Want)
	if e.Origin != "" && e.Origin != OriginDefault {
		text += " (" + e.Origin + ")"
	}
	return text
}

// redact hides what stands between :// and the last @ of the same word, also
// where the rest is no valid URL.
func redact(text string) string {
	var out strings.Builder
	for {
		before, after, ok := strings.Cut(text, "://")
		out.WriteString(before)
		if !ok {
			return out.String()
		}
		out.WriteString("://")
		end := strings.IndexAny(after, " ,")
		if end < 0 {
			end = len(after)
		}
		if at := strings.LastIndexByte(after[:end], '@'); at >= 0 {
			out.WriteString("xxxxx")
			after = after[at:]
		}
		text = after
	}
}

// shorten keeps an error readable whatever was given.
func shorten(text string) string {
	const limit = 200
	if len(text) <= limit {
		return text
	}
	cut := limit
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "..."
}

// maxErrors bounds what one load reports: nobody corrects more at a time.
const maxErrors = 50

// joinErrors is errors.Join with a limit.
func joinErrors(errs []error) error {
	if extra := len(errs) - maxErrors; extra > 0 {
		errs = append(errs[:maxErrors:maxErrors], fmt.Errorf("and %d more", extra))
	}
	return errors.Join(errs...)
}
