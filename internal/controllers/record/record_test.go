package record

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/controllers/catalog"
)

func controller(t *testing.T, name string) catalog.Controller {
	t.Helper()
	c, ok := catalog.Find(name)
	if !ok {
		t.Fatal("no controller", name)
	}
	return c
}

// logged returns a context whose logger writes to lines.
func logged(t *testing.T, verbosity int) (context.Context, *strings.Builder) {
	t.Helper()
	var lines strings.Builder
	logger := funcr.New(func(prefix, args string) { fmt.Fprintln(&lines, prefix, args) }, funcr.Options{Verbosity: verbosity})
	return klog.NewContext(t.Context(), logger), &lines
}

// as returns a context in which r logs to the logger of ctx.
func as(ctx context.Context, r *Record) context.Context {
	logger := klog.FromContext(ctx)
	return klog.NewContext(ctx, logger.WithSink(&sink{logger.GetSink(), r}).WithName(r.Name))
}

func conflict() error {
	return apierrors.NewConflict(schema.GroupResource{Resource: "pods"}, "a", errors.New("the object has been modified; please apply your changes to the latest version and try again"))
}

func TestErrorsAreNoted(t *testing.T) {
	for name, c := range map[string]struct {
		err     error
		message string
		want    string
	}{
		"with a message":      {errors.New("boom"), "Syncing failed", "Syncing failed: boom"},
		"of no message":       {errors.New("boom"), "", "boom"},
		"unhandled":           {errors.New("boom"), unhandled, "boom"},
		"no error":            {nil, "Something is wrong", "Something is wrong"},
		"conflict":            {conflict(), "Syncing failed", ""},
		"conflict as text":    {fmt.Errorf("sync failed with %v", conflict()), "", ""}, //nolint:errorlint // as upstream does
		"the server stops":    {fmt.Errorf("asking: %w", context.Canceled), "", ""},
		"an informer behind":  {errors.New("read version: 1 is not as new as written version: 2 for group resource replicasets.apps"), "", ""},
		"slow informers":      {errors.New("timed out waiting for dependency graph builder sync during GC sync"), unhandled, ""},
		"slow quota monitors": {nil, "Timed out waiting for quota monitor sync", ""},
		"a second term":       {errors.New("duplicate metrics collector registration attempted"), "unable to register metrics", ""},
		"no class":            {errors.New(`storageclass.storage.k8s.io "x" not found`), "Error finding provisioning plugin for claim", ""},
		"no node yet":         {nil, "Status after running PostFilter plugins for pod", ""},
		"a deadline is not":   {context.DeadlineExceeded, "", "context deadline exceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, lines := logged(t, 0)
			r := New(controller(t, "namespace"), true)
			klog.FromContext(as(ctx, r)).WithValues("k", "v").WithName("part").Error(c.err, c.message)
			o := r.Object("", "", false)
			if o.Status.LastError != c.want || (o.Status.Errors == 1) != (c.want != "") || (o.Status.LastErrorAt != nil) != (c.want != "") {
				t.Errorf("noted %d, %q at %v", o.Status.Errors, o.Status.LastError, o.Status.LastErrorAt)
			}
			if (lines.Len() > 0) != (c.want != "") {
				t.Errorf("logged %q", lines)
			}
			if c.want != "" && !strings.Contains(lines.String(), "namespace/part") {
				t.Errorf("the controller is not named in %q", lines)
			}
		})
	}
}

// TestSaidOnce: the same error is counted each time, and logged the first time.
func TestSaidOnce(t *testing.T) {
	ctx, lines := logged(t, 0)
	r := New(controller(t, "namespace"), true)
	logger := klog.FromContext(as(ctx, r))
	for range 3 {
		logger.Error(errors.New("boom"), "Syncing failed")
		logger.Error(errors.New("bang"), "Syncing failed")
	}
	if got := strings.Count(lines.String(), "\n"); got != 2 {
		t.Errorf("logged %d times:\n%s", got, lines)
	}
	if o := r.Object("", "", false); o.Status.Errors != 6 || o.Status.LastError != "Syncing failed: bang" {
		t.Errorf("%+v", o.Status)
	}
	for i := range 3 * saidMost {
		r.Note(fmt.Sprint(i))
	}
	r.Note(strings.Repeat("é", 5000))
	if last := r.Object("", "", false).Status.LastError; len(last) > longest+3 {
		t.Errorf("an error of %d bytes is kept", len(last))
	}
	if len(r.said) > saidMost {
		t.Errorf("%d errors are remembered", len(r.said))
	}
}

// TestEnding: what a controller complains of when it has been told to stop is no
// error of it.
func TestEnding(t *testing.T) {
	ctx, lines := logged(t, 0)
	term, end := context.WithCancel(t.Context())
	r := New(controller(t, "namespace"), true)
	r.Watch(term)
	end()
	klog.FromContext(as(ctx, r)).Error(errors.New("boom"), "Unable to sync caches")
	if lines.Len() > 0 || r.Object("", "", false).Status.Errors != 0 {
		t.Errorf("logged %q", lines)
	}
}

// TestQuieter: what controllers say at level 0 is said at 2.
func TestQuieter(t *testing.T) {
	for verbosity, want := range map[int]bool{0: false, 1: false, 2: true} {
		ctx, lines := logged(t, verbosity)
		logger := klog.FromContext(as(ctx, New(controller(t, "namespace"), true)))
		logger.Info("Starting controller")
		if got := lines.Len() > 0; got != want || logger.Enabled() != want {
			t.Errorf("verbosity %d: logged %q", verbosity, lines)
		}
	}
}

// TestHandleError: an error without a context is the controller's whose code is on
// the stack; here, that of this test.
func TestHandleError(t *testing.T) {
	mine := controller(t, "namespace")
	mine.Package = "github.com/kapi-dev/kapi/internal/controllers/record"
	r, other := New(mine, true), New(controller(t, "job"), true)
	if !HandleError(context.Background(), []*Record{other, r}, errors.New("boom"), unhandled) {
		t.Error("nobody's")
	}
	if o := r.Object("", "", false); o.Status.Errors != 1 || !strings.HasSuffix(o.Status.LastError, ": boom") {
		t.Errorf("%+v", o.Status)
	}
	if other.Object("", "", false).Status.Errors != 0 {
		t.Error("the other one's too")
	}
	if HandleError(context.Background(), []*Record{other}, errors.New("boom"), unhandled) {
		t.Error("taken for the other one's")
	}
	off := New(mine, false)
	if HandleError(context.Background(), []*Record{off}, errors.New("boom"), unhandled) {
		t.Error("taken for one's that is off")
	}
	ctx, _ := logged(t, 0)
	if HandleError(as(ctx, r), []*Record{r}, errors.New("boom"), unhandled) {
		t.Error("logged here although its own logger will")
	}
}

func TestObject(t *testing.T) {
	for name, c := range map[string]struct {
		enabled bool
		enter   func(*Record)
		holder  string
		reason  string
		want    func(*v1alpha1.Controller) bool
	}{
		"not selected": {false, nil, "me", "NotSelected", func(o *v1alpha1.Controller) bool {
			return !o.Spec.Enabled && o.Spec.Reason != "" && o.Status.Holder == ""
		}},
		"not ready":    {true, nil, "", "Starting", func(o *v1alpha1.Controller) bool { return o.Spec.Enabled && !o.Status.Leader }},
		"nobody leads": {true, (*Record).Rest, "", "NotLeader", func(o *v1alpha1.Controller) bool { return o.Spec.Enabled && o.Status.Holder == "" }},
		"another leads": {true, (*Record).Rest, "other", "NotLeader", func(o *v1alpha1.Controller) bool {
			return o.Status.Holder == "other" && strings.Contains(o.Status.Conditions[0].Message, "other")
		}},
		"starting": {true, func(r *Record) { r.Enter(Starting, "") }, "me", "Starting", func(o *v1alpha1.Controller) bool { return !o.Status.Leader }},
		"running": {true, func(r *Record) { r.Enter(Running, "") }, "me", "Running", func(o *v1alpha1.Controller) bool {
			return o.Status.Leader && o.Status.StartedAt != nil
		}},
		"nothing to do": {true, func(r *Record) { r.Enter(Off, "a gate is off") }, "me", "Disabled", func(o *v1alpha1.Controller) bool {
			return !o.Spec.Enabled && o.Spec.Reason == "a gate is off" && o.Status.Conditions[0].Message == "a gate is off"
		}},
		"failed": {true, func(r *Record) { r.Fail(errors.New("no key")) }, "me", "Failed", func(o *v1alpha1.Controller) bool {
			return o.Spec.Enabled && o.Status.LastError == "no key" && o.Status.Conditions[0].Message == "no key"
		}},
		"off for good": {true, func(r *Record) { r.Disable("no key"); r.Enter(Starting, ""); r.Fail(errors.New("x")); r.Rest() }, "me", "Disabled",
			func(o *v1alpha1.Controller) bool { return !o.Spec.Enabled && o.Spec.Reason == "no key" }},
		"off until the next time": {true, func(r *Record) { r.Enter(Off, "not served"); r.Rest() }, "me", "Disabled",
			func(o *v1alpha1.Controller) bool { return o.Spec.Reason == "not served" }},
		"stopped": {true, func(r *Record) { r.Enter(Running, ""); r.Enter(Standby, "") }, "me", "NotLeader", func(o *v1alpha1.Controller) bool {
			return !o.Status.Leader && o.Status.StartedAt == nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := New(controller(t, "namespace"), c.enabled)
			if c.enter != nil {
				c.enter(r)
			}
			o := r.Object(c.holder, "me", false)
			running := o.Status.Conditions[0]
			if running.Type != "Running" || running.Reason != c.reason || running.Message == "" || running.LastTransitionTime.IsZero() {
				t.Errorf("condition %+v", running)
			}
			if (running.Status == metav1.ConditionTrue) != o.Status.Leader {
				t.Errorf("running %s, leader %v", running.Status, o.Status.Leader)
			}
			if o.Spec.Identity != "system:serviceaccount:kube-system:namespace-controller" || o.Spec.Sets[0] != "api" || o.Spec.Doc == "" {
				t.Errorf("spec %+v", o.Spec)
			}
			if !c.want(o) {
				t.Errorf("spec %+v\nstatus %+v", o.Spec, o.Status)
			}
		})
	}
}

// One that runs and whose requests are refused does not lead; another state stays.
func TestFencedObject(t *testing.T) {
	r := New(controller(t, "namespace"), true)
	r.Enter(Starting, "")
	if o := r.Object("me", "me", true); o.Status.Conditions[0].Reason != v1alpha1.ControllerStarting {
		t.Errorf("starting: %+v", o.Status.Conditions)
	}
	r.Enter(Running, "")
	o := r.Object("me", "me", true)
	if c := o.Status.Conditions[0]; o.Status.Leader || c.Status != metav1.ConditionFalse || c.Reason != v1alpha1.ControllerNotLeader || c.Message != refused {
		t.Errorf("running: %v, %+v", o.Status.Leader, c)
	}
	if o := r.Object("me", "me", false); !o.Status.Leader {
		t.Errorf("open again: %+v", o.Status)
	}
}
