package resources

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// v2NotBuilt is said of the merged document until Measure has looked at it.
const v2NotBuilt = "not looked at: looking would make the server build the merged document"

// openAPIDocuments remembers what was seen of the OpenAPI documents. The list of
// v3 documents names the content of each by a hash, so changes are seen without
// a document. A document itself is built by the server when somebody first asks
// for it, so it is asked for only by Measure.
type openAPIDocuments struct {
	handler http.Handler
	now     func() time.Time

	lock  sync.Mutex
	until time.Time
	v3    map[schema.GroupVersion]v1alpha1.OpenAPIState
	// v2 is what the merged document has of each group version; nil until Measure.
	v2 map[schema.GroupVersion]v1alpha1.OpenAPIState
}

// documentList is the part of /openapi/v3 that is read.
type documentList struct {
	Paths map[string]struct {
		URL string `json:"serverRelativeURL"`
	} `json:"paths"`
}

// get returns the states of all documents that are listed now.
func (o *openAPIDocuments) get(ctx context.Context) (v3, v2 map[schema.GroupVersion]v1alpha1.OpenAPIState, err error) {
	if o.handler == nil {
		return nil, nil, nil
	}
	o.lock.Lock()
	defer o.lock.Unlock()
	if o.now().Before(o.until) {
		return o.v3, o.v2, nil
	}
	listed, err := o.list(ctx)
	if err != nil {
		return nil, nil, err
	}
	now := metav1.NewMicroTime(o.now())
	next := make(map[schema.GroupVersion]v1alpha1.OpenAPIState, len(listed))
	for gv, path := range listed {
		state, known := o.v3[gv]
		if hash := hashIn(path); hash != state.Hash || !known {
			state = v1alpha1.OpenAPIState{Listed: true, Hash: hash}
			// When it was built before the first look is not known.
			if o.v3 != nil {
				state.LastBuild = &now
			}
		}
		next[gv] = state
	}
	o.v3, o.until = next, o.now().Add(askAgain)
	return o.v3, o.v2, nil
}

// list returns the path of each document by its group version.
func (o *openAPIDocuments) list(ctx context.Context) (map[schema.GroupVersion]string, error) {
	answer, err := ask(ctx, o.handler, "/openapi/v3", runtime.ContentTypeJSON, "")
	if isNotFound(err) { // no layer serves OpenAPI
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list documentList
	if err := json.Unmarshal(answer.Body.Bytes(), &list); err != nil {
		return nil, fmt.Errorf("reading the list of OpenAPI v3 documents: %w", err)
	}
	paths := make(map[schema.GroupVersion]string, len(list.Paths))
	for name, document := range list.Paths {
		if gv, ok := groupVersionOf(name); ok {
			paths[gv] = document.URL
		}
	}
	return paths, nil
}

func hashIn(path string) string {
	parsed, err := url.Parse(path)
	if err != nil {
		return ""
	}
	return parsed.Query().Get("hash")
}

// groupVersionOf reads api/VERSION and apis/GROUP/VERSION, and what is below them.
func groupVersionOf(path string) (schema.GroupVersion, bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case len(parts) >= 2 && parts[0] == "api":
		return schema.GroupVersion{Version: parts[1]}, true
	case len(parts) >= 3 && parts[0] == "apis":
		return schema.GroupVersion{Group: parts[1], Version: parts[2]}, true
	}
	return schema.GroupVersion{}, false
}

// MeasureOpenAPI asks for the OpenAPI documents of a group version, and remembers
// their cost and size, which DiscoveryStates shows from then on. The first time
// this makes the server build them: the merged v2 document takes it hundreds of
// milliseconds and some ten megabytes.
func (r *Resources) MeasureOpenAPI(ctx context.Context, group, version string, v2 bool) error {
	gv := schema.GroupVersion{Group: group, Version: version}
	if _, _, err := r.openAPI.get(ctx); err != nil {
		return err
	}
	if err := r.openAPI.measureV3(ctx, gv); err != nil {
		return err
	}
	if !v2 {
		return nil
	}
	return r.openAPI.measureV2(ctx)
}

func (o *openAPIDocuments) measureV3(ctx context.Context, gv schema.GroupVersion) error {
	o.lock.Lock()
	defer o.lock.Unlock()
	if o.handler == nil {
		return nil
	}
	listed, err := o.list(ctx)
	if err != nil {
		return err
	}
	path, ok := listed[gv]
	if !ok {
		return fmt.Errorf("measuring the OpenAPI document of %s: none is listed", gv)
	}
	start := o.now()
	answer, err := ask(ctx, o.handler, path, runtime.ContentTypeJSON, "")
	state := v1alpha1.OpenAPIState{Listed: true, Hash: hashIn(path), LastBuild: o.v3[gv].LastBuild}
	if err != nil {
		state.Error = err.Error()
	} else {
		state.Cost = &metav1.Duration{Duration: o.now().Sub(start)}
		state.Bytes = int64(answer.Body.Len())
	}
	next := map[schema.GroupVersion]v1alpha1.OpenAPIState{gv: state}
	for other, known := range o.v3 {
		if other != gv {
			next[other] = known
		}
	}
	o.v3 = next
	return err
}

// measureV2 reads the merged document once for all group versions. A group
// version's bytes are those of its paths; definitions are shared by all.
func (o *openAPIDocuments) measureV2(ctx context.Context) error {
	o.lock.Lock()
	defer o.lock.Unlock()
	if o.handler == nil {
		return nil
	}
	start := o.now()
	answer, err := ask(ctx, o.handler, "/openapi/v2", runtime.ContentTypeJSON, "")
	if err != nil {
		return err
	}
	took := metav1.Duration{Duration: o.now().Sub(start)}
	at := metav1.NewMicroTime(start)
	var document struct {
		Paths map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal(answer.Body.Bytes(), &document); err != nil {
		return fmt.Errorf("reading the OpenAPI v2 document: %w", err)
	}
	next := map[schema.GroupVersion]v1alpha1.OpenAPIState{}
	for path, content := range document.Paths {
		gv, ok := groupVersionOf(path)
		if !ok {
			continue
		}
		state := next[gv]
		state.Listed, state.Cost, state.LastBuild = true, &took, &at
		state.Bytes += int64(len(content))
		state.Hash = strings.Trim(answer.Header().Get("ETag"), `"`)
		next[gv] = state
	}
	o.v2 = next
	return nil
}
