package store

import (
	"fmt"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// numbered is an entry that is kept for longer if it is a multiple of ten.
type numbered int

func (n numbered) Name() string { return fmt.Sprint(int(n)) }

func (n numbered) Object() Object {
	object := &metav1.PartialObjectMetadata{}
	object.Name = n.Name()
	return object
}

func keepTens(entry Entry) bool { return entry.(numbered)%10 == 0 }

func keptNames(t *testing.T, l *Log) []string {
	t.Helper()
	objects, _, err := l.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, 0, len(objects))
	for _, object := range objects {
		names = append(names, object.GetName())
	}
	if len(names) != l.Len() || len(l.Entries()) != l.Len() {
		t.Errorf("listed %d, entries %d, length %d", len(names), len(l.Entries()), l.Len())
	}
	return names
}

func TestLogKeepsChosenEntriesForLonger(t *testing.T) {
	for _, test := range []struct {
		capacity, kept, appended int
		want                     []string
	}{
		{3, 2, 3, []string{"1", "2", "3"}},
		{3, 2, 12, []string{"10", "11", "12"}}, // not twice while it is among the last
		{3, 2, 14, []string{"10", "12", "13", "14"}},
		{3, 2, 25, []string{"10", "20", "23", "24", "25"}},
		{3, 2, 45, []string{"30", "40", "43", "44", "45"}},
		{3, 0, 45, []string{"43", "44", "45"}},
		{0, 2, 45, []string{"30", "40"}},
		{0, 0, 45, []string{}},
	} {
		l := NewLog(LogOptions{Revision: NewRevision(time.Unix(1, 0)), Capacity: test.capacity, Buffer: 10, Keep: keepTens, Kept: test.kept})
		for i := range test.appended {
			l.Append(numbered(i + 1))
		}
		if got := keptNames(t, l); !slices.Equal(got, test.want) {
			t.Errorf("capacity %d, kept %d, after %d: %v, want %v", test.capacity, test.kept, test.appended, got, test.want)
		}
		for _, name := range test.want {
			if object, err := l.Get(t.Context(), name); err != nil || object == nil {
				t.Errorf("getting %s: %v, %v", name, object, err)
			}
		}
	}
}

// A watch that resumes misses nothing, or is told that it would.
func TestLogResumesOverKeptEntries(t *testing.T) {
	l := NewLog(LogOptions{Revision: NewRevision(time.Unix(0, 0)), Capacity: 3, Buffer: 10, Keep: keepTens, Kept: 2})
	for i := range 14 {
		l.Append(numbered(i + 1)) // the revision is the number
	}
	// 11 has fallen out: after it, 12 to 14 are all; after 9, it would be missing.
	for from, want := range map[uint64]int{11: 3, 12: 2, 14: 0} {
		w, err := l.Watch(t.Context(), WatchOptions{From: from})
		if err != nil {
			t.Fatalf("watching from %d: %v", from, err)
		}
		if got := len(w.Next().Events); got != want {
			t.Errorf("from %d come %d events, want %d", from, got, want)
		}
		w.Stop()
	}
	for _, from := range []uint64{1, 9, 10} {
		if w, err := l.Watch(t.Context(), WatchOptions{From: from}); err == nil {
			t.Errorf("a watch from %d has begun with %v", from, w.Next().Events)
			w.Stop()
		}
	}
	// All that has fallen out was chosen: nothing is missing after 0.
	tens := NewLog(LogOptions{Revision: NewRevision(time.Unix(0, 0)), Capacity: 1, Buffer: 10, Keep: keepTens, Kept: 5})
	tens.Append(numbered(10))
	tens.Append(numbered(20))
	w, err := tens.Watch(t.Context(), WatchOptions{From: 1})
	if err != nil || len(w.Next().Events) != 1 {
		t.Errorf("resuming after a kept entry: %v", err)
	}
}
