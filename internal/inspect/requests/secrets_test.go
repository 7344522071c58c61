package requests

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/kapi-dev/kapi/internal/inspect/store"
)

// Whatever a client marks as secret is found in no object: headers, body, query,
// selectors, user info, also in odd spellings of the query.
func TestNoSecretIsKept(t *testing.T) {
	const mark = "SECRETMARK"
	f := start(t, nil, nil)
	queries := []string{
		"token=" + mark, "password=" + mark, "access_token=" + mark, "fieldSelector=metadata.name%3D" + mark,
		"fieldSelector=metadata.name=" + mark + "&watch=1", "labelSelector=a%3D" + mark, "continue=" + mark,
		"limit=5&token=" + mark, "limit=5;token=" + mark, "watch=1;" + mark, mark, "=" + mark, "&&" + mark + "&", "%77atch=" + mark,
		"command=" + mark, "watch=%zz" + mark, "LIMIT=" + mark, "limit&" + mark,
	}
	headers := []string{
		"Cookie", "session=" + mark, "X-Api-Key", mark, "X-Remote-User", mark, "X-Forwarded-For", mark,
		"Referer", "https://" + mark, "X-Remote-Extra-" + mark, mark, "Proxy-Authorization", "Basic " + mark,
		"Accept", "application/" + mark, "Content-Type", mark, "Impersonate-User", "carol", "Impersonate-Extra-" + mark, mark,
	}
	for _, query := range queries {
		for _, path := range []string{
			"/api/v1/secrets", "/api/v1/namespaces/default/secrets/a", "/healthz", "/apis/none.example.com/v1/a",
			"/api/v1/namespaces/default/pods/broken", "/api/v1/namespaces/default/pods/refused",
		} {
			f.raw(t, http.MethodPost, path+"?"+query, "Bearer alice", mark, headers)
			f.raw(t, http.MethodGet, path+"?"+query, "Basic YWxpY2U6U0VDUkVUTUFSSw==", mark, headers) // alice:SECRETMARK
			f.raw(t, http.MethodDelete, path+"?"+query, "Digest "+mark, mark, append(headers, "Authorization", "Bearer "+mark+" ")[2:])
		}
	}
	f.rest(t)
	if n := f.layer(t, "kube-apiserver").Status.RequestsAnswered; n < int64(len(queries)) {
		t.Errorf("%d requests have reached the layer", n)
	}
	traces, _, err := f.observer.Traces().List(t.Context())
	if err != nil || len(traces) < len(queries) {
		t.Fatalf("there are %d traces, %v", len(traces), err)
	}
	layers, _ := f.observer.Layers(t.Context())
	filters, _ := f.observer.Filters(t.Context())
	for _, objects := range [][]store.Object{traces, layers, filters} {
		for _, object := range objects {
			if text, err := json.Marshal(object); err != nil || strings.Contains(strings.ToUpper(string(text)), mark) {
				t.Fatalf("%v in %s", err, text)
			}
		}
	}
}

// raw sends a request that the client would refuse to make.
func (f *fixture) raw(t *testing.T, method, target, authorization, body string, headers []string) {
	t.Helper()
	conn, err := net.Dial("tcp", f.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var b strings.Builder
	b.WriteString(method + " " + target + " HTTP/1.1\r\nHost: " + body + "\r\nConnection: close\r\n")
	b.WriteString("Authorization: " + authorization + "\r\n")
	for i := 0; i+1 < len(headers); i += 2 {
		b.WriteString(headers[i] + ": " + headers[i+1] + "\r\n")
	}
	b.WriteString("Transfer-Encoding: chunked\r\n\r\na\r\n" + body + "\r\n0\r\n\r\n")
	if _, err := io.WriteString(conn, b.String()); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, response.Body)
	response.Body.Close()
}
