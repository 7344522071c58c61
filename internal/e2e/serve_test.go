package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"testing"

	"github.com/kapi-dev/kapi/internal/kapitest"
)

// runServe runs a `kapi serve` that is to end by itself, and returns its exit
// code and what it has printed.
func runServe(t testing.TB, dir string, args ...string) (code int, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := kapitest.Command(ctx, t.TempDir(), append([]string{"serve", "--data-dir", dir, "--secure-port", "0", "--etcd-unsafe-no-fsync"}, args...)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		t.Fatalf("kapi does not end by itself:\n%s", &out)
	case err != nil && !errors.As(err, &exit):
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String()
}

func writeFile(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func readFile(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
