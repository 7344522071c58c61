package configs

import (
	"fmt"
	"slices"
	"strings"
)

// promqlWords are the words of PromQL that stand where a metric's name could and are
// none, in lower case: the language does not tell a large letter from a small one
// there. Aggregations are among them, as they may have their clause before the
// parenthesis: sum by (x) (…).
var promqlWords = map[string]bool{
	"and": true, "or": true, "unless": true, "atan2": true, "bool": true, "offset": true,
	"inf": true, "nan": true,
	"sum": true, "min": true, "max": true, "avg": true, "group": true, "stddev": true, "stdvar": true,
	"count": true, "count_values": true, "bottomk": true, "topk": true, "quantile": true,
	"limitk": true, "limit_ratio": true,
}

// promqlClauses are followed by a list of labels, and some of them may be without.
var promqlClauses = map[string]bool{
	"by": true, "without": true, "on": true, "ignoring": true, "group_left": true, "group_right": true,
}

// metricNames returns the names of the metrics that an expression of PromQL with
// Grafana's variables reads, in order, each once. It is no parser of PromQL: it knows
// where a name can stand, and refuses what does not end.
func metricNames(expression string) ([]string, error) {
	s := &scanner{text: expression}
	for !s.done() {
		if err := s.next(); err != nil {
			return nil, err
		}
	}
	return s.names, nil
}

// scanner reads an expression from left to right.
type scanner struct {
	text  string
	at    int
	names []string
}

func (s *scanner) done() bool { return s.at >= len(s.text) }

func (s *scanner) rest() string { return s.text[s.at:] }

func (s *scanner) add(name string) {
	if name != "" && !slices.Contains(s.names, name) {
		s.names = append(s.names, name)
	}
}

// next reads one token.
func (s *scanner) next() error {
	switch c := s.text[s.at]; {
	case c == '#':
		s.skipTo("\n")
	case c == '"' || c == '\'' || c == '`':
		_, err := s.quoted()
		return err
	case c == '$':
		s.variable()
	case c == '[':
		if strings.HasPrefix(s.rest(), "[[") { // a variable, as it was written once
			return s.skipPast("]]")
		}
		return s.skipPast("]")
	case c == '{':
		return s.selector()
	case c >= '0' && c <= '9' || c == '.':
		s.word() // a number or a duration: 1e3, 0x1f, 5m30s
	case isNameByte(c):
		return s.identifier()
	default:
		s.at++
	}
	return nil
}

// identifier reads a name and decides what it is.
func (s *scanner) identifier() error {
	name := s.word()
	switch word := strings.ToLower(name); {
	case promqlClauses[word]:
		s.space()
		if !strings.HasPrefix(s.rest(), "(") {
			return nil
		}
		return s.skipPast(")")
	case promqlWords[word]:
		return nil
	}
	s.space()
	if !strings.HasPrefix(s.rest(), "(") { // otherwise it is a function
		s.add(name)
	}
	return nil
}

// selector reads what is in braces: {__name__="x", label="y"}, or {"x", label="y"}.
func (s *scanner) selector() error {
	s.at++
	label, operator := "", ""
	for !s.done() {
		switch c := s.text[s.at]; {
		case c == '}':
			s.at++
			return nil
		case c == ',':
			label, operator = "", ""
			s.at++
		case c == '=' || c == '!' || c == '~':
			operator += string(c)
			s.at++
		case c == '"' || c == '\'' || c == '`':
			text, err := s.quoted()
			if err != nil {
				return err
			}
			s.space()
			named := label == "" && operator == "" && !strings.ContainsAny(s.rest()[:min(1, len(s.rest()))], "=!")
			if named || label == "__name__" && operator == "=" {
				s.add(text)
			}
			if label == "" {
				label = text
			}
		case c == '$':
			s.variable()
		case isNameByte(c):
			label = s.word()
		default:
			s.at++
		}
	}
	return fmt.Errorf("%q has a brace that is not closed", s.text)
}

// quoted reads a string and returns what is between its quotes.
func (s *scanner) quoted() (string, error) {
	quote, begin := s.text[s.at], s.at+1
	for i := begin; i < len(s.text); i++ {
		switch {
		case s.text[i] == '\\' && quote != '`':
			i++
		case s.text[i] == quote:
			s.at = i + 1
			return s.text[begin:i], nil
		}
	}
	return "", fmt.Errorf("%q has a quote that is not closed", s.text)
}

// variable reads $name, ${name} or ${name:format}.
func (s *scanner) variable() {
	s.at++
	if strings.HasPrefix(s.rest(), "{") {
		_ = s.skipPast("}") // to the end, if it has none
		return
	}
	s.word()
}

func (s *scanner) word() string {
	begin := s.at
	for !s.done() && (isNameByte(s.text[s.at]) || s.text[s.at] >= '0' && s.text[s.at] <= '9' || s.text[s.at] == '.') {
		s.at++
	}
	return s.text[begin:s.at]
}

func (s *scanner) space() {
	for !s.done() && strings.ContainsRune(" \t\r\n", rune(s.text[s.at])) {
		s.at++
	}
}

func (s *scanner) skipTo(end string) {
	if i := strings.Index(s.rest(), end); i >= 0 {
		s.at += i
		return
	}
	s.at = len(s.text)
}

func (s *scanner) skipPast(end string) error {
	if i := strings.Index(s.rest(), end); i >= 0 {
		s.at += i + len(end)
		return nil
	}
	s.at = len(s.text)
	return fmt.Errorf("%q lacks a %q", s.text, end)
}

func isNameByte(c byte) bool {
	return c == '_' || c == ':' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
