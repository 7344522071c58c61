package logging

import (
	"encoding/base64"
	"regexp"
	"strings"
)

// redacted stands where a secret was.
const redacted = "REDACTED"

// secretKey reports whether an attribute of this name holds a secret. The name
// must be one of the list, whatever its case and whether it is written with
// "-", "_" or together: "token-fingerprint" is fine to log.
func secretKey(key string) bool {
	var buf [24]byte // longer than any name of the list
	name := buf[:0]
	for i := range len(key) {
		c := key[i]
		switch {
		case c == '-' || c == '_' || c == '.':
			continue
		case len(name) == len(buf):
			return false
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		}
		name = append(name, c)
	}
	switch string(name) {
	case "token", "accesstoken", "refreshtoken", "idtoken", "bearertoken", "bearer",
		"password", "passwd", "passphrase", "authorization", "proxyauthorization",
		"secret", "clientsecret", "keydata", "clientkeydata", "privatekey", "apikey":
		return true
	}
	return false
}

// A text that holds none of these holds nothing that mask would find.
var maskHints = []string{"://", "earer", "EARER", "asic ", "ASIC ", "uthorization", "eyJ",
	"PRIVATE KEY", "oken", "assword", "ecret", "ey-data", "?"}

var (
	// "Bearer TOKEN" as in a header.
	bearerPattern = regexp.MustCompile(`(?i)\bbearer\s+([^\s"'` + "`" + `,;\]})\\]+)`)
	// "Basic BASE64" as in a header.
	basicPattern = regexp.MustCompile(`(?i)\bbasic\s+([a-z0-9+/_-]{4,}={0,2})`)
	// The password in scheme://user:password@host.
	userinfoPattern = regexp.MustCompile(`(://[^\s/?#:@"]*:)[^\s/?#"]+@`)
	// A JSON web token.
	jwtPattern = regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`)
	// A private key; an unfinished one goes to the end of the text.
	pemPattern = regexp.MustCompile(`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|$)`)
	// "token": "…" in JSON, also in JSON within a JSON string.
	jsonSecretPattern = regexp.MustCompile(`(?i)(\\*"(?:access_?token|id_?token|refresh_?token|bearer-?token|token|password|client-?secret|client-key-data|key-data)\\*"\s*:\s*\\*")[^"\\]+`)
	// name=value in a query; "&" may be written as JSON does.
	queryPattern = regexp.MustCompile(`((?:[?&]|\\u0026)([A-Za-z_][A-Za-z0-9_.~%-]*)=)[^&\s"'\\]+`)
)

// mask hides what looks like a credential in s. It prefers to leave prose
// alone: each pattern needs the syntax around the credential.
func mask(s string) string {
	found := false
	for _, hint := range maskHints {
		if strings.Contains(s, hint) {
			found = true
			break
		}
	}
	if !found {
		return s
	}
	s = pemPattern.ReplaceAllString(s, redacted)
	s = userinfoPattern.ReplaceAllString(s, "${1}"+redacted+"@")
	s = jsonSecretPattern.ReplaceAllString(s, "${1}"+redacted)
	s = queryPattern.ReplaceAllStringFunc(s, maskParameter)
	s = replaceGroup(bearerPattern, s, func(tok string) bool { return !bearerProse(tok) })
	s = replaceGroup(basicPattern, s, isBasicCredential)
	return jwtPattern.ReplaceAllString(s, redacted)
}

// maskParameter hides the value of one parameter of a query, unless it is one of
// the API's own whose values tell nothing: all others may be anything, as a
// command is, or a selector by what is secret.
func maskParameter(parameter string) string {
	name, _, _ := strings.Cut(parameter, "=")
	switch strings.TrimPrefix(strings.TrimLeft(name, "?&"), `\u0026`) {
	case "allowWatchBookmarks", "dryRun", "exclude", "fieldManager", "fieldValidation", "force", "limit", "pretty",
		"propagationPolicy", "resourceVersion", "resourceVersionMatch", "sendInitialEvents", "timeout", "timeoutSeconds",
		"verbose", "watch":
		return parameter
	}
	return name + "=" + redacted
}

// replaceGroup replaces the first group of each match for which is says yes.
func replaceGroup(p *regexp.Regexp, s string, is func(string) bool) string {
	var out strings.Builder
	last := 0
	for _, m := range p.FindAllStringSubmatchIndex(s, -1) {
		if is(s[m[2]:m[3]]) {
			out.WriteString(s[last:m[2]])
			out.WriteString(redacted)
			last = m[3]
		}
	}
	if last == 0 {
		return s
	}
	out.WriteString(s[last:])
	return out.String()
}

// bearerProse reports whether the word after "bearer" belongs to a sentence
// about tokens rather than being one.
func bearerProse(word string) bool {
	switch strings.ToLower(strings.TrimRight(word, ".:")) {
	case "token", "tokens", "auth", "authentication", "authenticator", "authorization",
		"header", "headers", "challenge", "scheme", "credential", "credentials",
		"is", "was", "not", "and", "or", "for", "in", "to", "<masked>", "<redacted>", strings.ToLower(redacted):
		return true
	}
	return strings.HasPrefix(strings.ToLower(word), "realm=")
}

// isBasicCredential reports whether s is the base64 of "user:password".
func isBasicCredential(s string) bool {
	b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
	return err == nil && strings.Contains(string(b), ":")
}
