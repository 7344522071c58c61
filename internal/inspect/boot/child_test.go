package boot

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/klog/v2"

	inspect "github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// failingHook and panickingHook are told from others by their names.
func failingHook(genericapiserver.PostStartHookContext) error {
	return errors.New("the roles are gone")
}

func panickingHook(genericapiserver.PostStartHookContext) error { panic("the roles are gone") }

// runChild is a server one of whose hooks goes wrong. Where upstream would end the
// process, it kills itself the hard way: what is not written then never is.
func runChild(role string) error {
	boots := NewBoots(BootsConfig{
		Components: []Component{{Name: "etcd"}, {Name: "server chain"}}, HooksOf: "server chain", ProcessStart: ProcessStart(),
	})
	if err := boots.Open(os.Getenv(childEnv + "_FILE")); err != nil {
		return err
	}
	hooks := NewHooks(HooksConfig{Observer: boots})
	klog.SetLoggerWithOptions(logr.Discard(), klog.WriteKlogBuffer(func(line []byte) {
		_, message, _ := bytes.Cut(line, []byte("] "))
		if words := hooks.Fatal(string(bytes.TrimSpace(message))); words != "" {
			os.Stderr.WriteString(words + "\n")
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	}))
	utilruntime.PanicHandlers = append(utilruntime.PanicHandlers, hooks.PanicHandler)

	bad := map[string]genericapiserver.PostStartHookFunc{
		"exact-fail": hooks.Func("inner", "bad", failingHook), "polled-fail": failingHook,
		"exact-panic": hooks.Func("inner", "bad", panickingHook), "polled-panic": panickingHook,
	}[role]
	if strings.HasPrefix(role, "polled") {
		delete(hooks.hooks, "bad") // as if Func had never been called
	}
	layers, err := newLayers(func(s *genericapiserver.GenericAPIServer) error { return s.AddPostStartHook("bad", bad) }, nothing)
	if err != nil {
		return err
	}
	hooks.Attach(layers)
	boots.Observe(Step{Component: "etcd", State: "ready", StartedAt: time.Now(), ReadyAt: time.Now()})
	boots.Observe(Step{Component: "server chain", State: "starting", StartedAt: time.Now()})
	layers[0].Server.RunPostStartHooks(context.Background())
	_ = hooks.Poll(context.Background())
	select {} // something else ends the process
}

// TestFailingHookIsOnDisk kills a process right after one of its hooks has gone
// wrong, in each of the ways in which that is seen, and looks at what the next start
// knows of it.
func TestFailingHookIsOnDisk(t *testing.T) {
	t.Parallel()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ role, why string }{
		{"exact-fail", "the roles are gone"}, {"polled-fail", "the roles are gone"},
		{"exact-panic", "panic: the roles are gone"}, {"polled-panic", "panic: the roles are gone"},
	} {
		t.Run(c.role, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), fileName)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			command := exec.CommandContext(ctx, executable)
			command.Env = append(os.Environ(), childEnv+"="+c.role, childEnv+"_FILE="+file)
			output, err := command.CombinedOutput()
			if ended := (*exec.ExitError)(nil); !errors.As(err, &ended) || ended.ExitCode() == 3 {
				t.Fatalf("the child ended with %v:\n%s", err, output)
			}

			next := NewBoots(BootsConfig{})
			if err := next.Open(file); err != nil {
				t.Fatalf("opening the record: %v", err)
			}
			t.Cleanup(func() { _ = next.Close(context.Background()) })
			steps := stepsNow(t, next)
			hooks := steps["boot1-post-start-hooks"]
			if hooks == nil || hooks.Status.State != inspect.RunFailed {
				t.Fatalf("the hooks of the start before: %+v", hooks)
			}
			if !strings.HasPrefix(hooks.Status.Error, `post-start hook "bad" of layer inner failed`) || !strings.HasSuffix(hooks.Status.Error, ": "+c.why) {
				t.Errorf("they have failed because of %q", hooks.Status.Error)
			}
			if state := steps["boot1-etcd"].Status.State; state != inspect.RunDone {
				t.Errorf("etcd is %s, it was ready", state)
			}
			if chain := steps["boot1-server-chain"].Status; chain.State != inspect.RunFailed || chain.Error == "" {
				t.Errorf("the chain is %+v, it never was ready", chain)
			}
			if strings.HasSuffix(c.role, "fail") && !strings.Contains(string(output), hooks.Status.Error) {
				t.Errorf("the last words don't say so:\n%s", output)
			}
		})
	}
}
