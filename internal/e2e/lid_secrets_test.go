package e2e_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/kapitest"
)

// secretMarks are the secrets of TestSecrets: each is found again by its text,
// and tells by it how it came in.
type secretMarks struct {
	data, staticToken, wrongToken, password, header, cookie, query, selector, body, socketToken, extra, host, mediaType, // of requests
	encryptionKey, hookToken, hookPassword, // of configuration files
	validToken string // made by the server
}

func newMarks() *secretMarks {
	return &secretMarks{
		data: "mark-secret-data", staticToken: "mark-static-token", wrongToken: "mark-wrong-token", password: "mark-password",
		header: "mark-header", cookie: "mark-cookie", query: "mark-query", selector: "mark-selector", body: "mark-body",
		socketToken: "mark-socket-token", extra: "mark-extra", host: "mark-host", mediaType: "mark-media-type",
		encryptionKey: "mark-encryption-key-of-32-bytes!", hookToken: "mark-hook-token", hookPassword: "mark-hook-password",
	}
}

// all are the forms in which each may be found.
func (m *secretMarks) all() map[string]string {
	forms := map[string]string{}
	for _, mark := range []string{
		m.data, m.staticToken, m.wrongToken, m.password, m.header, m.cookie, m.query, m.selector, m.body,
		m.socketToken, m.extra, m.host, m.mediaType, m.encryptionKey, m.hookToken, m.hookPassword,
	} {
		forms[mark] = mark
		forms[mark+" in base64"] = base64.RawStdEncoding.EncodeToString([]byte(mark))
	}
	forms["basic auth"] = base64.StdEncoding.EncodeToString([]byte("somebody:" + m.password))
	forms["a valid token"] = m.validToken
	forms["the signature of a valid token"] = m.validToken[strings.LastIndexByte(m.validToken, '.')+1:]
	return forms
}

// TestSecrets sends secrets on all ways into a server, and has others in its
// configuration; then it looks for them in all that the server shows.
func TestSecrets(t *testing.T) {
	t.Parallel()
	marks := newMarks()
	hook := serveTLS(t, listen(t, "127.0.0.1"), newAuthority(t), http.NotFoundHandler(), "127.0.0.1")
	server := kapitest.Faulty(t, nil, secretFlags(t, marks, hook.Listener.Addr().String())...)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	client := server.Client(t)
	if _, err := client.CoreV1().ServiceAccounts("default").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	marks.validToken = newToken(t, server, "default", "robot")
	restrictPods(t, client, "restricted")
	refuseEverything(t, server, hook.URL)

	watching, stop := context.WithCancel(t.Context())
	defer stop()
	watched := map[string]*output{}
	var watches sync.WaitGroup
	for _, kind := range kinds.All() {
		watched[kind.Resource] = &output{}
		watches.Go(func() { watchInto(watching, t, server.Config(t), kind.Resource, watched[kind.Resource]) })
	}
	explained := sendSecrets(t, server, marks)
	shown := map[string]string{
		"route explanations": explained,
		"metrics":            string(scrape(t, server)),
		"the log":            server.Log(),
	}
	for _, kind := range kinds.All() {
		path := "/apis/inspect.kapi.dev/v1alpha1/" + kind.Resource + "?labelSelector=" + url.QueryEscape("kapi.dev/inspect!=none")
		code, body, _ := get(t, server.Config(t), path)
		if code != http.StatusOK {
			t.Fatalf("%s: %d %s", path, code, body)
		}
		shown["objects of "+kind.Resource] = body
		_, shown["table of "+kind.Resource], _ = get(t, server.Config(t), path, "Accept", "application/json;as=Table;g=meta.k8s.io;v=v1")
	}
	// Tables are published twice a second: the last sight of all is that of a request sent now.
	id, _ := raw{method: "GET", path: "/api/v1/last"}.send(t, server.Config(t))
	await(t, "the last request in the watch of traces", func(context.Context) bool {
		return strings.Contains(watched["requesttraces"].String(), id) && watched["filters"].String() != ""
	})
	stop()
	watches.Wait()
	for resource, text := range watched {
		shown["watch of "+resource] = text.String()
	}
	for name, text := range filesOf(t, server.Dir) {
		shown["the file "+name] = text
	}
	searchFor(t, marks, shown)
}

// searchFor looks for each mark in each text.
func searchFor(t *testing.T, marks *secretMarks, shown map[string]string) {
	t.Helper()
	if !strings.Contains(shown["objects of requesttraces"], "/api/v1/namespaces/default/secrets/marked") {
		t.Error("the request for a secret is not among the traces, so that the search means nothing")
	}
	if _, ok := shown["the file boots.json"]; !ok {
		t.Error("there is no record of starts to be searched")
	}
	for place, text := range shown {
		for what, secret := range marks.all() {
			if i := strings.Index(text, secret); i >= 0 {
				t.Errorf("%s is in %s: …%s…", what, place, text[max(0, i-300):min(len(text), i+len(secret)+100)])
			}
		}
	}
}

// filesOf returns the files of a data directory that are neither keys nor etcd's.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, entry := range entries {
		if entry.Type().IsRegular() && entry.Name() != "kubeconfig" {
			files[entry.Name()] = readFile(t, filepath.Join(dir, entry.Name()))
		}
	}
	return files
}

// secretFlags configures a server with secrets wherever it can be: a static token, a
// key for encryption, and webhooks, at address, with credentials in their URLs and beside them.
func secretFlags(t *testing.T, marks *secretMarks, address string) []string {
	t.Helper()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		writeFile(t, path, text)
		return path
	}
	kubeconfig := file("hook.kubeconfig", `
apiVersion: v1
kind: Config
current-context: hook
contexts: [{name: hook, context: {cluster: hook, user: hook}}]
clusters: [{name: hook, cluster: {server: "https://somebody:`+marks.hookPassword+`@`+address+`/hook"}}]
users:
- {name: hook, user: {token: `+marks.hookToken+`}}
- {name: "`+address+`", user: {token: `+marks.hookToken+`}}
`)
	return []string{
		"--token-auth-file", file("tokens.csv", marks.staticToken+",static,1\n"),
		"--authentication-token-webhook-config-file", kubeconfig,
		"--authorization-mode", "Node,RBAC,Webhook", "--authorization-webhook-config-file", kubeconfig,
		"--encryption-provider-config", file("encryption.yaml", `
apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- resources: [secrets]
  providers:
  - secretbox: {keys: [{name: key1, secret: `+base64.StdEncoding.EncodeToString([]byte(marks.encryptionKey))+`}]}
`),
		"--admission-control-config-file", file("admission.yaml", `
apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: ValidatingAdmissionWebhook
  configuration: {apiVersion: apiserver.config.k8s.io/v1, kind: WebhookAdmissionConfiguration, kubeConfigFile: `+kubeconfig+`}
`),
	}
}

// refuseEverything has all limit ranges refused, by a webhook at a URL that
// can't be asked since its certificate is not trusted.
func refuseEverything(t *testing.T, server *kapitest.Server, hook string) {
	t.Helper()
	target := hook + "/validate"
	none := admissionregistrationv1.SideEffectClassNone
	_, err := server.Client(t).AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(t.Context(), &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "refuse"},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "refuse.e2e.test", AdmissionReviewVersions: []string{"v1"}, SideEffects: &none,
			ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: &target},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.OperationAll},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"limitranges"}},
			}},
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	await(t, "the webhook in force", func(ctx context.Context) bool {
		_, status := raw{method: "POST", path: "/api/v1/namespaces/default/limitranges", body: `{"metadata":{"name":"a"},"spec":{"limits":[]}}`}.send(t, server.Config(t))
		return status == http.StatusInternalServerError
	})
}

// sendSecrets sends all of them, and returns what explanations of routes say.
func sendSecrets(t *testing.T, server *kapitest.Server, m *secretMarks) (explained string) {
	t.Helper()
	config := server.Config(t)
	secret := `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"marked"},"stringData":{"key":"` + m.data + `"}}`
	const secrets, maps = "/api/v1/namespaces/default/secrets", "/api/v1/namespaces/default/configmaps"
	query := url.Values{"token": {m.query}, "password": {m.query}, "timeout": {m.query}, "command": {m.query}, "continue": {m.query}}.Encode()
	selectors := url.Values{"fieldSelector": {"metadata.name=" + m.selector}, "labelSelector": {"app=" + m.selector}}.Encode()
	with := func(name, value string) map[string]string { return map[string]string{name: value} }
	pod := `{"metadata":{"name":"p","annotations":{"a":"` + m.body + `"}},"spec":{"containers":[{"name":"c","image":"` + m.body + `","securityContext":{"privileged":true}}]}}`
	for _, request := range []raw{
		{method: "POST", path: secrets, body: secret},
		{method: "PUT", path: secrets + "/marked", body: secret},
		{method: "GET", path: secrets + "/marked"},
		{method: "GET", path: secrets},
		{method: "PATCH", path: secrets + "/marked?fieldManager=e2e", body: secret, header: with("Content-Type", "application/apply-patch+yaml")},
		{method: "POST", path: secrets, body: strings.Replace(secret, `"marked"`, `"Not_`+m.body+`"`, 1)},
		{method: "POST", path: secrets, body: strings.Replace(secret, "stringData", "data", 1)}, // no base64

		{method: "GET", path: maps, anonymous: true, header: with("Authorization", "Bearer "+m.validToken)},
		{method: "GET", path: maps, anonymous: true, header: with("Authorization", "Bearer "+m.validToken[:len(m.validToken)-4])},
		{method: "GET", path: maps, anonymous: true, header: with("Authorization", "Bearer "+m.staticToken)},
		{method: "GET", path: maps, anonymous: true, header: with("Authorization", "Bearer "+m.wrongToken)},
		{method: "GET", path: maps, anonymous: true, header: with("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("somebody:"+m.password)))},
		{method: "GET", path: maps, header: with("X-Of-My-Own", m.header)},
		{method: "GET", path: maps, header: with("Cookie", "session="+m.cookie)},
		{method: "GET", path: maps, header: with("Accept", "application/"+m.mediaType)},
		{method: "POST", path: maps, body: "{}", header: with("Content-Type", "application/"+m.mediaType)},
		{method: "GET", path: maps, as: "somebody", header: with("Impersonate-Extra-Secret", m.extra)},
		{method: "GET", path: maps, header: with("Impersonate-Extra-Secret", m.extra)},
		{method: "GET", path: maps, anonymous: true, header: with("X-Remote-User", m.header)},
		{method: "GET", path: maps, header: with("Host", m.host)},
		{method: "GET", path: maps + "?watch=1", anonymous: true, header: map[string]string{
			"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
			"Sec-WebSocket-Protocol": "v4.channel.k8s.io, base64url.bearer.authorization.k8s.io." + base64.RawURLEncoding.EncodeToString([]byte(m.socketToken)),
		}},

		{method: "GET", path: maps + "?" + query},
		{method: "GET", path: maps + "?continue=" + m.query},
		{method: "GET", path: "/faults/panic?continue=" + m.query + "&" + selectors, header: with("Authorization", "Bearer "+m.wrongToken)},
		{method: "GET", path: "/faults/hang?timeout=1s&continue=" + m.query + "&" + selectors, header: with("Cookie", m.cookie)},
		{method: "GET", path: maps + "?token=" + m.query},
		{method: "GET", path: secrets + "?token=" + m.query, as: "somebody"},
		{method: "GET", path: "/nothing/here?" + query},
		{method: "GET", path: "/livez?" + query, anonymous: true},
		{method: "GET", path: "/api/v1/namespaces/default/pods/p/exec?command=" + m.query},
		{method: "GET", path: maps + "?" + selectors},
		{method: "GET", path: maps + "?watch=1&timeoutSeconds=1&" + selectors},
		{method: "DELETE", path: maps + "?" + selectors},
		{method: "GET", path: maps + "?fieldSelector=" + m.selector},
		{method: "GET", path: "/apis/inspect.kapi.dev/v1alpha1/requesttraces?fieldSelector=" + url.QueryEscape("spec.path="+m.selector)},

		{method: "POST", path: "/api/v1/namespaces/restricted/pods", body: pod},                                                               // by admission
		{method: "POST", path: "/api/v1/namespaces/default/limitranges", body: `{"metadata":{"name":"` + m.body + `"},"spec":{"limits":[]}}`}, // by a webhook
		{method: "POST", path: maps, body: `{"metadata":{"name":"Not_` + m.body + `"}}`},                                                      // by validation
		{method: "POST", path: maps, body: `{"metadata":{"name":` + m.body},                                                                   // no JSON
		{method: "POST", path: maps + "?fieldValidation=Strict", body: `{"metadata":{"name":"strict"},"` + m.body + `":1}`},                   // unknown field
		{method: "POST", path: maps + "?fieldValidation=Warn", body: `{"metadata":{"name":"warned"},"` + m.body + `":1}`},                     // and only a warning
		{method: "POST", path: maps, as: "somebody", body: `{"metadata":{"name":"m"},"data":{"key":"` + m.body + `"}}`},                       // by authorization
		{method: "POST", path: maps, body: `{"metadata":{"name":"large"},"data":{"key":"` + strings.Repeat(m.body, 1<<19) + `"}}`},            // too large
		{method: "POST", path: "/apis/authentication.k8s.io/v1/tokenreviews", body: `{"spec":{"token":"` + m.wrongToken + `"}}`},              // as a webhook would
		{method: "POST", path: "/apis/inspect.kapi.dev/v1alpha1/routeexplanations", body: `{"spec":{"verb":"` + m.body + `","path":""}}`},     // of nothing
	} {
		request.send(t, config)
	}
	if _, err := server.Client(t).AuthenticationV1().TokenReviews().Create(t.Context(), &authenticationv1.TokenReview{
		Spec: authenticationv1.TokenReviewSpec{Token: m.validToken},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{maps + "?" + query, maps + "?" + selectors, "/nothing?" + query, secrets + "?token=" + m.query} {
		explained += explain(t, server, v1alpha1.RouteExplanationSpec{Verb: "get", Path: path, User: "somebody"})
	}
	return explained
}

// explain returns what the server says of a route, without what it was asked.
func explain(t *testing.T, server *kapitest.Server, spec v1alpha1.RouteExplanationSpec) string {
	t.Helper()
	text, err := json.Marshal(v1alpha1.RouteExplanation{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: "RouteExplanation"}, Spec: spec,
	})
	if err != nil {
		t.Fatal(err)
	}
	config := server.Config(t)
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	code, body, _ := roundTrip(t, client, http.MethodPost, config.Host+"/apis/inspect.kapi.dev/v1alpha1/routeexplanations",
		strings.NewReader(string(text)), "Content-Type", "application/json")
	var answer v1alpha1.RouteExplanation
	if err := json.Unmarshal([]byte(body), &answer); err != nil || code != http.StatusCreated || answer.Status.Outcome == "" {
		t.Fatalf("explaining %s: %d %s", spec.Path, code, body)
	}
	return fmt.Sprintf("%+v", answer.Status)
}

// watchInto writes all events of a resource into out until ctx is done.
func watchInto(ctx context.Context, t *testing.T, config *rest.Config, resource string, out io.Writer) {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Error(err)
		return
	}
	query := "?watch=true&allowWatchBookmarks=true&labelSelector=" + url.QueryEscape("kapi.dev/inspect!=none")
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, config.Host+"/apis/inspect.kapi.dev/v1alpha1/"+resource+query, nil)
	if err != nil {
		t.Error(err)
		return
	}
	response, err := client.Do(request)
	if err != nil {
		if ctx.Err() == nil {
			t.Errorf("watching %s: %v", resource, err)
		}
		return
	}
	defer response.Body.Close()
	if _, err := io.Copy(out, response.Body); err == nil || ctx.Err() == nil {
		t.Errorf("the watch of %s has ended by itself: %v", resource, err)
	}
}
