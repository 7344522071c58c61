package data

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/client/inspection/recorded"
	"github.com/kapi-dev/kapi/internal/fault"
)

var update = flag.Bool("update", false, "write the golden files")

// looks is what the tests compare of a frame.
func looks(t *testing.T, frame Frame) string {
	t.Helper()
	type look struct {
		State   string
		Err     string
		Hint    string
		Columns []Column
		Gaps    []inspection.Gap
		Objects []json.RawMessage
	}
	all := map[string]look{"connection": {State: frame.State.String()}}
	for key, view := range frame.views {
		one := look{State: view.State.String(), Columns: view.Columns, Gaps: view.Gaps, Hint: fault.Hint(view.Err)}
		if view.Err != nil {
			one.Err = view.Err.Error()
		}
		for _, object := range view.Objects {
			raw, err := encoded(object)
			if err != nil {
				t.Fatal(err)
			}
			one.Objects = append(one.Objects, raw)
		}
		all[nameOf(key)] = one
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var (
	secretKey = Key{Resource: schema.GroupVersionResource{Version: "v1", Resource: "secrets"}, Namespace: "default", Name: "s"}
	allKeys   = []Key{filtersKey, tracesKey, checksKey, podsKey, secretKey, Definitions, APIServices}
)

// script is ten seconds in which everything happens.
func script(server *fake) {
	server.columns = []Column{{Name: "Name", Type: "string"}, {Name: "Ready", Type: "string", Wide: true}}
	row := func(name, ready string) *Row {
		r := &Row{Cells: []any{name, ready}}
		r.Name, r.Namespace = name, "default"
		r.Annotations = map[string]string{"kubectl.kubernetes.io/last-applied-configuration": "{token}"}
		return r
	}
	server.send(filtersKey, watch.Added, filter("panic-recovery", 0, 1))
	server.send(filtersKey, watch.Added, filter("authentication", 1, 1))
	server.send(podsKey, watch.Added, row("a", "0/1"))
	server.send(secretKey, watch.Added, secret())
	definition := &apiextensionsv1.CustomResourceDefinition{}
	definition.Name = "widgets.example.com"
	definition.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	definition.Annotations = map[string]string{"a": "b"}
	server.send(Definitions, watch.Added, definition)
	service := &apiregistrationv1.APIService{Spec: apiregistrationv1.APIServiceSpec{CABundle: []byte("hunter2")}}
	service.Name = "v1.example.com"
	server.send(APIServices, watch.Added, service)
	server.set(checksKey, errForbidden)
	time.Sleep(2 * time.Second)
	server.send(filtersKey, watch.Modified, filter("authentication", 1, 20))
	for i := range 5 {
		one := trace(i, time.Now(), time.Duration(i)*time.Millisecond)
		one.Spec.Path = "/api/v1/pods"
		server.send(tracesKey, watch.Added, one)
		time.Sleep(100 * time.Millisecond)
	}
	server.send(podsKey, watch.Added, row("b", "1/1"))
	time.Sleep(time.Second)
	server.send(podsKey, watch.Deleted, row("a", "0/1"))
	time.Sleep(500 * time.Millisecond)
	server.fail(errRefused)
	time.Sleep(3 * time.Second)
	server.fail(nil)
	server.send(filtersKey, watch.Modified, filter("panic-recovery", 0, 7))
	time.Sleep(3 * time.Second)
}

func secret() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret",
		"metadata": map[string]any{"name": "s", "namespace": "default", "annotations": map[string]any{"a": "hunter2"}},
		"data":     map[string]any{"password": "aHVudGVyMg=="}, "stringData": map[string]any{"other": "hunter2"},
		"nested": []any{map[string]any{"caBundle": "aHVudGVyMg=="}},
	}}
}

// record runs the script and returns the recording, and how frames looked at each
// half second of it, unless it has just changed: a recording tells times in
// milliseconds, and what is tried again is so after a time that is drawn.
func record(t *testing.T) (file []byte, frames map[time.Duration]string) {
	t.Helper()
	var out bytes.Buffer
	frames = map[time.Duration]string{}
	synctest.Test(t, func(t *testing.T) {
		server := newFake()
		recorder := NewRecorder(&out)
		hub := NewHub(HubOptions{Source: server, Base: allKeys, Recorder: recorder, Explain: func(err error) error {
			if errors.Is(err, errForbidden) {
				return fault.WithHint(err, "bind ClusterRole kapi:inspect")
			}
			return err
		}})
		synctest.Wait()
		begun := time.Now()
		done := make(chan struct{})
		go func() {
			defer close(done)
			script(server)
		}()
		time.Sleep(50 * time.Millisecond) // between two things that happen
		for time.Since(begun) < 10*time.Second {
			synctest.Wait()
			at, look := time.Since(begun), looks(t, hub.Frame())
			time.Sleep(time.Millisecond)
			synctest.Wait()
			if looks(t, hub.Frame()) == look {
				frames[at] = look
			}
			time.Sleep(499 * time.Millisecond)
		}
		<-done
		hub.Close()
		if err := recorder.Close(); err != nil {
			t.Error(err)
		}
	})
	return out.Bytes(), frames
}

func write(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func zipped(t *testing.T, content []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// What is played looks at each time as it did.
func TestReplay(t *testing.T) {
	file, frames := record(t)
	if len(frames) < 10 {
		t.Fatalf("it looked the same for a millisecond at %d times only", len(frames))
	}
	for _, secret := range []string{"hunter2", "aHVudGVyMg", "last-applied"} {
		if bytes.Contains(file, []byte(secret)) {
			t.Errorf("%q is in the recording", secret)
		}
	}
	for name, content := range map[string][]byte{"run.jsonl": file, "run.jsonl.gz": zipped(t, file)} {
		path := write(t, name, content)
		synctest.Test(t, func(t *testing.T) {
			replay, err := OpenReplay(path)
			if err != nil {
				t.Fatal(err)
			}
			hub := NewHub(HubOptions{Source: replay, Base: allKeys})
			defer hub.Close()
			defer replay.Close()
			synctest.Wait()
			begun := time.Now()
			time.Sleep(50 * time.Millisecond)
			for time.Since(begun) < 10*time.Second {
				synctest.Wait()
				at := time.Since(begun)
				if got, want := looks(t, hub.Frame()), frames[at]; want != "" && got != want {
					t.Fatalf("after %s it looks like\n%s\nand was\n%s", at, got, want)
				}
				time.Sleep(500 * time.Millisecond)
			}
			time.Sleep(time.Hour)
			frame := hub.Frame()
			if frame.State != Live || frame.Err != nil || !strings.Contains(frame.About.RecordedFrom, "at its end") {
				t.Errorf("at the end it is %v (%v) from %q", frame.State, frame.Err, frame.About.RecordedFrom)
			}
			if want := replay.started.Add(replay.Length()); !replay.Clock().Equal(want) {
				t.Errorf("its clock shows %s, want %s", replay.Clock(), want)
			}
		})
	}
}

// The form of the file is a promise: recordings are sent around and kept.
func TestRecordingGolden(t *testing.T) {
	var out bytes.Buffer
	recorder := NewRecorder(&out)
	begun := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(ms int) time.Time { return begun.Add(time.Duration(ms) * time.Millisecond) }
	about := inspection.About{Type: inspection.Kapi, Address: "https://127.0.0.1:6443", KubernetesVersion: "v1.37.2", StartedAt: at(-1000), At: at(0)}
	recorder.about(at(0), about)
	about.At = at(1)
	recorder.about(at(1), about) // nothing new
	row := &Row{Cells: []any{"a", 1.0, nil}}
	row.Name, row.Annotations = "a", map[string]string{"token": "hunter2"}
	recorder.list(at(2), podsKey, Listed{Columns: []Column{{Name: "Name", Type: "string"}, {Name: "N", Type: "integer", Wide: true}}, Objects: []kinds.Object{row}, ResourceVersion: "7"})
	recorder.list(at(3), checksKey, Listed{Gaps: []inspection.Gap{{Column: "V2", Reason: "it is off"}}})
	recorder.event(at(10), checksKey, watch.Added, check("漢字"))
	recorder.event(at(12), checksKey, watch.Deleted, check("漢字"))
	recorder.event(at(13), secretKey, watch.Modified, secret())
	line := &LogLine{At: at(14), Level: "info", Text: "chain     Authorization: Bearer abcdefghijk1234"}
	line.Name = "0000000001"
	recorder.event(at(14), Logs, watch.Added, line)
	for _, ms := range []int{1000, 2000} {
		recorder.state(at(ms), checksKey, Stale, fault.WithHint(errRefused, "start it"), true)
	}
	recorder.state(at(3000), podsKey, Stale, nil, false)
	if err := recorder.Close(); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "recording.jsonl")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// What is whole is played, and it is said what is not.
func TestBrokenRecordings(t *testing.T) {
	file, _ := record(t)
	lines := bytes.SplitAfter(file, []byte("\n"))
	packed := zipped(t, file)
	for name, test := range map[string]struct {
		content []byte
		err     string
		all     bool
	}{
		"whole":              {file, "", true},
		"without its end":    {file[:len(file)-20], "cut off in line", true},
		"a damaged line":     {bytes.Join([][]byte{lines[0], lines[1], []byte("{\"at\":1,\n"), lines[2]}, nil), "damaged in line 3", false},
		"packed, cut off":    {packed[:len(packed)-30], "cut off in line", true},
		"a newer line":       {append(bytes.Clone(file), "{\"at\":1,\"sound\":\"beep\"}\n"...), "", true},
		"only a header":      {lines[0], "", false},
		"header, no newline": {bytes.TrimSpace(lines[0]), "cut off in line 1", false},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, "run.jsonl", test.content)
			replay, err := OpenReplay(path)
			if err != nil {
				t.Fatal(err)
			}
			if got := replay.Err(); (got == nil) != (test.err == "") || got != nil && !strings.Contains(got.Error(), test.err) {
				t.Errorf("error %v, want %q", got, test.err)
			}
			synctest.Test(t, func(t *testing.T) {
				replay, err := OpenReplay(path)
				if err != nil {
					t.Fatal(err)
				}
				hub := NewHub(HubOptions{Source: replay, Base: []Key{filtersKey}})
				defer hub.Close()
				defer replay.Close()
				time.Sleep(time.Minute)
				frame := hub.Frame()
				if got := len(frame.View(filtersKey).Objects); (got == 2) != test.all {
					t.Errorf("%d filters, %v", got, frame.View(filtersKey).Err)
				}
				if test.err != "" && frame.About.RecordedFrom != replay.Err().Error() {
					t.Errorf("recorded from %q, want the error", frame.About.RecordedFrom)
				}
			})
		})
	}
}

func TestNoRecording(t *testing.T) {
	for name, content := range map[string]string{
		"empty":      "",
		"text":       "hello\nworld\n",
		"other JSON": `{"kind":"Pod"}`,
		"newer":      `{"kapi":"recording","version":2}` + "\n",
		"bad gzip":   "\x1f\x8bxx",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := OpenReplay(write(t, "x", []byte(content)))
			if fault.Code(err) != fault.CodeUsage || fault.Hint(err) == "" {
				t.Errorf("got %v, hint %q, want bad input with the way out", err, fault.Hint(err))
			}
		})
	}
	if _, err := OpenReplay(filepath.Join(t.TempDir(), "none")); fault.Code(err) != fault.CodeUsage {
		t.Errorf("got %v, want bad input", err)
	}
}

// A snapshot is shown as it is, at the time at which it was taken.
func TestReplaySnapshot(t *testing.T) {
	path := filepath.Join("..", "..", "internal", "client", "inspection", "recorded", "testdata")
	server, err := recorded.Open(snapshotIn(t, path))
	if err != nil {
		t.Fatal(err)
	}
	about, err := server.About(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		replay, err := OpenReplay(snapshotIn(t, path))
		if err != nil {
			t.Fatal(err)
		}
		hub := NewHub(HubOptions{Source: replay, Base: []Key{filtersKey, podsKey}})
		defer hub.Close()
		defer replay.Close()
		time.Sleep(time.Minute)
		frame := hub.Frame()
		if !frame.Now.Equal(about.At) || frame.State != Live || frame.About.RecordedFrom == "" {
			t.Errorf("it shows %s, %v, from %q", frame.Now, frame.State, frame.About.RecordedFrom)
		}
		if view := frame.View(filtersKey); view.State != Live {
			t.Errorf("filters are %v: %v", view.State, view.Err)
		}
		if view := frame.View(podsKey); view.State != Absent || fault.Hint(view.Err) == "" {
			t.Errorf("pods are %v: %v", view.State, view.Err)
		}
	})
}

func snapshotIn(t *testing.T, dir string) string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(all) == 0 {
		t.Fatalf("no snapshot in %s: %v", dir, err)
	}
	return all[0]
}

type full struct{ left int }

func (f *full) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errors.New("no space left on device")
	}
	return len(p), nil
}

// An error of the file ends the recording, and nothing else.
func TestRecorderFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		recorder := NewRecorder(&full{left: 10})
		recorder.event(time.Now(), checksKey, watch.Added, check("a"))
		if err := recorder.Err(); err != nil {
			t.Error(err)
		}
		time.Sleep(2 * time.Second)
		recorder.event(time.Now(), checksKey, watch.Added, check("b"))
		if err := recorder.Err(); err == nil {
			t.Error("no error, although nothing can be written")
		}
		if err := recorder.Close(); err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("got %v", err)
		}
	})
	var none *Recorder
	none.event(time.Now(), checksKey, watch.Added, check("a"))
	if err := errors.Join(none.Err(), none.Close()); err != nil {
		t.Error(err)
	}
}

func TestCreateRecording(t *testing.T) {
	for _, name := range []string{"a.jsonl", "a.jsonl.gz"} {
		path := filepath.Join(t.TempDir(), name)
		recorder, err := CreateRecording(path)
		if err != nil {
			t.Fatal(err)
		}
		recorder.list(time.Now(), checksKey, Listed{})
		recorder.about(time.Now(), inspection.About{Type: inspection.Kapi})
		if err := recorder.Close(); err != nil {
			t.Fatal(err)
		}
		replay, err := OpenReplay(path)
		if err != nil || replay.Err() != nil {
			t.Fatal(err, replay.Err())
		}
		if about, err := replay.About(t.Context()); err != nil || about.Type != inspection.Kapi {
			t.Errorf("got %+v, %v", about, err)
		}
		replay.Close()
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
		if _, err := CreateRecording(path); fault.Code(err) != fault.CodeUsage {
			t.Errorf("got %v, want that a file is not overwritten", err)
		}
	}
}

// Any object survives being written and read.
func TestEncoded(t *testing.T) {
	line := &LogLine{At: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC), Level: "error", Text: "\x1b[31m漢字"}
	line.Name = "1"
	row := &Row{PartialObjectMetadata: metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "ü"}}, Cells: []any{"a", nil, 1.0, true}}
	for key, object := range map[Key]interface{ GetName() string }{Logs: line, podsKey: row} {
		switch object := object.(type) {
		case *LogLine:
			raw, _ := encoded(object)
			back, err := decoded(key, raw)
			if got, ok := back.(*LogLine); err != nil || !ok || got.Text != object.Text || !got.At.Equal(object.At) || got.Level != object.Level || got.Name != "1" {
				t.Errorf("got %+v, %v", back, err)
			}
		case *Row:
			raw, _ := encoded(object)
			back, err := decoded(key, raw)
			if got, ok := back.(*Row); err != nil || !ok || !slices.Equal(got.Cells, object.Cells) || got.Name != "ü" {
				t.Errorf("got %+v, %v", back, err)
			}
		}
	}
	if object := (&unstructured.Unstructured{Object: map[string]any{"kind": "X", "metadata": map[string]any{"annotations": map[string]any{"a": "b"}}}}); true {
		if _, err := encoded(object); err != nil || object.GetAnnotations()["a"] != "b" {
			t.Errorf("the object itself was changed: %v, %v", object, err)
		}
	}
}
