package recorded

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path"

	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/fault"
)

// limits are what a file may hold at most, unpacked.
type limits struct {
	bytes int64
	items int
}

// most is far above a snapshot with 10,000 large definitions: a file that unpacks
// to more is not one that kapi has written.
func most() limits { return limits{bytes: 512 << 20, items: 1 << 20} }

const wayOut = `"kapi inspect snapshot > FILE" makes a snapshot, "kapi inspect bundle -o FILE.tgz" a bundle`

// Open reads a snapshot, or the one in a bundle, from a file. See Read.
func Open(name string) (*Server, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fault.WithHint(fault.Usagef("opening %s: %w", name, cause(err)), "name a file that exists and may be read; "+wayOut)
	}
	defer file.Close()
	return Read(file, name)
}

// Read reads a snapshot, or the one in a bundle, to its end; which of them it is
// it sees itself. name is what errors and About call it. What is no snapshot, is
// cut off, is of another version or too large is bad input, and the error names the
// byte; only a definition or APIService that is none is found when it is asked for. "-" is called stdin.
func Read(r io.Reader, name string) (*Server, error) {
	if name == "-" {
		name = "stdin"
	}
	return read(r, name, most())
}

func read(r io.Reader, name string, limit limits) (*Server, error) {
	start := bufio.NewReaderSize(&limited{r: r, left: limit.bytes}, 64<<10)
	plain, err := unpacked(start, limit)
	if err != nil {
		return nil, explained(err, name, limit)
	}
	d := newDocument(plain, limit.items)
	if err := d.read(); err != nil {
		return nil, explained(err, name, limit)
	}
	return d.server(name), nil
}

// unpacked finds the snapshot: the bytes as they are, or a file of an archive.
func unpacked(start *bufio.Reader, limit limits) (io.Reader, error) {
	// An error of Peek comes again where the file is read.
	if magic, _ := start.Peek(2); string(magic) != "\x1f\x8b" {
		return start, nil
	}
	zipped, err := gzip.NewReader(start)
	if err != nil {
		return nil, &formatError{"it begins like a .tgz and is none", err}
	}
	content := bufio.NewReader(&limited{r: zipped, left: limit.bytes})
	if first, err := content.Peek(1); err == nil && first[0] == '{' {
		return content, nil // a snapshot that somebody has packed by itself
	}
	archive := tar.NewReader(content)
	for {
		header, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil, &formatError{"it has no " + snapshotFile + "; its README.txt may say why", nil}
		case isCutOff(err), errors.Is(err, errTooLarge):
			return nil, err
		case err != nil:
			return nil, &formatError{"it is no bundle", err}
		case header.Typeflag == tar.TypeReg && path.Base(header.Name) == snapshotFile:
			return archive, nil
		}
	}
}

var (
	errTooLarge = errors.New("too large")
	errCutOff   = errors.New("it ends in the middle of")
)

// formatError is a file that is no snapshot that kapi can read.
type formatError struct {
	what  string
	cause error
}

func (b *formatError) Error() string {
	if b.cause == nil {
		return b.what
	}
	return b.what + ": " + b.cause.Error()
}

func (b *formatError) Unwrap() error { return b.cause }

func isCutOff(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, errCutOff)
}

// explained names the file, and what to do.
func explained(err error, name string, limit limits) error {
	var bad *formatError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errTooLarge):
		return fault.WithHint(fault.Usagef("%s is too large for a snapshot: more than %d MiB, or more than %d objects", name, limit.bytes>>20, limit.items), wayOut)
	case isCutOff(err):
		return fault.WithHint(fault.Usagef("%s is cut off: %w", name, err), "copy it once more, or take it again; "+wayOut)
	case errors.As(err, &bad):
		return fault.WithHint(fault.Usagef("%s can't be used: %w", name, err), wayOut)
	}
	return fault.WithHint(fault.Usagef("reading %s: %w", name, cause(err)), "name a file that can be read; "+wayOut)
}

// limited ends in an error, not in EOF, where there is more than there should be.
type limited struct {
	r    io.Reader
	left int64
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		if n, err := l.r.Read(make([]byte, 1)); n == 0 {
			return 0, err
		}
		return 0, errTooLarge
	}
	n, err := l.r.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	return n, err
}

// cause drops the name from an error of a file: it is told once, or is that of a
// temporary file, which says nothing to a reader.
func cause(err error) error {
	if pathError := (*os.PathError)(nil); errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
}

var _ inspection.Server = (*Server)(nil)
