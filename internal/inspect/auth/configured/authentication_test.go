package configured

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	serviceaccountcontroller "k8s.io/kubernetes/pkg/controller/serviceaccount"
	kubeoptions "k8s.io/kubernetes/pkg/kubeapiserver/options"
	"k8s.io/kubernetes/plugin/pkg/auth/authenticator/token/bootstrap"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/inspect/auth"
)

func allGiven(string) bool { return true }

// authority signs client certificates.
type authority struct {
	file string
	cert *x509.Certificate
	key  *rsa.PrivateKey
}

func newAuthority(t *testing.T, name string) authority {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	a := authority{file: filepath.Join(t.TempDir(), name+".crt"), key: key}
	a.cert = a.sign(t, &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign,
	}, nil)
	writeFile(t, a.file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw}))
	return a
}

func (a authority) sign(t *testing.T, template, parent *x509.Certificate) *x509.Certificate {
	t.Helper()
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	if parent == nil {
		parent = template
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &a.key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func (a authority) client(t *testing.T, name, organization string) *x509.Certificate {
	t.Helper()
	return a.sign(t, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name, Organization: []string{organization}},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, a.cert)
}

func writeFile(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// issuer is an OpenID provider.
type issuer struct {
	*httptest.Server

	key *rsa.PrivateKey
}

func newIssuer(t *testing.T) issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	i := issuer{key: key}
	mux := http.NewServeMux()
	i.Server = httptest.NewTLSServer(mux)
	t.Cleanup(i.Close)
	answer := func(path string, value any) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(value) })
	}
	answer("/.well-known/openid-configuration", map[string]any{"issuer": i.URL, "jwks_uri": i.URL + "/keys"})
	answer("/keys", map[string]any{"keys": []any{map[string]string{
		"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "one",
		"n": b64(key.N.Bytes()), "e": b64(big.NewInt(int64(key.E)).Bytes()),
	}}})
	return i
}

func b64(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }

func jwt(t *testing.T, key *rsa.PrivateKey, claims map[string]any) string {
	t.Helper()
	header, _ := json.Marshal(map[string]string{"alg": "RS256", "kid": "one"})
	payload, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	signed := b64(header) + "." + b64(payload)
	sum := sha256.Sum256([]byte(signed))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	return signed + "." + b64(signature)
}

// reviewer is a token webhook that knows one token.
func newReviewer(t *testing.T, token string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review map[string]any
		_ = json.NewDecoder(r.Body).Decode(&review)
		spec, _ := review["spec"].(map[string]any)
		review["status"] = map[string]any{"authenticated": spec["token"] == token, "user": map[string]any{"username": "webhook-user"}}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(review)
	}))
	t.Cleanup(server.Close)
	path := filepath.Join(t.TempDir(), "webhook.kubeconfig")
	writeFile(t, path, []byte("apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {cluster: c}}]\n"+
		"clusters: [{name: c, cluster: {server: '"+server.URL+"'}}]\n"))
	return path
}

// everything is an authentication in which every authenticator is on.
type everything struct {
	options    *kubeoptions.BuiltInAuthenticationOptions
	users      authority
	proxies    authority
	issuer     issuer
	tokens     *rsa.PrivateKey
	configFile string
}

func newEverything(t *testing.T) everything {
	t.Helper()
	e := everything{users: newAuthority(t, "users"), proxies: newAuthority(t, "proxies"), issuer: newIssuer(t)}
	dir := t.TempDir()
	var err error
	if e.tokens, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(&e.tokens.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	keys, tokenFile := filepath.Join(dir, "sa.pub"), filepath.Join(dir, "tokens.csv")
	writeFile(t, keys, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}))
	writeFile(t, tokenFile, []byte("file-token,file-user,1\n"))
	e.configFile = filepath.Join(dir, "authentication.yaml")
	e.configure(t, e.issuer)

	o := kubeoptions.NewBuiltInAuthenticationOptions().WithAll()
	o.RequestHeader.ClientCAFile = e.proxies.file
	o.RequestHeader.UsernameHeaders = []string{"X-Remote-User"}
	o.RequestHeader.GroupHeaders = []string{"X-Remote-Group"}
	o.RequestHeader.AllowedNames = []string{"proxy"}
	o.ClientCert.ClientCA = e.users.file
	o.TokenFile.TokenFile = tokenFile
	o.ServiceAccounts.KeyFiles, o.ServiceAccounts.Issuers = []string{keys}, []string{"https://kubernetes.default.svc"}
	o.BootstrapToken.Enable = true
	o.AuthenticationConfigFile = e.configFile
	o.WebHook.ConfigFile, o.WebHook.Version = newReviewer(t, "webhook-token"), "v1"
	o.Anonymous.Allow = true
	e.options = o
	return e
}

func (e everything) configure(t *testing.T, issuers ...issuer) {
	t.Helper()
	text := "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\njwt:\n"
	for _, one := range issuers {
		ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: one.Certificate().Raw})
		text += fmt.Sprintf("- issuer:\n    url: %s\n    audiences: [kapi]\n    certificateAuthority: |\n      %s\n  claimMappings:\n    username: {claim: sub, prefix: 'jwt:'}\n",
			one.URL, strings.ReplaceAll(strings.TrimSpace(string(ca)), "\n", "\n      "))
	}
	writeFile(t, e.configFile, []byte(text))
}

// build makes the server's authenticator as upstream does.
func (e everything) build(ctx context.Context, t *testing.T) authenticator.Request {
	t.Helper()
	cfg, err := e.options.ToAuthenticationConfig()
	if err != nil {
		t.Fatal(err)
	}
	client := fake.NewClientset()
	factory := informers.NewSharedInformerFactory(client, 0)
	cfg.SecretsWriter = client.CoreV1()
	core := factory.Core().V1()
	cfg.ServiceAccountTokenGetter = serviceaccountcontroller.NewGetterFromClient(client, core.Secrets().Lister(),
		core.ServiceAccounts().Lister(), core.Pods().Lister(), core.Nodes().Lister(), nil, nil)
	cfg.BootstrapTokenAuthenticator = bootstrap.NewTokenAuthenticator(factory.Core().V1().Secrets().Lister().Secrets(metav1.NamespaceSystem))
	built, _, _, _, err := cfg.New(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return built
}

func TestEveryAuthenticatorIsFoundInTheUnion(t *testing.T) {
	t.Parallel()
	e := newEverything(t)
	authentication, err := NewAuthentication(e.options, allGiven)
	if err != nil {
		t.Fatal(err)
	}
	observed := auth.NewAuthenticators(authentication.Config("server-1"))
	wrapped := observed.Wrap(e.build(t.Context(), t))
	plain := e.build(t.Context(), t)

	get := func(set func(*http.Request)) *http.Request {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api", nil)
		r.TLS = nil
		set(r)
		return r
	}
	bearer := func(token string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
	}
	certificate := func(cert *x509.Certificate) func(*http.Request) {
		return func(r *http.Request) { r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{cert}} }
	}
	accepted := jwt(t, e.issuer.key, map[string]any{
		"iss": e.issuer.URL, "aud": "kapi", "sub": "alice", "exp": time.Now().Add(time.Hour).Unix(),
	})
	expired := jwt(t, e.issuer.key, map[string]any{"iss": e.issuer.URL, "aud": "kapi", "sub": "alice", "exp": 1})
	forged := jwt(t, e.issuer.key, map[string]any{
		"iss": "https://kubernetes.default.svc", "aud": "https://kubernetes.default.svc", "sub": "system:serviceaccount:a:b",
		"exp": time.Now().Add(time.Hour).Unix(),
	})
	waitFor(t, "the issuer's keys", func() bool {
		_, ok, _ := wrapped.AuthenticateRequest(get(bearer(accepted)))
		_, ok2, _ := plain.AuthenticateRequest(get(bearer(accepted)))
		return ok && ok2
	})
	before := statuses(t, observed)

	requests := []struct {
		name string
		set  func(*http.Request)
		user string // "" is refused
	}{
		{"front proxy", func(r *http.Request) {
			certificate(e.proxies.client(t, "proxy", "o"))(r)
			r.Header.Set("X-Remote-User", "proxied")
		}, "proxied"},
		{"certificate", certificate(e.users.client(t, "bob", "devs")), "bob"},
		{"file token", bearer("file-token"), "file-user"},
		{"file token again", bearer("file-token"), "file-user"},
		{"websocket", func(r *http.Request) {
			r.Header.Set("Connection", "Upgrade")
			r.Header.Set("Upgrade", "websocket")
			r.Header.Set("Sec-WebSocket-Protocol", "base64url.bearer.authorization.k8s.io."+b64([]byte("file-token"))+", v4.channel.k8s.io")
		}, "file-user"},
		{"JWT", bearer(accepted), "jwt:alice"},
		{"webhook token", bearer("webhook-token"), "webhook-user"},
		{"expired JWT", bearer(expired), ""},
		{"forged service account token", bearer(forged), ""},
		{"unknown token", bearer("nobody-knows-it"), ""},
		{"anonymous", func(*http.Request) {}, "system:anonymous"},
	}
	for _, one := range requests {
		response, ok, err := wrapped.AuthenticateRequest(get(one.set))
		expected, expectedOK, expectedErr := plain.AuthenticateRequest(get(one.set))
		if ok != expectedOK || fmt.Sprint(err) != fmt.Sprint(expectedErr) || !reflect.DeepEqual(response, expected) {
			t.Errorf("%s: observed %v %v %v, upstream %v %v %v", one.name, response, ok, err, expected, expectedOK, expectedErr)
		}
		if ok != (one.user != "") || ok && response.User.GetName() != one.user {
			t.Errorf("%s: user %v, want %q", one.name, response, one.user)
		}
	}

	after := statuses(t, observed)
	authenticated := map[string]int64{
		"request-header": 1, "client-certificate": 1, "token-file": 3, "service-account-legacy": 0, "service-account": 0,
		"bootstrap-token": 0, jwtName(e.issuer): 1, "webhook": 1, "anonymous": 1,
	}
	// A client certificate is shown to the front proxy's authenticator first; that it
	// is of another authority is no error.
	failed := map[string]int64{"service-account": 1, jwtName(e.issuer): 1}
	for name, want := range authenticated {
		if got := after[name].Authenticated - before[name].Authenticated; got != want {
			t.Errorf("%s authenticated %d, want %d", name, got, want)
		}
		if got := after[name].Errors - before[name].Errors; got != failed[name] {
			t.Errorf("%s errors %d, want %d", name, got, failed[name])
		}
		if strings.HasPrefix(after[name].Counted, "nothing is counted") {
			t.Errorf("%s: %s", name, after[name].Counted)
		}
	}
	if len(after) != len(authenticated) {
		t.Errorf("%d authenticators, want %d", len(after), len(authenticated))
	}
	if after["bootstrap-token"].NoOpinion == 0 || after["bootstrap-token"].Latency.Count == 0 {
		t.Errorf("bootstrap-token was not seen to be asked: %+v", after["bootstrap-token"])
	}
}

func jwtName(i issuer) string {
	return "jwt-" + strings.ReplaceAll(strings.TrimPrefix(i.URL, "https://"), ":", "-")
}

func statuses(t *testing.T, observed *auth.Authenticators) map[string]v1alpha1.AuthenticatorStatus {
	t.Helper()
	objects, err := observed.Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]v1alpha1.AuthenticatorStatus{}
	for i, object := range objects {
		one := object.(*v1alpha1.Authenticator)
		if one.Spec.Order != int32(i) || one.ServerID != "server-1" {
			t.Errorf("%s is at %d: %+v", one.Name, i, one.Spec)
		}
		all[one.Name] = one.Status
	}
	return all
}

func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			t.Fatalf("waited a minute for %s", what)
		case <-ticker.C:
		}
	}
}

func TestAuthenticatorsSayWhereTheyComeFrom(t *testing.T) {
	t.Parallel()
	e := newEverything(t)
	given := func(flag string) bool { return flag == "client-ca-file" }
	authentication, err := NewAuthentication(e.options, given)
	if err != nil {
		t.Fatal(err)
	}
	by := func() map[string]v1alpha1.Configured {
		all, err := authentication.Authenticators()
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]v1alpha1.Configured{}
		for _, one := range all {
			found[one.Name] = one.Configured
		}
		return found
	}
	found := by()
	for name, want := range map[string]v1alpha1.Configured{
		"client-certificate": {ConfiguredBy: "--client-ca-file", Source: e.users.file},
		"request-header":     {ConfiguredBy: "default", Source: e.proxies.file},
		"jwt-" + strings.TrimPrefix(e.issuer.URL, "https://"): {ConfiguredBy: e.configFile, Source: e.issuer.URL},
	} {
		if found[name] != want {
			t.Errorf("%s: %+v, want %+v", name, found[name], want)
		}
	}
	if !authentication.Anonymous("/livez") {
		t.Error("anonymous requests are allowed everywhere, but not to /livez")
	}

	// The file is replaced while the server runs, and later is wrong for a while.
	second := newIssuer(t)
	e.configure(t, e.issuer, second)
	waitFor(t, "the second issuer", func() bool { _, ok := by()["jwt-"+strings.TrimPrefix(second.URL, "https://")]; return ok })
	writeFile(t, e.configFile, []byte("no configuration"))
	if len(by()) != len(found)+1 {
		t.Errorf("a wrong file changes what is shown: %v", by())
	}
}

func TestWithoutCredentials(t *testing.T) {
	t.Parallel()
	if got := withoutCredentials("https://name:secret@issuer.example/path?key=secret#x"); got != "https://issuer.example/path" {
		t.Error(got)
	}
}
