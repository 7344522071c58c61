package theme

import (
	"bytes"
)

// question asks for the background, then for what the terminal is.
const question = "\x1b]11;?\x1b\\" + "\x1b[c"

// longest is how long an answer may be; what is longer is none.
const longest = 128

// answers are what a terminal has said.
type answers struct {
	// background is the colour that it has named.
	background string
	// attributes says that it has told what it is, which is the last answer.
	attributes bool
	// typed is everything that is no answer.
	typed []byte
	// rest is the begin of what may become an answer, at the end.
	rest []byte
}

// read takes answers out of what came from a terminal.
func (a *answers) read(data []byte) {
	data = append(a.rest, data...)
	a.rest = nil
	for len(data) > 0 {
		next := bytes.IndexByte(data, '\x1b')
		if next != 0 {
			if next < 0 {
				next = len(data)
			}
			a.typed, data = append(a.typed, data[:next]...), data[next:]
			continue
		}
		size, whole := a.answer(data)
		switch {
		case size == 0: // an escape sequence of a key
			a.typed, data = append(a.typed, data[0]), data[1:]
		case !whole:
			a.rest = bytes.Clone(data)
			return
		default:
			data = data[size:]
		}
	}
}

// answer tells whether data begins with an answer, or with a part of one.
func (a *answers) answer(data []byte) (size int, whole bool) {
	const color, attributes = "\x1b]11;", "\x1b[?"
	if size, whole = match(data, color, func(c byte) bool { return c > ' ' && c < 0x7f }, "\x1b\\", "\a"); whole {
		body := bytes.TrimPrefix(data[:size], []byte(color))
		a.background = string(bytes.TrimRight(body, "\x1b\\\a"))
	}
	if size > 0 {
		return size, whole
	}
	size, whole = match(data, attributes, func(c byte) bool { return c == ';' || c >= '0' && c <= '9' }, "c")
	a.attributes = a.attributes || whole
	return size, whole
}

// match tells how much of data is head, then bytes that are inside, then one of
// tails. It is not whole if all of data is but the end has not come; size is 0 if
// it is something else.
func match(data []byte, head string, inside func(byte) bool, tails ...string) (size int, whole bool) {
	if len(data) <= len(head) {
		if bytes.HasPrefix([]byte(head), data) {
			return len(data), false
		}
		return 0, false
	}
	if !bytes.HasPrefix(data, []byte(head)) {
		return 0, false
	}
	for i := len(head); i < min(len(data), longest); i++ {
		for _, tail := range tails {
			switch rest := data[i:]; {
			case bytes.HasPrefix(rest, []byte(tail)):
				return i + len(tail), true
			case bytes.HasPrefix([]byte(tail), rest):
				return len(data), false
			}
		}
		if !inside(data[i]) {
			return 0, false
		}
	}
	if len(data) >= longest {
		return 0, false
	}
	return len(data), false
}

// key tells whether the begin of an answer is a key as well: escape, or alt with a
// bracket. A key must not wait for what may never come.
func key(rest []byte) bool { return len(rest) > 0 && len(rest) < 3 }
