package recorded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// spool keeps the parts of a bundle one after the other until their sizes are
// known, which an archive has to tell beforehand.
type spool struct {
	file interface {
		io.Writer
		io.ReaderAt
	}
	// remove closes and deletes it.
	remove func()
	// err is the first error of the file, which ends the bundle; that of a part does not.
	err error
}

func newSpool(dir string) (*spool, error) {
	file, err := os.CreateTemp(dir, ".kapi-bundle-*.kapi-tmp") // mode 0600
	if err != nil {
		return nil, cause(err)
	}
	// Without its name nothing stays behind, however the process ends. A system that
	// does not allow that deletes it at the end.
	unnamed := os.Remove(file.Name()) == nil
	return &spool{file: file, remove: func() {
		_ = file.Close() // it has been read, or is not wanted
		if !unnamed {
			_ = os.Remove(file.Name()) // at worst a temporary file stays
		}
	}}, nil
}

// add writes one part, without what looks like a credential. Its error is the
// part's own.
func (s *spool) add(ctx context.Context, part Part) (File, error) {
	if part.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, part.Timeout, errNoAnswer)
		defer cancel()
	}
	counted := &counting{w: s.file}
	clean := newRedactor(counted)
	err := part.Write(ctx, clean)
	if err != nil && errors.Is(context.Cause(ctx), errNoAnswer) {
		err = fmt.Errorf("%w within %s", errNoAnswer, part.Timeout)
	}
	s.err = clean.Close()
	return File{Name: part.Name, Bytes: counted.bytes, About: part.About}, err
}

var errNoAnswer = errors.New("no complete answer")

type counting struct {
	w     io.Writer
	bytes int64
}

func (c *counting) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.bytes += int64(n)
	return n, err
}
