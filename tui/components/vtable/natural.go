package vtable

import (
	"cmp"
	"strings"
)

// natural compares texts with the numbers in them by value: "node-2" is before
// "node-10".
func natural(a, b string) int {
	for a != "" && b != "" {
		var order int
		if isDigit(a[0]) && isDigit(b[0]) {
			var left, right string
			left, a = digits(a)
			right, b = digits(b)
			order = cmp.Or(cmp.Compare(len(left), len(right)), strings.Compare(left, right))
		} else {
			order = cmp.Compare(a[0], b[0])
			a, b = a[1:], b[1:]
		}
		if order != 0 {
			return order
		}
	}
	return cmp.Compare(len(a), len(b))
}

// digits takes a number from the beginning of a text, without zeros before it.
func digits(s string) (number, rest string) {
	end := 0
	for end < len(s) && isDigit(s[end]) {
		end++
	}
	return strings.TrimLeft(s[:end], "0"), s[end:]
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
