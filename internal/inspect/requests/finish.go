package requests

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/authentication/user"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
)

// Longest texts that are kept, in characters.
const (
	maxPath      = 1024
	maxUserAgent = 120
	maxName      = 256 // of users, groups and what stands in a path
	maxWord      = 64  // of methods, protocols, addresses and audit IDs
	maxGroups    = 32
)

// asked is what the request said of itself. It is taken before the chain begins:
// later a goroutine that was left behind may be changing its headers.
type asked struct {
	method, path, query, userAgent, sourceIP, protocol string
	// impersonates says that it asked to be taken for another's.
	impersonates bool
}

func (a *asked) take(r *http.Request) {
	if r == nil {
		return
	}
	a.method, a.protocol, a.sourceIP = r.Method, r.Proto, r.RemoteAddr
	a.userAgent = r.UserAgent()
	a.impersonates = len(r.Header[authenticationv1.ImpersonateUserHeader]) > 0
	if r.URL != nil {
		a.path, a.query = shownPath(r.URL), r.URL.RawQuery
	}
}

// shownPath is a path as it can be shown: decoded, unless that would hide something:
// a slash that is part of a name, or characters that are not seen.
func shownPath(u *url.URL) string {
	if u.RawPath == "" && (isPlain(u.Path) || !strings.ContainsFunc(u.Path, isHidden)) {
		return u.Path // nearly every request's, at the cost of one look at its bytes
	}
	return u.EscapedPath()
}

// keep replaces all texts by what is shown of them.
func (a *asked) keep(p *packer) {
	if host, _, err := net.SplitHostPort(a.sourceIP); err == nil {
		a.sourceIP = host
	}
	a.method = p.keep(a.method, maxWord)
	a.path = p.keep(shortened(a.path, maxPath), maxPath)
	a.query = p.query(a.query)
	a.userAgent = p.keep(a.userAgent, maxUserAgent)
	a.sourceIP = p.keep(a.sourceIP, maxWord)
	a.protocol = p.keep(a.protocol, maxWord)
}

// info is the RequestInfo, as far as it is shown.
type info struct {
	known, resourceRequest                                               bool
	verb, prefix, group, version, namespace, resource, subresource, name string
}

// identity is who asked.
type identity struct {
	name, impersonatedBy string
	groups               []string
}

// finish makes the trace from what is known when the request is over.
func (t *trace) finish() {
	record := t.record
	ctx := record.Context()
	p := newPacker(len(t.asked.path) + len(t.asked.userAgent))
	t.asked.keep(p)
	requestInfo, _ := apirequest.RequestInfoFrom(ctx)
	t.info = keepInfo(requestInfo, p)
	t.user = t.who(ctx, p)
	if id, ok := audit.AuditIDFrom(ctx); ok {
		t.auditID = p.keep(string(id), maxWord)
	}
	t.judge()
	if check, r := t.observer.cfg.LongRunning, record.Deepest(); check != nil && r != nil && requestInfo != nil {
		t.long = check(r, requestInfo)
	}
	t.slow = !t.long && record.Duration() > t.observer.cfg.SlowerThan
}

// judge finds who ended the request.
func (t *trace) judge() {
	if filter, ok := t.record.Terminator(); ok {
		t.filter = filter
		return
	}
	t.filter = -1
	if !t.record.Panicked() && t.hopped > 0 {
		t.answeredBy = t.hops[t.hopped-1].layer
	}
}

func keepInfo(from *apirequest.RequestInfo, p *packer) info {
	if from == nil {
		return info{}
	}
	kept := info{
		known: true, resourceRequest: from.IsResourceRequest,
		verb: p.keep(from.Verb, maxWord), prefix: p.keep(from.APIPrefix, maxName),
		group: p.keep(from.APIGroup, maxName), version: p.keep(from.APIVersion, maxName),
		namespace: p.keep(from.Namespace, maxName), resource: p.keep(from.Resource, maxName),
		subresource: p.keep(from.Subresource, maxName),
	}
	// Without a name in the path it was taken from the field selector: a query value.
	if len(from.Parts) > 1 {
		kept.name = p.keep(from.Name, maxName)
	}
	return kept
}

// who finds the user of the request, and the one who impersonates it. The latter is
// not known of a request that the timeout filter gave up while it was running.
func (t *trace) who(ctx context.Context, p *packer) identity {
	acting, ok := apirequest.UserFrom(ctx)
	if !ok || acting == nil {
		return identity{}
	}
	who := identity{name: p.keep(acting.GetName(), maxName)}
	groups := acting.GetGroups()
	if len(groups) > 0 {
		who.groups = make([]string, min(len(groups), maxGroups))
		for i := range who.groups {
			who.groups[i] = p.keep(groups[i], maxName)
		}
	}
	if behind := t.impersonator(); behind != nil {
		who.impersonatedBy = p.keep(behind.GetName(), maxName)
	}
	return who
}

// impersonator returns the user that the request had before it was taken for
// another's; nil if it was not.
func (t *trace) impersonator() user.Info {
	chain := t.observer.chain.Load()
	if !t.asked.impersonates || chain == nil || chain.impersonation < 0 {
		return nil
	}
	// The filter hands on no request that may not be taken for another's.
	before := t.record.RequestAt(chain.impersonation)
	if before == nil || !t.record.Span(chain.impersonation).Passed {
		return nil
	}
	behind, _ := apirequest.UserFrom(before.Context())
	return behind
}
