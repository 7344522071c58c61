package data

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/kapi-dev/kapi/internal/client/inspection/recorded"
	"github.com/kapi-dev/kapi/internal/fault"
)

const (
	// longestHeader is how far a file is read to see what it is.
	longestHeader = 4 << 10
	// mostRecorded is how large a recording may be, unpacked: it is held in memory.
	mostRecorded = 1 << 30
)

const recordingsCome = `"kapi tui --record FILE" makes a recording, "kapi inspect snapshot > FILE" a snapshot`

// OpenReplay opens a recording, packed or not, or what "kapi inspect snapshot" and
// "kapi inspect bundle" have written. Of a recording that is cut off or damaged what
// is whole is played, and Replay.Err says what is not. Any other file is bad input.
func OpenReplay(path string) (*Replay, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fault.WithHint(fault.Usagef("opening a recording: %w", err), "name a file that exists and may be read; %s", recordingsCome)
	}
	defer file.Close()
	content, err := unpacked(file)
	if err != nil {
		return openStill(path)
	}
	// What can't be read on is found out below.
	start, _ := content.Peek(longestHeader)
	var header headerLine
	if first, _, _ := bytes.Cut(start, []byte("\n")); json.Unmarshal(first, &header) != nil || header.Kapi != recordingMark {
		return openStill(path)
	}
	if header.Version != recordingVersion {
		return nil, fault.WithHint(fault.Usagef("%s is a recording of version %d, and this kapi plays version %d", path, header.Version, recordingVersion),
			"play it with the kapi that made it")
	}
	r := &Replay{name: path, started: header.StartedAt, feeds: map[Key][]played{}, ended: make(chan struct{})}
	if err := r.read(content); err != nil {
		return nil, err
	}
	return r, nil
}

// unpacked returns what is in a file, which may be packed.
func unpacked(file io.Reader) (*bufio.Reader, error) {
	plain := bufio.NewReaderSize(file, 64<<10)
	if magic, _ := plain.Peek(2); string(magic) != "\x1f\x8b" {
		return plain, nil
	}
	zipped, err := gzip.NewReader(plain)
	if err != nil {
		return nil, err
	}
	return bufio.NewReaderSize(zipped, 64<<10), nil
}

// openStill opens what never changes.
func openStill(path string) (*Replay, error) {
	server, err := recorded.Open(path)
	if err != nil {
		return nil, fault.WithHint(err, "%s; %s", fault.Hint(err), `"kapi tui --record FILE" makes a recording`)
	}
	about, err := server.About(context.Background())
	if err != nil {
		return nil, err
	}
	return &Replay{name: path, still: NewServerSource(server, nil), taken: about.At}, nil
}

// read takes line after line, as far as they are whole.
func (r *Replay) read(content *bufio.Reader) error {
	size := 0
	for number := 1; ; number++ {
		raw, err := content.ReadBytes('\n')
		if size += len(raw); size > mostRecorded {
			return fault.WithHint(fault.Usagef("%s is too large to be played: more than %d MiB", r.name, mostRecorded>>20), "record for a shorter time")
		}
		switch {
		case errors.Is(err, io.EOF) && len(raw) == 0:
			return nil
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			r.err = fmt.Errorf("%s is cut off in line %d", r.name, number)
			return nil
		case err != nil:
			r.err = fmt.Errorf("%s can't be read after line %d: %w", r.name, number-1, err)
			return nil
		}
		if number == 1 {
			continue // the header
		}
		if err := r.take(number, raw); err != nil {
			r.err = fmt.Errorf("%s is damaged in line %d: %w", r.name, number, err)
			return nil
		}
	}
}

// take adds a line. Lines of a newer kapi, which say nothing that is known, are
// passed over.
func (r *Replay) take(number int, raw []byte) error {
	line := played{number: number}
	if err := json.Unmarshal(raw, &line.line); err != nil {
		return err
	}
	line.at = max(r.length, time.Duration(line.line.At)*time.Millisecond) // time does not go back
	r.length = line.at
	switch known := line.line; {
	case known.About != nil:
		r.abouts = append(r.abouts, line)
	case known.Feed != nil && (known.List != nil || known.Event != "" || known.State != ""):
		key := known.Feed.key()
		r.feeds[key] = append(r.feeds[key], line)
	}
	return nil
}
