package requests

import (
	"log/slog"
	"os"
	"testing"

	"k8s.io/klog/v2"
)

// The filters log each panic with its stack.
func TestMain(m *testing.M) {
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}
