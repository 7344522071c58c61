package chain

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"runtime/debug"
	"strings"
	"time"

	restful "github.com/emicklei/go-restful/v3"
	"k8s.io/apiserver/pkg/server/mux"
	"k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kube-openapi/pkg/cached"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/handler3"
	"k8s.io/kube-openapi/pkg/spec3"

	"github.com/kapi-dev/kapi/internal/version"
)

const pathV3 = "/openapi/v3"

// openAPIV3 serves the OpenAPI v3 documents of a layer. The root lists one URL a
// group version, with a hash in it, so that clients may keep what they got for
// ever. Upstream hashes the document, and so must build all of them to answer
// the root; here the hash is over what a document is made from: the program,
// the feature gates and the routes.
type openAPIV3 struct {
	documents *handler3.OpenAPIService
	// hashes by group version ("apis/apps/v1").
	hashes map[string]string
	root   []byte
	start  time.Time
}

func serveV3(services []*restful.WebService, config *common.OpenAPIV3Config, paths *mux.PathRecorderMux) error {
	s := &openAPIV3{documents: handler3.NewOpenAPIService(), hashes: map[string]string{}, start: time.Now()}
	discovery := handler3.OpenAPIV3Discovery{Paths: map[string]handler3.OpenAPIV3DiscoveryGroupVersion{}}
	identity := programIdentity()
	for _, service := range services {
		name := strings.TrimPrefix(service.RootPath(), "/")
		s.hashes[name] = hashOf(identity, service)
		discovery.Paths[name] = handler3.OpenAPIV3DiscoveryGroupVersion{ServerRelativeURL: urlV3(name, s.hashes[name])}
		s.documents.UpdateGroupVersionLazy(name, cached.Once(cached.Func(func() (*spec3.OpenAPI, string, error) {
			document, err := buildV3(service, name, config)
			return document, "never-changes", err
		})))
	}
	var err error
	if s.root, err = json.Marshal(discovery); err != nil {
		return fmt.Errorf("writing the OpenAPI v3 root: %w", err)
	}
	paths.HandleFunc(pathV3, s.serveRoot)
	paths.HandlePrefix(pathV3+"/", http.HandlerFunc(s.serveDocument))
	return nil
}

func urlV3(name, hash string) string {
	return (&url.URL{Path: pathV3 + "/" + name, RawQuery: url.Values{"hash": {hash}}.Encode()}).String()
}

func (s *openAPIV3) serveRoot(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	http.ServeContent(w, r, pathV3, s.start, strings.NewReader(string(s.root)))
}

// serveDocument answers one group version. With the current hash in the URL the
// answer may be kept for a year, with another one the client is sent to it.
func (s *openAPIV3) serveDocument(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, pathV3+"/")
	if given := r.URL.Query().Get("hash"); given != "" {
		current, ok := s.hashes[name]
		if ok && given != current {
			http.Redirect(w, r, urlV3(name, current), http.StatusMovedPermanently) //nolint:gosec // a path of this server: name is one of hashes
			return
		}
		if ok {
			w.Header().Set("Vary", "Accept")
			w.Header().Set("Cache-Control", "public, immutable")
			w.Header().Set("Expires", time.Now().AddDate(1, 0, 0).UTC().Format(http.TimeFormat))
		}
		// The inner handler compares the hash with one of its own.
		r = r.Clone(r.Context())
		r.URL.RawQuery = ""
	}
	s.documents.HandleGroupVersion(w, r)
}

// programIdentity is the same for two processes that would build the same
// documents from the same routes: the modules of the binary and the feature
// gates. A build that no version control describes is told by its file.
func programIdentity() string {
	var identity strings.Builder
	if info, ok := debug.ReadBuildInfo(); ok {
		identity.WriteString(info.String())
	}
	fmt.Fprintln(&identity, version.Get(), feature.DefaultMutableFeatureGate, feature.DefaultMutableFeatureGate.EmulationVersion())
	if version.Get().Commit != version.Unknown {
		return identity.String()
	}
	path, err := os.Executable()
	if err != nil {
		return identity.String()
	}
	if info, err := os.Stat(path); err == nil {
		fmt.Fprintln(&identity, info.Size(), info.ModTime().UnixNano())
	}
	return identity.String()
}

func hashOf(identity string, service *restful.WebService) string {
	hash := sha256.New()
	hash.Write([]byte(identity))
	for _, route := range service.Routes() {
		fmt.Fprintln(hash, route.Method, route.Path, route.Operation, route.Produces, route.Consumes)
	}
	return strings.ToUpper(hex.EncodeToString(hash.Sum(nil)))
}
