package connect

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/kapi-dev/kapi/internal/fault"
)

// isolate keeps the kubeconfigs of whoever runs the tests out of them, and returns
// the home directory.
func isolate(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("KUBECONFIG", "")
	t.Setenv("XDG_DATA_HOME", filepath.Join(home, "data"))
	t.Setenv("KAPI_DATADIR", filepath.Join(home, "kapi"))
	return home
}

// flags are the flags of a command line.
func flags(t *testing.T, args ...string) *Flags {
	t.Helper()
	f := &Flags{}
	set := pflag.NewFlagSet("kapi", pflag.ContinueOnError)
	f.Add(set)
	if err := set.Parse(args); err != nil {
		t.Fatal(err)
	}
	return f
}

// connect finds the server of a command line.
func connect(t *testing.T, args ...string) *Connection {
	t.Helper()
	connection, err := flags(t, args...).Connect()
	if err != nil {
		t.Fatal(err)
	}
	return connection
}

// get asks for a path, and returns what the error means.
func get(t *testing.T, c *Connection, path string) error {
	t.Helper()
	config := rest.CopyConfig(c.Config)
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	client, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	return c.Explain(client.Get().AbsPath(path).Do(t.Context()).Error())
}

// explains checks an error: code, what it says, and the way out.
func explains(t *testing.T, err error, code int, text, hint string) {
	t.Helper()
	if err == nil || fault.Code(err) != code || !strings.Contains(err.Error(), text) || !strings.Contains(fault.Hint(err), hint) {
		t.Errorf("code %d, error %q, hint %q; want code %d, %q, hint %q", fault.Code(err), err, fault.Hint(err), code, text, hint)
	}
}

// authority writes the certificate of a server as its authority.
func authority(t *testing.T, server *httptest.Server) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ca.crt")
	data := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// refusing is a server that answers everything with a Status.
func refusing(t *testing.T, status *apierrors.StatusError) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		body := status.Status()
		body.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(int(body.Code))
		_ = json.NewEncoder(w).Encode(body)
	}))
	t.Cleanup(server.Close)
	return server
}

func TestExplainRefused(t *testing.T) {
	isolate(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := "https://" + listener.Addr().String()
	listener.Close()
	err = get(t, connect(t, "--server", address), "/version")
	explains(t, err, fault.CodeFailure, "no server answers at "+address+": dial tcp", `start a server with "kapi serve"`)
}

func TestExplainUnknownHost(t *testing.T) {
	isolate(t)
	err := get(t, connect(t, "--server", "https://no-such-host.invalid:6443"), "/version")
	explains(t, err, fault.CodeFailure, "no server answers at https://no-such-host.invalid:6443", "check the server's address")
}

func TestExplainCertificate(t *testing.T) {
	home := isolate(t)
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // it is told of each handshake that fails
	server.StartTLS()
	defer server.Close()
	explains(t, get(t, connect(t, "--server", server.URL), "/version"), fault.CodeFailure,
		"the certificate of the server at "+server.URL+" is not trusted: ", "--certificate-authority")
	// A name that the certificate does not have.
	named := connect(t, "--server", server.URL, "--certificate-authority", authority(t, server), "--tls-server-name", "kapi.test")
	explains(t, get(t, named, "/version"), fault.CodeFailure, "is not trusted: ", "--certificate-authority")
	// Of a kubeconfig the hint says which one it is.
	file := kubeconfig(t, filepath.Join(home, "config"), server.URL)
	explains(t, get(t, connect(t, "--kubeconfig", file), "/version"), fault.CodeFailure, "is not trusted", "kubeconfig "+file+" (--kubeconfig) is of another server")
	// With the authority there is nothing to explain.
	trusted := connect(t, "--server", server.URL, "--certificate-authority", authority(t, server))
	if err := get(t, trusted, "/version"); !apierrors.IsNotFound(err) || fault.Hint(err) != "" {
		t.Errorf("error %v, hint %q", err, fault.Hint(err))
	}
}

func TestExplainStatus(t *testing.T) {
	home := isolate(t)
	kapi := func(resource string) *apierrors.StatusError {
		return apierrors.NewForbidden(schema.GroupResource{Group: "inspect.kapi.dev", Resource: resource}, "", errors.New(`User "花子" cannot list`))
	}
	for name, test := range map[string]struct {
		status     *apierrors.StatusError
		text, hint string
	}{
		"unauthorized":     {apierrors.NewUnauthorized("who"), "does not know you", "may have expired"},
		"any kind":         {kapi("filters"), `User "花子" cannot list`, "ClusterRole kapi:inspect gives it; an administrator binds it with: kubectl create clusterrolebinding NAME --clusterrole=kapi:inspect --user="},
		"requests":         {kapi("requesttraces"), "forbidden", "--clusterrole=kapi:inspect-requests"},
		"explanations":     {kapi("routeexplanations"), "forbidden", "--clusterrole=kapi:inspect-requests"},
		"the store":        {kapi("storedkeyqueries"), "forbidden", "--clusterrole=kapi:inspect-storage"},
		"another resource": {apierrors.NewForbidden(schema.GroupResource{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}, "", errors.New("no")), "forbidden", "--resource=customresourcedefinitions.apiextensions.k8s.io"},
		"core":             {apierrors.NewForbidden(schema.GroupResource{Resource: "namespaces"}, "", errors.New("no")), "forbidden", "--verb=get,list,watch --resource=namespaces"},
		"a path": {&apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Reason: metav1.StatusReasonForbidden, Code: http.StatusForbidden,
			Message: `forbidden: User "a" cannot get path "/metrics"`, Details: &metav1.StatusDetails{},
		}}, `cannot get path "/metrics"`, "--clusterrole=system:monitoring"},
		"no details": {&apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Reason: metav1.StatusReasonForbidden, Code: http.StatusForbidden, Message: "no",
		}}, "no", "kubectl auth can-i --list"},
	} {
		t.Run(name, func(t *testing.T) {
			server := refusing(t, test.status)
			c := connect(t, "--server", server.URL)
			err := get(t, c, "/apis")
			explains(t, err, fault.CodeUnauthorized, test.text, test.hint)
			var status apierrors.APIStatus
			if !errors.As(err, &status) {
				t.Error("the status is hidden from errors.As")
			}
			if again := c.Explain(err); again != err { //nolint:errorlint // the same value
				t.Errorf("explained twice it is %v", again)
			}
		})
	}
	bad := refusing(t, apierrors.NewBadRequest("field label not supported"))
	explains(t, get(t, connect(t, "--server", bad.URL), "/apis"), fault.CodeUsage, "field label not supported", "")
	server := refusing(t, apierrors.NewUnauthorized("who"))
	file := kubeconfig(t, filepath.Join(home, "config"), server.URL)
	explains(t, get(t, connect(t, "--kubeconfig", file), "/apis"), fault.CodeUnauthorized, "the server at "+server.URL+" does not know you", "it is from kubeconfig "+file)
}

func TestExplainTimeout(t *testing.T) {
	isolate(t)
	leave := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-leave }))
	defer server.Close()
	defer close(leave)
	c := connect(t, "--server", server.URL, "--request-timeout", "50ms")
	explains(t, get(t, c, "/version"), fault.CodeFailure, "the server at "+server.URL+" does not answer in time", "--request-timeout")
	explains(t, c.Explain(apierrors.NewTimeoutError("busy", 1)), fault.CodeFailure, "does not answer in time: ", "--request-timeout")
	explains(t, c.Explain(context.DeadlineExceeded), fault.CodeFailure, "does not answer in time", "--request-timeout")
}

// TestExplainOthers: what is no failed request comes back as it is.
func TestExplainOthers(t *testing.T) {
	isolate(t)
	c := connect(t, "--server", "https://127.0.0.1:1")
	if err := c.Explain(nil); err != nil {
		t.Error(err)
	}
	for _, err := range []error{
		errors.New("disk full"), context.Canceled, fault.Usagef("wrong"), apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, "a"),
		&os.PathError{Op: "open", Path: "report.tgz", Err: syscall.ENOENT},
	} {
		if got := c.Explain(err); got != err { //nolint:errorlint // the same value
			t.Errorf("%v became %v", err, got)
		}
	}
	// A hint that is there stays; the exit code is that of a refusal all the same.
	explains(t, c.Explain(fault.WithHint(apierrors.NewUnauthorized("who"), "a hint of its own")), fault.CodeUnauthorized, "who", "a hint of its own")
}

// kubeconfig writes one with a context for each address, the first being current.
func kubeconfig(t *testing.T, file string, addresses ...string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("apiVersion: v1\nkind: Config\ncurrent-context: c0\nusers: [{name: u, user: {token: t}}]\nclusters:\n")
	for i, address := range addresses {
		b.WriteString("- {name: c" + string(rune('0'+i)) + ", cluster: {server: \"" + address + "\"}}\n")
	}
	b.WriteString("contexts:\n")
	for i := range addresses {
		n := string(rune('0' + i))
		b.WriteString("- {name: c" + n + ", context: {cluster: c" + n + ", user: u}}\n")
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestConnect: which server a command line means.
func TestConnect(t *testing.T) {
	home := isolate(t)
	own := kubeconfig(t, filepath.Join(home, "kapi", "kubeconfig"), "https://kapi:1")
	named := kubeconfig(t, filepath.Join(home, "named"), "https://named:1", "https://second:1")
	other := kubeconfig(t, filepath.Join(home, "other", "kubeconfig"), "https://other:1")
	for name, test := range map[string]struct {
		args    []string
		host    string
		context string
	}{
		"nothing":       {nil, "https://kapi:1", own},
		"kubeconfig":    {[]string{"--kubeconfig", named}, "https://named:1", named},
		"context":       {[]string{"--kubeconfig", named, "--context", "c1"}, "https://second:1", named},
		"server":        {[]string{"--server", "https://flag:1"}, "https://flag:1", own},
		"short":         {[]string{"-s", "https://flag:1"}, "https://flag:1", own},
		"data dir":      {[]string{"--data-dir", filepath.Dir(other)}, "https://other:1", other},
		"both to start": {[]string{"--kubeconfig", named, "-s", "https://flag:1"}, "https://flag:1", named},
	} {
		c := connect(t, test.args...)
		if c.Config.Host != test.host || len(c.Source.Paths) != 1 || c.Source.Paths[0] != test.context {
			t.Errorf("%s: %s from %v", name, c.Config.Host, c.Source.Paths)
		}
		if c.Config.QPS >= 0 {
			t.Errorf("%s: the client holds requests back: %v", name, c.Config.QPS)
		}
	}
	t.Setenv("KUBECONFIG", named)
	if c := connect(t); c.Config.Host != "https://named:1" {
		t.Errorf("KUBECONFIG: %s", c.Config.Host)
	}
	// A data directory that is named goes before it.
	if c := connect(t, "--data-dir", filepath.Dir(other)); c.Config.Host != "https://other:1" {
		t.Errorf("--data-dir with KUBECONFIG: %s", c.Config.Host)
	}
}

func TestConnectFails(t *testing.T) {
	home := isolate(t)
	_, err := flags(t).Connect()
	explains(t, err, fault.CodeFailure, "no kubeconfig found: looked for ", `start a server with "kapi serve"`)
	_, err = flags(t, "--data-dir", "a", "--kubeconfig", "b").Connect()
	explains(t, err, fault.CodeUsage, "--data-dir and --kubeconfig name two kubeconfigs", "keep one")
	_, err = flags(t, "--kubeconfig", filepath.Join(home, "none"), "--server", "https://a:1").Connect()
	explains(t, err, fault.CodeUsage, "none", "")
	_, err = flags(t, "--data-dir", filepath.Join(home, "none"), "--server", "https://a:1").Connect()
	explains(t, err, fault.CodeFailure, "no kubeconfig found: looked for "+filepath.Join(home, "none"), "kapi serve")
	named := kubeconfig(t, filepath.Join(home, "named"), "https://named:1")
	_, err = flags(t, "--kubeconfig", named, "--context", "花").Connect()
	explains(t, err, fault.CodeUsage, "花", "")
}

// TestNotRunning: of a kapi on this machine that does not run the hint says so.
func TestNotRunning(t *testing.T) {
	home := isolate(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := "https://" + listener.Addr().String()
	listener.Close()
	dir := filepath.Join(home, "kapi")
	kubeconfig(t, filepath.Join(dir, "kubeconfig"), address)
	want := "no server runs on data directory " + dir + `: start it with "kapi serve"`
	explains(t, get(t, connect(t), "/version"), fault.CodeFailure, "no server answers", want)
	explains(t, get(t, connect(t, "--data-dir", dir), "/version"), fault.CodeFailure, "no server answers", want)
	elsewhere := kubeconfig(t, filepath.Join(home, "elsewhere"), address)
	explains(t, get(t, connect(t, "--kubeconfig", elsewhere), "/version"), fault.CodeFailure, "no server answers", "name another one with --kubeconfig")
}

func TestContexts(t *testing.T) {
	home := isolate(t)
	if got := flags(t).Contexts(); got != nil {
		t.Errorf("without a kubeconfig: %q", got)
	}
	named := kubeconfig(t, filepath.Join(home, "named"), "https://a:1", "https://b:1")
	if got := flags(t, "--kubeconfig", named).Contexts(); strings.Join(got, " ") != "c0 c1" {
		t.Errorf("contexts are %q", got)
	}
	if err := os.WriteFile(named, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := flags(t, "--kubeconfig", named).Contexts(); got != nil {
		t.Errorf("of a broken one: %q", got)
	}
}

// TestNoFlags: flags without a meaning here are not offered.
func TestNoFlags(t *testing.T) {
	set := pflag.NewFlagSet("kapi", pflag.ContinueOnError)
	(&Flags{}).Add(set)
	for _, name := range []string{"namespace", "username", "password", "disable-compression"} {
		if set.Lookup(name) != nil {
			t.Errorf("--%s is offered", name)
		}
	}
	for _, name := range []string{"kubeconfig", "data-dir", "context", "server", "token", "as", "request-timeout", "certificate-authority"} {
		if set.Lookup(name) == nil {
			t.Errorf("--%s is missing", name)
		}
	}
}
