package query

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
)

// comparison compares cells with a value.
type comparison struct {
	operator string
	// text is the value in lower case, number what it stands for.
	text     string
	number   float64
	isNumber bool
}

// cutOperator takes an operator from the beginning of a value.
func cutOperator(value string) (operator, operand string) {
	for _, operator := range []string{">=", "<=", "!=", ">", "<", "="} {
		if operand, ok := strings.CutPrefix(value, operator); ok {
			return operator, operand
		}
	}
	return "", value
}

func newComparison(operator, operand string) (comparison, error) {
	c := comparison{operator: operator, text: strings.ToLower(operand)}
	c.number, c.isNumber = Number(operand)
	switch {
	case c.isNumber, operator == "=", operator == "!=":
		return c, nil
	case operand == "":
		return c, errors.New("there is nothing to compare with")
	default:
		return c, fmt.Errorf("%s is no number, duration or size", operand)
	}
}

// holds tells whether a cell compares as it should. What is no number is neither
// more nor less than one.
func (c comparison) holds(cell string) bool {
	number, isNumber := Number(cell)
	if !isNumber || !c.isNumber {
		same := strings.ToLower(strings.TrimSpace(cell)) == c.text
		return c.operator == "=" && same || c.operator == "!=" && !same
	}
	switch c.operator {
	case ">":
		return number > c.number
	case ">=":
		return number >= c.number
	case "<":
		return number < c.number
	case "<=":
		return number <= c.number
	case "!=":
		return number != c.number
	default:
		return number == c.number
	}
}

// Number reads a number as tables write it: plain ("12", "34%"), a size ("1.4Mi",
// "5k"), or a duration in seconds ("1.24s", "740µs", "3d4h"). Something after a
// blank is left out ("5 (2 failed)"). Bounds as "<1µs" are taken for the bound.
func Number(cell string) (float64, bool) {
	cell, _, _ = strings.Cut(strings.TrimSpace(cell), " ")
	cell = strings.TrimLeft(cell, "<>~")
	cell = strings.TrimSuffix(cell, "%")
	if cell == "" || !strings.ContainsAny(cell, "0123456789") || strings.ContainsAny(cell, "xX_pP") {
		return 0, false
	}
	if number, err := strconv.ParseFloat(cell, 64); err == nil {
		return number, true
	}
	if seconds, ok := seconds(cell); ok {
		return seconds, true
	}
	size, err := kinds.ParseSize(cell)
	return size, err == nil
}

// seconds reads a duration, which may have days, weeks and years.
func seconds(text string) (float64, bool) {
	text, negative := strings.CutPrefix(text, "-")
	if text == "" {
		return 0, false
	}
	sum := 0.0
	for text != "" {
		digits := strings.IndexFunc(text, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
		if digits <= 0 {
			return 0, false
		}
		number, err := strconv.ParseFloat(text[:digits], 64)
		if err != nil {
			return 0, false
		}
		text = text[digits:]
		end := strings.IndexFunc(text, func(r rune) bool { return r >= '0' && r <= '9' })
		if end < 0 {
			end = len(text)
		}
		unit, known := unit(text[:end])
		if !known {
			return 0, false
		}
		sum += number * unit.Seconds()
		text = text[end:]
	}
	if negative {
		sum = -sum
	}
	return sum, true
}

func unit(name string) (time.Duration, bool) {
	const day = 24 * time.Hour
	switch name {
	case "ns":
		return time.Nanosecond, true
	case "us", "µs", "μs":
		return time.Microsecond, true
	case "ms":
		return time.Millisecond, true
	case "s":
		return time.Second, true
	case "m":
		return time.Minute, true
	case "h":
		return time.Hour, true
	case "d":
		return day, true
	case "w":
		return 7 * day, true
	case "y":
		return 365 * day, true
	default:
		return 0, false
	}
}
