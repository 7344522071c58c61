package theme

import (
	"bytes"
	"os"
)

// Input is a terminal that is read without the answers to what DetectBackground has
// asked: they may come at any time after it, and would be read as keys. It is a
// file in everything else, as far as waiting for it goes.
type Input struct {
	*os.File
	answers answers
	// keys is what has been taken out of the file and not yet been read.
	keys []byte
}

// Input returns in without the answers that are still to come, and with what was
// typed while the terminal was asked before it. Who waits for the file itself to be
// readable gets that with the next key only; taking Typed from d and feeding it
// otherwise avoids this.
func (d Detected) Input(in *os.File) *Input {
	return &Input{File: in, answers: answers{attributes: !d.Pending, rest: d.rest}, keys: bytes.Clone(d.Typed)}
}

// Read reads keys. It returns no bytes and no error where there was an answer and
// nothing else.
func (i *Input) Read(p []byte) (int, error) {
	if len(i.keys) > 0 || len(p) == 0 {
		return i.take(p), nil
	}
	if i.answers.attributes {
		return i.File.Read(p)
	}
	n, err := i.File.Read(p)
	i.answers.read(p[:n])
	if key(i.answers.rest) || err != nil || i.answers.attributes {
		i.answers.typed, i.answers.rest = append(i.answers.typed, i.answers.rest...), nil
	}
	i.keys, i.answers.typed = i.answers.typed, nil
	return i.take(p), err
}

func (i *Input) take(p []byte) int {
	n := copy(p, i.keys)
	i.keys = i.keys[n:]
	return n
}
