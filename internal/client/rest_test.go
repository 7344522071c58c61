package client

import (
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kapi-dev/kapi/internal/fault"
)

const two = `apiVersion: v1
kind: Config
current-context: one
clusters:
- {name: one, cluster: {server: "https://one.example.org"}}
- {name: two, cluster: {server: "https://two.example.org", certificate-authority: ca.crt}}
users:
- {name: u, user: {token: hunter2}}
contexts:
- {name: one, context: {cluster: one, user: u}}
- {name: two, context: {cluster: two, user: u}}
- {name: broken, context: {cluster: nowhere, user: u}}
`

func TestRESTConfig(t *testing.T) {
	t.Parallel()
	tmp := t.TempDir()
	first := put(t, tmp+"/a/first", two)
	second := put(t, tmp+"/b/second", strings.NewReplacer("one", "three", "two.example", "other.example").Replace(two))
	empty, none := put(t, tmp+"/empty", ""), put(t, tmp+"/none", strings.Replace(two, "current-context: one", "", 1))
	dangling := put(t, tmp+"/dangling", strings.Replace(two, "current-context: one", "current-context: gone", 1))
	broken := put(t, tmp+"/broken", "clusters: hunter2\n")
	put(t, tmp+"/a/ca.crt", "")

	tests := []struct {
		name    string
		paths   []string
		context string
		host    string
		wantErr string
		hint    string
		usage   bool
	}{
		{name: "current context", paths: []string{first}, host: "https://one.example.org"},
		{name: "other context", paths: []string{first}, context: "two", host: "https://two.example.org"},
		{name: "first of a list counts", paths: []string{first, second}, context: "two", host: "https://two.example.org"},
		{name: "second of a list adds", paths: []string{first, second}, context: "three", host: "https://three.example.org"},
		{name: "current context of the first", paths: []string{second, first}, host: "https://three.example.org"},
		{name: "named context though none is current", paths: []string{none}, context: "one", host: "https://one.example.org"},
		{name: "unknown context", paths: []string{first}, context: "four", wantErr: `no context "four"`, hint: "broken, one, two", usage: true},
		{name: "no current context", paths: []string{none}, wantErr: "no current context", hint: "--context"},
		{name: "current context gone", paths: []string{dangling}, wantErr: `"gone"`, hint: "broken, one, two"},
		{name: "empty", paths: []string{empty}, wantErr: empty, hint: "none"},
		{name: "context of no cluster", paths: []string{first}, context: "broken", wantErr: `"broken"`, hint: "one"},
		{name: "not to be parsed", paths: []string{broken}, wantErr: broken, hint: "repair", usage: true},
		{name: "a path that is gone", paths: []string{tmp + "/gone"}, wantErr: tmp + "/gone", hint: "none"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := RESTConfig(Source{Paths: tt.paths, Why: "test"}, &clientcmd.ConfigOverrides{CurrentContext: tt.context})
			if tt.wantErr == "" {
				if err != nil || got.Host != tt.host || got.BearerToken != "hunter2" {
					t.Errorf("got %v, %v", got, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.wantErr) || !strings.Contains(fault.Hint(err), tt.hint) {
				t.Fatalf("got %v with hint %q", err, fault.Hint(err))
			}
			if strings.Contains(err.Error(), "hunter2") || (fault.Code(err) == fault.CodeUsage) != tt.usage {
				t.Errorf("got %v with exit code %d", err, fault.Code(err))
			}
		})
	}
	t.Run("paths in a file are its own", func(t *testing.T) {
		t.Parallel()
		got, err := RESTConfig(Source{Paths: []string{first}}, &clientcmd.ConfigOverrides{CurrentContext: "two"})
		if err != nil || got.CAFile != tmp+"/a/ca.crt" {
			t.Errorf("got %v, %v", got, err)
		}
	})
}

// In a pod, too, the file counts and not the cluster around it.
func TestRESTConfigInCluster(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
	t.Setenv("KUBERNETES_SERVICE_PORT", "443")
	t.Setenv("KUBERNETES_MASTER", "https://elsewhere.example.org")
	got, err := RESTConfig(Source{Paths: []string{put(t, t.TempDir()+"/config", two)}}, nil)
	if err != nil || got.Host != "https://one.example.org" {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestRESTConfigOfKapi(t *testing.T) {
	t.Parallel()
	k := newKapi(t, "https://127.0.0.1:6443")
	got, err := RESTConfig(Source{Paths: []string{k.kubeconfig}}, nil)
	if err != nil || got.Host != "https://127.0.0.1:6443" || len(got.CAData) == 0 || len(got.CertData) == 0 || len(got.KeyData) == 0 {
		t.Errorf("got %v, %v", got, err)
	}
}

// Flags go before the kubeconfig, and a server that a flag names needs none.
func TestRESTConfigOverrides(t *testing.T) {
	t.Parallel()
	file := put(t, t.TempDir()+"/config", two)
	server := clientcmd.ConfigOverrides{ClusterInfo: clientcmdapi.Cluster{Server: "https://other.example.org"}}
	got, err := RESTConfig(Source{Paths: []string{file}}, &server)
	if err != nil || got.Host != "https://other.example.org" || got.BearerToken != "hunter2" {
		t.Errorf("got %+v, %v", got, err)
	}
	server.AuthInfo.Impersonate = "alice"
	got, err = RESTConfig(Source{}, &server)
	if err != nil || got.Host != "https://other.example.org" || got.Impersonate.UserName != "alice" {
		t.Errorf("without a kubeconfig: %+v, %v", got, err)
	}
}
