package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"k8s.io/client-go/util/cert"

	"github.com/kapi-dev/kapi/internal/kapitest"
)

// TestScripts runs testdata/script/*.txtar: kapi as a person types it, on the
// shared server. What a script finds in its environment:
//
//	KAPI_DATADIR   the data directory of the server
//	SERVER, CA     its URL, and the file with its authority
//	HOME           an empty directory below $WORK
//	NS             a namespace of the script's own
//
// and beside testscript's own commands:
//
//	exits CODE COMMAND...   runs the command and checks its exit code
//	await FILE REGEXP       waits until the file matches
//	retry COMMAND...        runs the command until it succeeds
func TestScripts(t *testing.T) {
	t.Parallel()
	server := kapitest.Shared(t)
	bin := kapitest.Link(t)
	authority := filepath.Join(t.TempDir(), "ca.crt")
	if err := cert.WriteCert(authority, server.Config(t).CAData); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("HOME", home)
			env.Setenv("PATH", bin+string(os.PathListSeparator)+env.Getenv("PATH"))
			env.Setenv("KAPI_DATADIR", server.Dir)
			env.Setenv("SERVER", server.Config(t).Host)
			env.Setenv("CA", authority)
			env.Setenv("NS", newNamespace(t, server.Client(t)))
			return os.MkdirAll(home, 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": scriptExits,
			"await": scriptAwait,
			"retry": scriptRetry,
		},
		RequireUniqueNames: true,
	})
}

// scriptExits is `exits CODE COMMAND...`; stdout and stderr look at its output.
func scriptExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("%q exits with %d, want %d", args[1:], got, want)
	}
}

// scriptAwait is `await FILE REGEXP`, for what a command in the background
// writes. Each line is matched on its own.
func scriptAwait(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: await FILE REGEXP")
	}
	want, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	ts.Check(poll(context.Background(), func(context.Context) error {
		text, err := os.ReadFile(ts.MkAbs(args[0]))
		if err == nil && !want.Match(text) {
			err = fmt.Errorf("%s does not match %q:\n%s", args[0], args[1], text)
		}
		return err
	}))
}

// scriptRetry is `retry COMMAND...`, for what the server knows a moment later:
// authorization, for one, sees a new role when its informers have seen it.
func scriptRetry(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: retry COMMAND...")
	}
	ts.Check(poll(context.Background(), func(context.Context) error {
		return ts.Exec(args[0], args[1:]...)
	}))
}
