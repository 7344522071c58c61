package handlerchain

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/apiserver/pkg/endpoints/request"
)

// What the observer sees at the end of a request: every filter's request, the user,
// bytes both ways.
func TestRecord(t *testing.T) {
	filters := Filters(config(t, nil), Options{})
	s := &served{kept: &keeper{}}
	outermost, authentication, handler := 0, index(t, filters, "authentication"), len(filters)
	s.kept.onEnd = func(r *Record) {
		if r.RequestAt(outermost) == nil || r.RequestAt(handler) != r.Deepest() || r.Deepest().Context() != r.Context() {
			t.Error("not all requests are there")
		}
		if _, known := request.UserFrom(r.RequestAt(authentication).Context()); known {
			t.Error("the user is known before authentication")
		}
		if r.RequestAt(index(t, filters, "cors")) != nil || r.RequestAt(-1) != nil || r.RequestAt(handler+1) != nil {
			t.Error("requests are where none were")
		}
		if s.chain.Stats()[0].Requests != 1 || s.chain.Stats()[0].InFlight != 0 {
			t.Error("the request is not counted before the observer hears of its end")
		}
	}
	s.chain = New(filters, s.kept)
	s.Server = serveHandler(t, s.chain.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		record := RecordFrom(r.Context())
		if record.Over() || record.RequestAt(0) != nil || record.Status() != 0 || record.Duration() <= 0 || record.Start().IsZero() {
			t.Error("the record of a running request knows too much or too little")
		}
		if span := record.Span(authentication); !span.Entered || !span.Passed || span.Returned || span.In <= 0 {
			t.Errorf("authentication of a running request is %+v", span)
		}
		all, _ := io.ReadAll(r.Body)
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, strings.ToUpper(string(all)))
		if record.BytesRead() != 5 || record.BytesWritten() != 5 || record.Status() != http.StatusCreated {
			t.Errorf("%d bytes read, %d written, %d", record.BytesRead(), record.BytesWritten(), record.Status())
		}
	})))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+pods, strings.NewReader("hello"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer alice")
	response, err := fetch(s.Client(), r)
	if err != nil || response.StatusCode != http.StatusCreated {
		t.Fatal(response, err)
	}
	eventually(t, func() bool { return s.kept.count() == 1 })
	record, end := s.kept.last(t)
	if end.user.GetName() != "alice" || end.info.Verb != "create" || end.info.Resource != "pods" || record.Data != 1 {
		t.Errorf("at the end: %v, %+v, %v", end.user, end.info, record.Data)
	}
	if record.BytesRead() != 5 || record.BytesWritten() != 5 || record.Upgraded() || record.Hijacked() {
		t.Errorf("%d bytes read, %d written, upgraded %t", record.BytesRead(), record.BytesWritten(), record.Upgraded())
	}
	checkSpans(t, "record", s.chain, record)
	if got := s.chain.HandlerStats(); got.Terminated[http.StatusCreated] != 1 || got.In.Count() != 1 || got.In.Max() != record.Span(handler).In {
		t.Errorf("the handler has %v, %d times", got.Terminated, got.In.Count())
	}
}

// A request that a left-behind goroutine may still change is not shown; its context is.
func TestRecordOfTimeout(t *testing.T) {
	release := make(chan struct{})
	filters := Filters(config(t, nil), Options{})
	s := &served{kept: &keeper{}}
	timeout := index(t, filters, "timeout")
	s.kept.onEnd = func(r *Record) {
		if r.Deepest() != r.RequestAt(timeout) || r.RequestAt(timeout) == nil || r.RequestAt(len(filters)) != nil {
			t.Error("the request of a goroutine that goes on is shown")
		}
	}
	arrived, late := make(chan struct{}), make(chan bool, 1)
	s.chain = New(filters, s.kept)
	s.Server = serveHandler(t, s.chain.Wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(arrived)
		<-release
		_, err := w.Write([]byte("too late"))
		late <- err != nil
	})))
	// A client that goes away ends its request as a deadline does.
	ctx, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+pods, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer alice")
	go func() {
		<-arrived
		leave()
	}()
	if response, err := fetch(s.Client(), r); err == nil {
		t.Errorf("the client got %d", response.StatusCode)
	}
	eventually(t, func() bool { return s.kept.count() == 1 })
	record, end := s.kept.last(t)
	if end.user.GetName() != "alice" {
		t.Errorf("the context of the end does not know the user: %v", end.user)
	}
	if i, ok := record.Terminator(); !ok || i != timeout || record.Status() != http.StatusGatewayTimeout {
		t.Errorf("ended by %d, %t with %d", i, ok, record.Status())
	}
	before := spansOf(record)
	balanced(t, s.chain)
	close(release)
	if !<-late {
		t.Error("the handler could write after the timeout")
	}
	s.Close()
	if after := spansOf(record); fmt.Sprint(after) != fmt.Sprint(before) || after[len(filters)].Returned {
		t.Errorf("the record has changed: %+v", after)
	}
	balanced(t, s.chain)
}

// A connection that is taken over stays one, and is seen.
func TestUpgrade(t *testing.T) {
	s := serve(t, Filters(config(t, nil), Options{}), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		fmt.Fprint(rw, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n")
		_ = rw.Flush()
		line, _ := rw.ReadString('\n')
		fmt.Fprint(conn, line)
	}))
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET %s/a/exec HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer alice\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nhello\n", pods)
	reader := bufio.NewReader(conn)
	response, err := http.ReadResponse(reader, nil)
	if err != nil || response.StatusCode != http.StatusSwitchingProtocols {
		t.Fatal(response, err)
	}
	if line, err := reader.ReadString('\n'); line != "hello\n" {
		t.Errorf("echoed %q, %v", line, err)
	}
	eventually(t, func() bool { return s.kept.count() == 1 })
	record, _ := s.kept.last(t)
	_, ended := record.Terminator()
	if record.Status() != http.StatusSwitchingProtocols || !record.Upgraded() || !record.Hijacked() || record.Panicked() || ended {
		t.Errorf("%d, upgraded %t, hijacked %t, panicked %t, ended by a filter %t",
			record.Status(), record.Upgraded(), record.Hijacked(), record.Panicked(), ended)
	}
}

// The writer that filters get can do what the server's can, no more and no less.
func TestWriter(t *testing.T) {
	type can struct{ flush, hijack, notify bool }
	abilities := func(w http.ResponseWriter) (c can) {
		_, c.flush = w.(http.Flusher)
		_, c.hijack = w.(http.Hijacker)
		_, c.notify = w.(http.CloseNotifier) //nolint:staticcheck // upstream still asks for it
		return c
	}
	check := func(w http.ResponseWriter) {
		record := &Record{}
		observed := observeWriter(w, record)
		if got, want := abilities(observed), abilities(w); got != want {
			t.Errorf("%T can %+v, observed %+v", w, want, got)
		}
		if err := http.NewResponseController(observed).Flush(); err != nil || record.Status() != http.StatusOK {
			t.Errorf("%T: flushing gives %d, %v", w, record.Status(), err)
		}
	}
	for _, http2 := range []bool{false, true} {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { check(w) }))
		s.EnableHTTP2 = http2
		s.StartTLS()
		t.Cleanup(s.Close)
		if _, err := (&served{Server: s}).try(t, http.MethodGet, "", "/"); err != nil {
			t.Error(err)
		}
	}
	hinted := &Record{}
	for _, code := range []int{http.StatusEarlyHints, http.StatusCreated, http.StatusTeapot} {
		observeWriter(httptest.NewRecorder(), hinted).WriteHeader(code)
	}
	if hinted.Status() != http.StatusCreated {
		t.Errorf("of 103, 201 and 418, %d is the answer's", hinted.Status())
	}
	plain := observeWriter(struct{ http.ResponseWriter }{httptest.NewRecorder()}, &Record{})
	if got := abilities(plain); got != (can{}) {
		t.Errorf("a plain writer can %+v", got)
	}
}

// Without an observer there are no probes and no records; bodies are left alone.
func TestUnobserved(t *testing.T) {
	c := New(Filters(config(t, nil), Options{}), nil)
	var seen *http.Request
	handler := c.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = r
		ok(w, r)
	}))
	body := io.NopCloser(bytes.NewReader([]byte("x")))
	for _, sent := range []io.ReadCloser{body, http.NoBody, nil} {
		r := httptest.NewRequest(http.MethodPost, pods, nil)
		r.Header.Set("Authorization", "Bearer alice")
		r.Body = sent
		handler.ServeHTTP(httptest.NewRecorder(), r)
		if _, wrapped := seen.Body.(*countedBody); wrapped || RecordFrom(seen.Context()) != nil {
			t.Errorf("observed: %v, %v", RecordFrom(seen.Context()), seen.Body)
		}
	}
	for _, s := range append(c.Stats(), c.HandlerStats()) {
		if s.Requests != 0 {
			t.Errorf("%d requests were counted", s.Requests)
		}
	}
	if RecordFrom(context.Background()) != nil {
		t.Error("a record of nothing")
	}
}

// A chain of more filters than a record has room for, and one of none.
func TestLength(t *testing.T) {
	for _, length := range []int{0, 1, inlineSpans - 1, inlineSpans, 3 * inlineSpans} {
		filters := make([]Filter, length)
		for i := range filters {
			filters[i] = Filter{Name: fmt.Sprint("filter-", i), Enabled: true, Wrap: func(h http.Handler) http.Handler { return h }}
		}
		kept := &keeper{}
		c := New(filters, kept)
		c.Wrap(ok).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
		record, _ := kept.last(t)
		if span := record.Span(length); !span.Returned || record.Status() != http.StatusOK || len(c.Stats()) != length {
			t.Errorf("%d filters: the handler's span is %+v, status %d", length, span, record.Status())
		}
		balanced(t, c)
	}
}

// A filter that says it is off and keeps a request all the same is an error of the
// table: the record knows nothing of it, and harms nobody.
func TestOffButNot(t *testing.T) {
	kept := &keeper{}
	c := New([]Filter{{Name: "off", Wrap: func(http.Handler) http.Handler { return http.NotFoundHandler() }}}, kept)
	c.Wrap(ok).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
	record, end := kept.last(t)
	if _, ended := record.Terminator(); ended || record.Status() != http.StatusNotFound || end.deepest == nil {
		t.Errorf("ended by a filter: %t, status %d", ended, record.Status())
	}
	if c.HandlerStats().Requests != 0 || record.RequestAt(0) != nil || record.Deepest() != nil {
		t.Error("the handler behind the chain has a request, or the record keeps one")
	}
	balanced(t, c)
}
