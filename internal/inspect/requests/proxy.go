package requests

import (
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
)

// maxAPIServices bounds the counts of answers by APIService.
const maxAPIServices = 1000

// unavailable counts the answers 503 of each APIService.
type unavailable struct {
	mu     sync.Mutex
	counts map[string]int64
}

func (u *unavailable) add(apiService string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.counts == nil {
		u.counts = map[string]int64{}
	}
	if _, known := u.counts[apiService]; known || len(u.counts) < maxAPIServices {
		u.counts[apiService]++
	}
}

// UnavailableAnswers returns how many requests for an APIService were answered 503
// since the start, by the aggregator or by the aggregated server.
func (o *Observer) UnavailableAnswers(apiService string) int64 {
	o.unavailable.mu.Lock()
	defer o.unavailable.mu.Unlock()
	return o.unavailable.counts[apiService]
}

// Proxied notes that a request is for an APIService of an aggregated server, and the
// host and port that it was sent to; empty if that is not known.
func (o *Observer) Proxied(r *http.Request, apiService, address string) {
	if t := o.trace(r.Context()); t != nil {
		t.note(func() { t.apiService, t.address, t.connected = apiService, address, address != "" })
	}
}

// ObserveProxy returns next, the handler of the aggregator, with the connection
// noted that each request for an aggregated server is sent over. Nothing is done to
// other requests.
//
// The aggregator's proxy keeps the context of the request: NewRequestForProxy in
// k8s.io/apiserver/pkg/util/proxy. Its transport reports the connection, a new or a
// used one. An upgrade is dialled past the transport, and the dialer reports it.
func (o *Observer) ObserveProxy(next http.Handler) http.Handler {
	if o.cfg.Proxied == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		group, version, ok := groupVersion(r.URL.Path)
		if ok {
			if apiService, ok := o.cfg.Proxied(group, version); ok {
				r = o.observeConnection(r, apiService)
			}
		}
		next.ServeHTTP(w, r)
	})
}

func (o *Observer) observeConnection(r *http.Request, apiService string) *http.Request {
	t := o.trace(r.Context())
	if t == nil {
		return r
	}
	t.note(func() { t.apiService = apiService })
	return r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			address := info.Conn.RemoteAddr().String()
			t.note(func() { t.address, t.connected = address, true })
		},
		ConnectDone: func(_, address string, err error) {
			// A dial may be for a connection that is not used in the end.
			t.note(func() {
				if err == nil && !t.connected {
					t.address = address
				}
			})
		},
	}))
}

// groupVersion takes the API group and version from a path.
func groupVersion(path string) (group, version string, ok bool) {
	rest, ok := strings.CutPrefix(path, "/apis/")
	if !ok {
		if version, ok = strings.CutPrefix(path, "/api/"); !ok {
			return "", "", false
		}
		version, _, _ = strings.Cut(version, "/")
		return "", version, version != ""
	}
	group, version, _ = strings.Cut(rest, "/")
	version, _, _ = strings.Cut(version, "/")
	return group, version, group != "" && version != ""
}
