package tui

import (
	"os"
	"testing"
)

// childVariable makes the test binary a program that draws on its terminal; see
// terminal_linux_test.go.
const childVariable = "KAPI_TUI_TEST_CHILD"

// TestMain runs the tests, or is one of their children.
func TestMain(m *testing.M) {
	if mode := os.Getenv(childVariable); mode != "" {
		os.Exit(child(mode))
	}
	os.Exit(m.Run())
}
