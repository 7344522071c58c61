package tui

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined/joinedtest"
	"github.com/kapi-dev/kapi/internal/client/inspection/recorded"
	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/tui/data"
)

// Recordings of real servers, as seen from this package.
const (
	kapiFile    = "../internal/cli/inspect/testdata/kapi.json"
	foreignFile = "../internal/cli/inspect/testdata/foreign.json"
)

// recordedAt is the time of the recordings, give or take; tests begin at it.
var recordedAt = time.Date(2026, 11, 30, 6, 54, 54, 0, time.UTC)

// frames are those that tests share: frames never change.
var frames struct {
	lock sync.Mutex
	made map[string]data.Frame
}

// frameOf is a frame of a server, as if it answered now. It is made once.
func frameOf(t testing.TB, name string, open func(testing.TB) inspection.Server) data.Frame {
	t.Helper()
	frames.lock.Lock()
	defer frames.lock.Unlock()
	if frame, ok := frames.made[name]; ok {
		return frame
	}
	frame := liveFrame(t, open(t))
	frame.About.RecordedFrom, frame.Series = "", samples(frame.Now)
	if frames.made == nil {
		frames.made = map[string]data.Frame{}
	}
	frames.made[name] = frame
	return frame
}

// liveFrame is a frame of everything that a server shows.
func liveFrame(t testing.TB, server inspection.Server) data.Frame {
	t.Helper()
	about, err := server.About(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	source := data.NewServerSource(server, nil)
	keys := []data.Key{data.Definitions, data.APIServices, data.Terminating}
	for _, kind := range kinds.All() {
		keys = append(keys, data.Of(kind.Resource))
	}
	frame := data.Frame{Revision: 1, Now: about.At, About: about, State: data.Live}
	for _, key := range keys {
		listed, err := source.List(t.Context(), key)
		view := data.View{Key: key, State: data.Live, Objects: listed.Objects, Gaps: listed.Gaps, At: about.At, Revision: 1}
		if err != nil {
			view.State, view.Err = data.Failed, err
		}
		frame = frame.With(view)
	}
	return frame
}

// openFile opens a recording.
func openFile(path string) func(testing.TB) inspection.Server {
	return func(t testing.TB) inspection.Server {
		t.Helper()
		server, err := recorded.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		return server
	}
}

func kapiFrame(t testing.TB) data.Frame {
	t.Helper()
	return frameOf(t, kapiFile, openFile(kapiFile))
}

func foreignFrame(t testing.TB) data.Frame {
	t.Helper()
	return frameOf(t, foreignFile, openFile(foreignFile))
}

// troubled is a server on which nothing is well, among names in all scripts.
func troubled(t testing.TB) *joinedtest.Server {
	t.Helper()
	lab := joinedtest.Lab(t)
	recording := openFile(kapiFile)(t)
	for _, kind := range kinds.All() {
		if len(lab.Objects[kind.Resource]) > 0 {
			continue
		}
		listing, err := recording.List(t.Context(), kind, inspection.Query{})
		if err != nil {
			t.Fatal(err)
		}
		lab.Objects[kind.Resource] = listing.Objects
	}
	since := metav1.NewMicroTime(lab.Facts.StartedAt.Add(2 * time.Second))
	moveBoot(joinedtest.Of[*v1alpha1.BootStep](lab, "bootsteps"), lab.Facts.StartedAt)
	breakHooks(joinedtest.Of[*v1alpha1.PostStartHook](lab, "poststarthooks"), since)
	for i, check := range joinedtest.Of[*v1alpha1.HealthCheck](lab, "healthchecks") {
		if i%7 == 3 {
			check.Status.State, check.Status.Since, check.Status.LastErrorAt = v1alpha1.HealthFailed, &since, &since
			check.Status.LastError = "dialing 127.0.0.1:2379: \x1b[31mconnection refused\x1b[0m\nרגע שבור 你好"
		}
	}
	for _, member := range joinedtest.Of[*v1alpha1.EtcdMember](lab, "etcdmembers") {
		full := metav1.NewMicroTime(lab.Facts.At.Add(40 * time.Minute))
		member.Status.Quota, member.Status.DBSize, member.Status.DBSizeInUse = 2<<30, 2<<30-90<<20, 1<<30
		member.Status.BytesPerHour, member.Status.NoSpaceAt, member.Status.Alarms = 130<<20, &full, []string{"NOSPACE"}
	}
	for i, trace := range joinedtest.Of[*v1alpha1.RequestTrace](lab, "requesttraces") {
		strange := strangers[i%len(strangers)]
		if trace.Spec.User == nil {
			trace.Spec.User = &v1alpha1.RequestUser{}
		}
		trace.Spec.User.Name, trace.Spec.UserAgent = strange, strange+"/1.0"
		trace.Spec.Path += "/" + strange
	}
	for i, controller := range []string{"garbage-collector", "花子-controller", "بطيء"} {
		c := &v1alpha1.Controller{}
		c.Name, c.Status.QueueDepth, c.Status.Retries = controller, int64(i*700), int64(i*30)
		c.Spec.Enabled, c.Status.LastError = true, strangers[i]
		c.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionRunning, Status: metav1.ConditionTrue, Reason: v1alpha1.ControllerRunning}}
		c.SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind("Controller"))
		lab.Objects["controllers"] = append(lab.Objects["controllers"], c)
	}
	for _, each := range lab.CRDs {
		if each.Name == "gadgets.lab.example" {
			for i := range each.Status.Conditions {
				each.Status.Conditions[i].Message += " e\u0301le\u0300ve שלום 你好\u202e"
			}
		}
	}
	return lab
}

// strangers are names that break what counts bytes, or prints what it is given.
var strangers = []string{
	"花子", "e\u0301milie", "שלום", "مرحبا", "a\x1b[2Jb", "tab\there", "line\nbreak", "👩‍👩‍👧", "\u202eevil", "\x00\x07\x7f",
	"very-long-name-that-goes-on-and-on-and-on-until-nobody-wants-to-read-it-any-more-and-then-some-花子花子花子花子",
}

func breakHooks(hooks []*v1alpha1.PostStartHook, since metav1.MicroTime) {
	for i, hook := range hooks {
		switch i % 9 {
		case 2:
			hook.Status.State, hook.Status.Error = v1alpha1.RunFailed, "waiting for 花子: שלום\x07 deadline exceeded"
		case 4:
			hook.Status.State, hook.Status.FinishedAt, hook.Status.StartedAt = v1alpha1.RunRunning, nil, &since
			hook.Status.Stack = "goroutine 7 [select]:\nexample.com/lab.(*Hook).Wait(0xc000)\n\t/src/hook.go:17 +0x1d"
		}
	}
}

// troubledFrame is a frame of the troubled server.
func troubledFrame(t testing.TB) data.Frame {
	t.Helper()
	return frameOf(t, "troubled", func(t testing.TB) inspection.Server { t.Helper(); return troubled(t) })
}

// samples are two minutes of a busy server.
func samples(now time.Time) []data.Sample {
	all := make([]data.Sample, 120)
	for i := range all {
		all[i] = data.Sample{
			At: now.Add(time.Duration(i-len(all)+1) * time.Second), Requests: float64(20 + (i*37)%90), Failed: float64(i % 5),
			P99: time.Duration(5+(i*13)%60) * time.Millisecond, InFlight: int64(i % 11),
		}
	}
	return all
}

// In other states, with what makes them.
var (
	errForbidden    = fault.WithHint(apierrors.NewForbidden(schema.GroupResource{Group: v1alpha1.GroupName, Resource: "filters"}, "", errors.New(`user "花子" cannot list it`)), "bind ClusterRole kapi:inspect to the user")
	errUnauthorized = fault.WithHint(apierrors.NewUnauthorized("the token has expired"), "log in again; what is shown stays")
	errRefused      = fault.WithHint(&net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}, "is the server running?")
)

// allIn returns a frame with all its views in a state; the objects stay where keep.
func allIn(frame data.Frame, state data.State, err error, keep bool) data.Frame {
	for view := range frame.Views() {
		view.State, view.Err = state, err
		view.Revision++
		if !keep {
			view.Objects = nil
		}
		if state == data.Absent {
			view.Gaps = []inspection.Gap{{Reason: "this server does not say it"}}
		}
		frame = frame.With(view)
	}
	frame.Revision++
	if state == data.Stale {
		frame.State, frame.Err, frame.Retry = data.Stale, err, frame.Now.Add(3*time.Second)
	}
	return frame
}

// quiet is a source that never has anything: frames are fed to the application by
// the test.
type quiet struct{ about inspection.About }

func newQuiet(about inspection.About) quiet { return quiet{about} }

func (q quiet) About(context.Context) (inspection.About, error) { return q.about, nil }

func (q quiet) List(ctx context.Context, _ data.Key) (data.Listed, error) {
	<-ctx.Done()
	return data.Listed{}, ctx.Err()
}

func (q quiet) Watch(ctx context.Context, _ data.Key, _ string) (watch.Interface, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// moveBoot moves the start of another server to that of this one.
func moveBoot(steps []*v1alpha1.BootStep, startedAt time.Time) {
	if len(steps) == 0 {
		return
	}
	by := startedAt.Sub(steps[0].Spec.BootedAt.Time)
	move := func(at *metav1.MicroTime) *metav1.MicroTime {
		if at == nil {
			return nil
		}
		moved := metav1.NewMicroTime(at.Add(by))
		return &moved
	}
	for _, step := range steps {
		step.Spec.BootedAt = *move(&step.Spec.BootedAt)
		step.Status.StartedAt, step.Status.ReadyAt = move(step.Status.StartedAt), move(step.Status.ReadyAt)
	}
}

// changing is a source that has one frame after the other: it goes to the next one
// when it is told to, and the hub lists again then.
type changing struct {
	frames []data.Frame
	lock   sync.Mutex
	at     int
	// err is what everything fails with; nil is that the server is there.
	err error
}

func (c *changing) current() (data.Frame, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	return c.frames[c.at], c.err
}

func (c *changing) set(at int, err error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.at, c.err = at, err
}

func (c *changing) About(context.Context) (inspection.About, error) {
	frame, err := c.current()
	return frame.About, err
}

func (c *changing) List(_ context.Context, key data.Key) (data.Listed, error) {
	frame, err := c.current()
	view := frame.View(key)
	return data.Listed{Objects: view.Objects, Columns: view.Columns, Gaps: view.Gaps, ResourceVersion: "1"}, err
}

// Watch says that nothing changes by itself.
func (c *changing) Watch(context.Context, data.Key, string) (watch.Interface, error) {
	return nil, fault.Usagef("it does not change by itself")
}
