package recorded

import (
	"bytes"
	"io"
	"regexp"
	"strings"
)

// removed stands where something was that looks like a credential. It has no
// character that JSON or a label of a metric would have to quote.
const removed = "[removed]"

// rule is one look that credentials have.
type rule struct {
	// hints are letters in lower case of which a line that matches has some: most
	// lines are done with after looking for them, which is much quicker.
	hints []string
	looks *regexp.Regexp
	// with is what it is replaced by.
	with string
	// unless excuses what looks so and is none; nil excuses nothing.
	unless func(match []byte) bool
}

// names are those that secrets are kept under.
const names = `(?:token|secret|passw(?:or)?d|passphrase|credentials?|api[_-]?key|access[_-]?key(?:[_-]?id)?|private[_-]?key|client[_-]?key(?:[_-]data)?)`

// rules are applied to each line in this order. They would rather take a word too
// many than leave a secret; a message that has lost a word can still be understood.
func rules() []rule {
	keyword := []string{"token", "secret", "passw", "passphrase", "credential", "key"}
	// "bearer authentication" is a phrase: its word is short, in lower case, and has
	// no digits.
	prose := regexp.MustCompile(`^(?i:bearer|basic)\s+[A-Za-z]?[a-z]{5,14}$`)
	// "automountServiceAccountToken":false is JSON, and its value no text.
	plainJSON := regexp.MustCompile(`^[A-Za-z_-]+":\s*(?:true|false|null|-?\d)`)
	return []rule{
		{ // a private key in PEM, with its line breaks quoted, to its end or that of the string
			hints: []string{"-----begin"},
			looks: regexp.MustCompile(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----(?:[^"\n]*?-----END [A-Z0-9 ]*PRIVATE KEY-----|[^"\n]*)`),
			with:  removed,
		},
		{ // anything in PEM in base64, as kubeconfigs and Secrets have it
			hints: []string{"ls0tls1crudjti"},
			looks: regexp.MustCompile(`LS0tLS1CRUdJTi[A-Za-z0-9+/_=-]+`),
			with:  removed,
		},
		{ // a JSON Web Token, of three parts or, encrypted, of five; also in base64
			hints: []string{"eyj", "zxlk"},
			looks: regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_-]*){1,4}|\bZXlK[A-Za-z0-9+/_=-]{24,}`),
			with:  removed,
		},
		{ // the value of an Authorization header
			hints:  []string{"bearer", "basic"},
			looks:  regexp.MustCompile(`(?i)((?:authorization\\*["']?\s*[:=]\s*\\*["']?)?\b(?:bearer|basic)(?:\s|%20|\+|\\[tn])+)[a-z0-9._~+/=-]{6,}`),
			with:   "${1}" + removed,
			unless: prose.Match,
		},
		{ // user and password in a URL
			hints: []string{"://"},
			looks: regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)[^\s/?#"'\\<>]+@`),
			with:  "${1}" + removed + "@",
		},
		{ // name="value", "name":"value", and both in a string of JSON
			hints: keyword,
			looks: regexp.MustCompile(`(?i)(` + names + `\\*["']?\s*(?:=|:)\s*\\*")(?:[^"\\]|\\.)+`),
			with:  "${1}" + removed,
		},
		{ // name=value, name: value, also in a query
			hints:  keyword,
			looks:  regexp.MustCompile(`(?i)(` + names + `\\*["']?\s*(?:=|:|%3d)\s*'?)(?:[^\s"'&\\{}\[\],]|\\\\)(?:[^\s"'&\\]|\\\\)*`),
			with:   "${1}" + removed,
			unless: plainJSON.Match,
		},
		{ // --name value
			hints: []string{"--"},
			looks: regexp.MustCompile(`(?i)(--[a-z-]*` + names + `\s+)[^\s"'\\-][^\s"'\\]*`),
			with:  "${1}" + removed,
		},
		{ // a bootstrap token
			looks:  regexp.MustCompile(`\b[a-z0-9]{6}\.[a-z0-9]{16}\b`),
			with:   removed,
			unless: func(match []byte) bool { return !bytes.ContainsAny(match[7:], "0123456789") },
		},
	}
}

// redactor hands lines on without what looks like a credential. What is written
// to it may break lines anywhere; Close writes the last.
type redactor struct {
	w     io.Writer
	rules []rule
	line  []byte
	// inKey is set within a private key of several lines.
	inKey bool
	// err is the first error of w, so that whoever writes can be told from it.
	err error
}

func newRedactor(w io.Writer) *redactor { return &redactor{w: w, rules: rules()} }

// Write implements io.Writer.
func (r *redactor) Write(p []byte) (int, error) {
	written := len(p)
	for {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			r.line = append(r.line, p...)
			return written, r.err
		}
		r.line = append(r.line, p[:end+1]...)
		p = p[end+1:]
		r.flush()
	}
}

// Close writes what has no line break after it. It leaves the writer open.
func (r *redactor) Close() error {
	r.flush()
	return r.err
}

func (r *redactor) flush() {
	line := r.line
	r.line = r.line[:0]
	if len(line) == 0 || r.err != nil {
		return
	}
	if r.inKey = r.inKey && isPEM(line); r.inKey {
		r.inKey = !bytes.Contains(line, []byte("-----END"))
		return
	}
	if at := bytes.Index(line, []byte("PRIVATE KEY-----")); at >= 0 {
		rest := line[at:]
		r.inKey = bytes.HasSuffix(bytes.TrimRight(rest, " \t\r\n"), []byte("PRIVATE KEY-----")) && !bytes.Contains(line, []byte("-----END"))
	}
	_, r.err = r.w.Write(redacted(line, r.rules))
}

// isPEM tells whether a line can be part of a block of PEM: base64, or a header of it.
func isPEM(line []byte) bool {
	return len(line) < 200 && !bytes.ContainsFunc(line, func(c rune) bool {
		return c > 'z' || strings.ContainsRune("\"[]<>()", c)
	})
}

// redact is the function over one text.
func redact(text string) string {
	var out bytes.Buffer
	r := newRedactor(&out)
	_, _ = r.Write([]byte(text)) // a buffer takes everything
	_ = r.Close()
	return out.String()
}

func redacted(line []byte, rules []rule) []byte {
	lower := bytes.ToLower(line)
	for _, rule := range rules {
		if !hinted(lower, rule.hints) {
			continue
		}
		line = rule.looks.ReplaceAllFunc(line, func(match []byte) []byte {
			if rule.unless != nil && rule.unless(match) {
				return match
			}
			return rule.looks.ReplaceAll(match, []byte(rule.with))
		})
	}
	return line
}

func hinted(lower []byte, hints []string) bool {
	for _, hint := range hints {
		if bytes.Contains(lower, []byte(hint)) {
			return true
		}
	}
	return len(hints) == 0
}
