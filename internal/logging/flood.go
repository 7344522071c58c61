package logging

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	// floodLimit is how often one warning is written within floodWindow.
	floodLimit  = 5
	floodWindow = 10 * time.Second
	// floodKeys bounds the memory: with more different warnings in a window
	// than this, the further ones are not counted but written.
	floodKeys = 256
)

// flood counts identical warnings. It has no goroutine: a count is told when
// the next line comes after the end of its window, or at a flush. Its user
// does the locking.
type flood struct {
	seen map[string]*repeats
	next time.Time // the earliest end of a window in seen
}

type repeats struct {
	began  time.Time
	shown  int
	hidden int
}

func newFlood() *flood { return &flood{seen: map[string]*repeats{}} }

// admit reports whether the line is to be written. line is without the time.
func (f *flood) admit(line string, now time.Time) bool {
	r, ok := f.seen[line]
	if !ok {
		if len(f.seen) >= floodKeys {
			return true
		}
		r = &repeats{began: now}
		f.seen[line] = r
		if end := now.Add(floodWindow); len(f.seen) == 1 || end.Before(f.next) {
			f.next = end
		}
	}
	if r.shown < floodLimit {
		r.shown++
		return true
	}
	r.hidden++
	return false
}

// due ends the windows that are over (or all) and returns their summaries,
// without the time, in the order in which the windows began.
func (f *flood) due(now time.Time, all bool) []string {
	if len(f.seen) == 0 || !all && now.Before(f.next) {
		return nil
	}
	type ended struct {
		began time.Time
		text  string
	}
	var done []ended
	f.next = now.Add(floodWindow)
	for line, r := range f.seen {
		if end := r.began.Add(floodWindow); !all && now.Before(end) {
			if end.Before(f.next) {
				f.next = end
			}
			continue
		}
		delete(f.seen, line)
		if r.hidden > 0 {
			first, _, _ := strings.Cut(line, "\n")
			done = append(done, ended{r.began, fmt.Sprintf("%s … repeated %d more times\n", first, r.hidden)})
		}
	}
	slices.SortFunc(done, func(a, b ended) int {
		if c := a.began.Compare(b.began); c != 0 {
			return c
		}
		return strings.Compare(a.text, b.text)
	})
	texts := make([]string, len(done))
	for i, d := range done {
		texts[i] = d.text
	}
	return texts
}
