package client

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kapi-dev/kapi/internal/datadir"
	"github.com/kapi-dev/kapi/internal/fault"
)

func TestResolve(t *testing.T) {
	t.Parallel()
	tmp := t.TempDir()
	in := func(elem ...string) string { return filepath.Join(append([]string{tmp}, elem...)...) }
	explicit, a, b := put(t, in("explicit"), ""), put(t, in("a"), ""), put(t, in("b"), "")
	data := filepath.Dir(put(t, in("data", "kubeconfig"), ""))
	running := filepath.Dir(put(t, in("running", "kubeconfig"), ""))
	must(t, datadir.WriteServerInfo(datadir.At(running).ServerInfo(), datadir.ServerInfo{PID: os.Getpid()}))
	home := in("home")
	homeFile := put(t, in("home", ".kube", "config"), "")
	must(t, os.Symlink("a", in("link")))
	missing := in("missing")
	join := func(paths ...string) string { return strings.Join(paths, string(filepath.ListSeparator)) }

	tests := []struct {
		name    string
		o       Options
		want    []string
		why     string
		wantErr string
		usage   bool
	}{
		{name: "all there: --kubeconfig", o: Options{Explicit: explicit, Env: envOf(a), DataDir: data, Home: home}, want: []string{explicit}, why: "--kubeconfig"},
		{name: "all there but that: KUBECONFIG", o: Options{Env: envOf(a), DataDir: data, Home: home}, want: []string{a}, why: "KUBECONFIG"},
		{name: "no environment: data directory", o: Options{DataDir: data, Home: home}, want: []string{data + "/kubeconfig"}, why: "data directory " + data + ", no running server"},
		{name: "running server", o: Options{DataDir: running, Home: home}, want: []string{running + "/kubeconfig"}, why: "server running with pid"},
		{name: "no data: home", o: Options{DataDir: missing, Home: home}, want: []string{homeFile}, why: "home"},
		{name: "KUBECONFIG empty", o: Options{Env: envOf(""), DataDir: data}, want: []string{data + "/kubeconfig"}, why: "data directory"},
		{name: "KUBECONFIG of separators", o: Options{Env: envOf("::"), DataDir: data}, want: []string{data + "/kubeconfig"}, why: "data directory"},
		{name: "KUBECONFIG list", o: Options{Env: envOf(join(b, "", a, b))}, want: []string{b, a}, why: "KUBECONFIG"},
		{name: "KUBECONFIG list, one missing", o: Options{Env: envOf(join(missing, a))}, want: []string{a}, why: "KUBECONFIG"},
		{name: "link", o: Options{Explicit: in("link")}, want: []string{in("link")}, why: "--kubeconfig"},
		{name: "--kubeconfig missing", o: Options{Explicit: missing, Env: envOf(a), DataDir: data, Home: home}, wantErr: missing, usage: true},
		{name: "--kubeconfig a directory", o: Options{Explicit: data, Home: home}, wantErr: data + " is a directory", usage: true},
		{name: "KUBECONFIG missing", o: Options{Env: envOf(missing), DataDir: data, Home: home}, wantErr: missing, usage: true},
		{name: "KUBECONFIG list, all missing", o: Options{Env: envOf(join(missing, missing+"2")), Home: home}, wantErr: join(missing, missing+"2"), usage: true},
		{name: "KUBECONFIG a directory", o: Options{Env: envOf(join(a, data))}, wantErr: data + " is a directory", usage: true},
		{name: "nothing", o: Options{DataDir: missing, Home: in("a-home")}, wantErr: "looked for " + missing + "/kubeconfig and " + in("a-home") + "/.kube/config"},
		{name: "nowhere to look", o: Options{}, wantErr: "no kubeconfig found"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := Resolve(tt.o)
			if tt.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tt.wantErr) || fault.Hint(err) == "" {
					t.Errorf("got %v with hint %q, want an error with %q", err, fault.Hint(err), tt.wantErr)
				}
				if (fault.Code(err) == fault.CodeUsage) != tt.usage {
					t.Errorf("exit code %d", fault.Code(err))
				}
				if !tt.usage && !strings.Contains(fault.Hint(err), `"kapi serve"`) {
					t.Errorf("hint %q does not say how to start one", fault.Hint(err))
				}
				return
			}
			if err != nil || !slices.Equal(got.Paths, tt.want) || !strings.Contains(got.Why, tt.why) {
				t.Errorf("got %v, %v; want %v because of %s", got, err, tt.want, tt.why)
			}
			if s := got.String(); !strings.Contains(s, got.Paths[0]) || !strings.Contains(s, got.Why) {
				t.Errorf("String() is %q", s)
			}
		})
	}
}
