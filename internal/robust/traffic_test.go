package robust

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// wire is an HTTP client without anybody in between who tries again or explains.
type wire struct {
	http  *http.Client
	url   string
	http1 bool
}

// newWire returns one with connections of its own.
func (s *server) newWire(change func(*http.Transport)) *wire {
	s.t.Helper()
	config := s.config()
	tlsConfig, err := rest.TLSConfigFor(config)
	must(s.t, err)
	transport := &http.Transport{TLSClientConfig: tlsConfig, ForceAttemptHTTP2: true}
	if change != nil {
		change(transport)
	}
	s.t.Cleanup(transport.CloseIdleConnections)
	return &wire{http: &http.Client{Transport: transport}, url: config.Host, http1: !transport.ForceAttemptHTTP2}
}

// http1 turns HTTP/2 off.
func http1(t *http.Transport) {
	t.ForceAttemptHTTP2 = false
	t.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
}

// http1Each takes a new connection for each request.
func http1Each(t *http.Transport) {
	http1(t)
	t.DisableKeepAlives = true
}

// droppedUnread tells whether a connection has ended after a request was sent on
// it, without a byte of an answer. On HTTP/1 nobody may have read the request:
// net/http hangs up on what comes after its Shutdown. Then it must have had no effect.
func droppedUnread(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// refusedError is a request that the server has not taken: there was no
// connection, or it has said when to come back.
type refusedError struct{ error }

// do sends one request and returns the status and the body.
func (w *wire) do(ctx context.Context, method, path string, body any) (int, []byte, error) {
	encoded, err := json.Marshal(body)
	if err != nil {
		return 0, nil, err
	}
	if body == nil {
		encoded = nil
	}
	connected := false
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected = true }})
	request, err := http.NewRequestWithContext(ctx, method, w.url+path, bytes.NewReader(encoded))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := w.http.Do(request)
	if err != nil {
		// The transport tries again by itself what it knows was not taken.
		var last *net.OpError
		if !connected || errors.As(err, &last) && last.Op == "dial" {
			err = refusedError{err}
		}
		return 0, nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return response.StatusCode, text, err
	}
	switch response.StatusCode {
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		if response.Header.Get("Retry-After") != "" {
			return response.StatusCode, text, refusedError{fmt.Errorf("%s", response.Status)}
		}
	}
	return response.StatusCode, text, nil
}

// watchFrame is what a watch sends.
type watchFrame struct {
	Type   string          `json:"type"`
	Object json.RawMessage `json:"object"`
}

// watches are watches that nobody but the server ends.
type watches struct {
	wg     sync.WaitGroup
	mu     sync.Mutex
	events int
	ends   map[string]int // how they have ended: "" cleanly
}

// startWatches starts n watches on each of the wires, and returns when each of
// them has received something.
func startWatches(ctx context.Context, t testing.TB, wires []*wire, n int) *watches {
	t.Helper()
	w := &watches{ends: map[string]int{}}
	var begun sync.WaitGroup
	for _, wire := range wires {
		for range n {
			begun.Add(1)
			w.wg.Go(func() { w.follow(ctx, wire, sync.OnceFunc(begun.Done)) })
		}
	}
	begun.Wait()
	return w
}

func (w *watches) follow(ctx context.Context, from *wire, begun func()) {
	defer begun()
	end := func() error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, from.url+"/api/v1/namespaces/default/configmaps?watch=1", nil)
		if err != nil {
			return err
		}
		response, err := from.http.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("answered %s", response.Status)
		}
		for decoder := json.NewDecoder(response.Body); ; {
			var frame watchFrame
			if err := decoder.Decode(&frame); errors.Is(err, io.EOF) {
				return nil // and nothing half sent
			} else if err != nil {
				return err
			}
			if frame.Type == "ERROR" {
				return fmt.Errorf("sent the error %s", frame.Object)
			}
			begun()
			w.mu.Lock()
			w.events++
			w.mu.Unlock()
		}
	}()
	w.mu.Lock()
	defer w.mu.Unlock()
	if end == nil {
		w.ends[""]++
		return
	}
	w.ends[end.Error()]++
}

// writing is a client that creates objects until the server takes no more.
type writing struct {
	mu       sync.Mutex
	created  []string
	read     int
	refused  map[string]int
	dropped  []string // names of objects in requests of HTTP/1 that got no answer
	failed   []error
	first    time.Time     // when the first request was refused
	progress chan struct{} // one for each request that was answered
}

// work creates an object and reads it, again and again, until a connection is
// refused. With reads only, nothing is created.
func (w *writing) work(ctx context.Context, from *wire, name string, reads bool) {
	const path = "/api/v1/namespaces/default/configmaps"
	for i := 0; ; i++ {
		method, target, body, want := http.MethodGet, path+"/first", any(nil), http.StatusOK
		if !reads && i%2 == 0 {
			method, target, body, want = http.MethodPost, path, any(configMap(fmt.Sprintf("%s-%d", name, i), name)), http.StatusCreated
		}
		status, text, err := from.do(ctx, method, target, body)
		w.mu.Lock()
		var refused refusedError
		switch {
		case errors.As(err, &refused):
			if w.first.IsZero() {
				w.first = time.Now()
			}
			reason := fmt.Sprint(status)
			if status == 0 {
				reason = "no connection"
			}
			w.refused[reason]++
		case err != nil && from.http1 && status == 0 && droppedUnread(err):
			w.refused["hung up"]++
			w.dropped = append(w.dropped, fmt.Sprintf("%s-%d", name, i))
		case err != nil:
			w.failed = append(w.failed, fmt.Errorf("%s: %w", name, err))
		case status != want:
			w.failed = append(w.failed, fmt.Errorf("%s %s: answered %d: %s", method, target, status, text))
		case method == http.MethodPost:
			w.created = append(w.created, fmt.Sprintf("%s-%d", name, i))
		default:
			w.read++
		}
		w.mu.Unlock()
		if err != nil && status == 0 {
			return
		}
		select {
		case w.progress <- struct{}{}:
		default:
		}
	}
}
