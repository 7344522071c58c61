package boot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/kapi-dev/kapi/internal/datadir"
)

// journalQueue is how many lines may wait for the disk. A start writes a few
// dozen; what does not fit is dropped, as is fit for a disk that hangs.
const journalQueue = 256

// journal appends lines to a file in a goroutine of its own.
type journal struct {
	entries chan entry
	stop    chan struct{}
	done    chan struct{}
	err     error // of the first write or sync that failed; read after done
}

// entry is a line, a wish to have what was appended before on disk, or both.
type entry struct {
	line   []byte
	sync   bool
	synced chan<- struct{}
}

// openJournal opens the file for appending and starts the goroutine, which first
// replaces the content if rewrite is set.
func openJournal(path string, content []byte, rewrite bool) (*journal, error) {
	j := &journal{entries: make(chan entry, journalQueue), stop: make(chan struct{}), done: make(chan struct{})}
	if !rewrite {
		f, err := openAppend(path)
		if err != nil {
			return nil, fmt.Errorf("opening the record of starts: %w", err)
		}
		go j.run(f)
		return j, nil
	}
	go func() {
		// Synced, so it takes its time: not in the way of the start.
		err := datadir.WriteFileAtomic(path, content, 0o600)
		var f *os.File
		if err == nil {
			f, err = openAppend(path)
		}
		j.note(err)
		j.run(f)
	}()
	return j, nil
}

func openAppend(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
}

// append queues a line; it never blocks.
func (j *journal) append(line []byte) { j.offer(entry{line: line}) }

// requestSync asks for a sync, and does not wait for it.
func (j *journal) requestSync() { j.offer(entry{sync: true}) }

func (j *journal) offer(e entry) {
	select {
	case j.entries <- e:
	default:
	}
}

// flush returns when all that was appended before is on disk, or ctx is done.
func (j *journal) flush(ctx context.Context) {
	synced := make(chan struct{})
	select {
	case j.entries <- entry{sync: true, synced: synced}:
	case <-j.done:
		return
	case <-ctx.Done():
		return
	}
	select {
	case <-synced:
	case <-j.done:
	case <-ctx.Done():
	}
}

// close writes what waits, and closes the file.
func (j *journal) close(ctx context.Context) error {
	close(j.stop)
	select {
	case <-j.done:
		if j.err != nil {
			return fmt.Errorf("writing the record of starts: %w", j.err)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("writing the record of starts: %w", context.Cause(ctx))
	}
}

// run writes until stop; f is nil when there is no file to write to.
func (j *journal) run(f *os.File) {
	defer close(j.done)
	for {
		select {
		case e := <-j.entries:
			j.write(f, e)
		case <-j.stop:
			j.drain(f)
			if f != nil {
				j.note(errors.Join(f.Sync(), f.Close()))
			}
			return
		}
	}
}

func (j *journal) drain(f *os.File) {
	for {
		select {
		case e := <-j.entries:
			j.write(f, e)
		default:
			return
		}
	}
}

func (j *journal) write(f *os.File, e entry) {
	if f != nil && len(e.line) > 0 {
		_, err := f.Write(e.line)
		j.note(err)
	}
	if f != nil && e.sync {
		j.note(f.Sync())
	}
	if e.synced != nil {
		close(e.synced)
	}
}

func (j *journal) note(err error) {
	if j.err == nil {
		j.err = err
	}
}
