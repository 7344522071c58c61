package handlerchain

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"reflect"

	"k8s.io/apiserver/pkg/endpoints/responsewriter"
)

// observeWriter returns w as the filters get it: with the same abilities, and with
// the status, the bytes and the taking over of the connection noted.
func observeWriter(w http.ResponseWriter, record *Record) http.ResponseWriter {
	plain := plainWriter{ResponseWriter: w, record: record}
	if _, ok := w.(responsewriter.CloseNotifierFlusher); !ok {
		return &plain
	}
	// Of an HTTP/1.1 or HTTP/2 server: the wrapper shows what w can.
	return responsewriter.WrapForHTTP1Or2(&serverWriter{plain})
}

type plainWriter struct {
	http.ResponseWriter
	record *Record
}

// Unwrap returns the server's writer, for http.ResponseController and upstream.
func (w *plainWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader begins the answer, except with an informational status (1xx) other
// than 101, which may be followed by more.
func (w *plainWriter) WriteHeader(code int) {
	if code >= http.StatusOK || code == http.StatusSwitchingProtocols {
		w.begin(code)
	}
	w.ResponseWriter.WriteHeader(code)
}

// Write writes a part of the body, and begins the answer with 200 if nobody did.
func (w *plainWriter) Write(p []byte) (int, error) {
	w.begin(http.StatusOK)
	n, err := w.ResponseWriter.Write(p)
	w.record.written.Add(int64(n))
	return n, err
}

// begin notes the status of the answer: the first one is what the client gets.
func (w *plainWriter) begin(code int) {
	if w.record.code.Load() == 0 {
		w.record.code.CompareAndSwap(0, int32(code))
	}
}

type serverWriter struct{ plainWriter }

// Flush sends what was written, and begins the answer with 200 if nobody did.
func (w *serverWriter) Flush() {
	w.begin(http.StatusOK)
	if flusher, ok := w.ResponseWriter.(http.Flusher); ok {
		flusher.Flush()
	}
}

// Hijack takes the connection over.
func (w *serverWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	hijacker, ok := w.ResponseWriter.(http.Hijacker)
	if !ok {
		return nil, nil, http.ErrNotSupported
	}
	conn, rw, err := hijacker.Hijack()
	if err == nil {
		w.begin(http.StatusSwitchingProtocols)
		w.record.hijack.Store(true)
	}
	return conn, rw, err
}

// countedBody counts what is read of a request's body.
type countedBody struct {
	io.ReadCloser
	record *Record
}

// Read reads a part of the body.
func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.record.read.Add(int64(n))
	return n, err
}

// cutOff tells whether the timeout filter has taken w away from those further in. From
// then on it hands out an empty header each time it is asked for one, instead of the
// one of the answer: there is no other sign that can be read without writing.
// Source: baseTimeoutWriter.Header in k8s.io/apiserver/pkg/server/filters/timeout.go.
func cutOff(w http.ResponseWriter) bool {
	first, second := w.Header(), w.Header()
	return reflect.ValueOf(first).UnsafePointer() != reflect.ValueOf(second).UnsafePointer()
}
