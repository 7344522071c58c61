package logging

import (
	"path"
	"regexp"
	"strings"
)

// panicGoValueKey is the attribute with which apimachinery's HandleCrash
// repeats the panic value in Go syntax.
// Source: k8s.io/apimachinery/pkg/util/runtime/runtime.go, logPanic.
const panicGoValueKey = "panicGoValue"

// goroutineHeader begins a stack as runtime.Stack writes it.
var goroutineHeader = regexp.MustCompile(`(?m)^goroutine \d+ (gp=\S+ m=\S+ (mp=\S+ )?)?\[[^\]\n]+\]:$`)

// cutStack divides s before the goroutine stack in it. The stack is taken to go
// to the end: recovered panics are logged as "message\nstack", or as a stack in
// an attribute of its own.
func cutStack(s string) (body, stack string, ok bool) {
	if !strings.Contains(s, "goroutine ") {
		return s, "", false
	}
	loc := goroutineHeader.FindStringIndex(s)
	if loc == nil {
		return s, "", false
	}
	return strings.TrimRight(s[:loc[0]], " \t\n"), s[loc[0]:], true
}

// firstFrame returns the function that panicked, with its place: the frame
// under the innermost call of panic, without the runtime's own frames. In a
// stack without a panic it is the first frame that isn't the runtime's.
func firstFrame(stack string) string {
	lines := strings.Split(stack, "\n")
	begin := 1 // behind the header
	for i, line := range lines {
		if strings.HasPrefix(line, "panic(") {
			begin = i + 2
		}
	}
	for i := begin; i+1 < len(lines); i += 2 {
		call := lines[i]
		if strings.HasPrefix(call, "runtime.") || strings.HasPrefix(call, "runtime/debug.") {
			continue
		}
		name := call
		if end := strings.LastIndexByte(call, '('); end > 0 {
			name = call[:end]
		}
		file, _, _ := strings.Cut(strings.TrimSpace(lines[i+1]), " ")
		return name + " (" + path.Base(file) + ")"
	}
	return ""
}
