package client

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kapi-dev/kapi/internal/fault"
)

const (
	here  = "https://127.0.0.1:6443"
	there = "https://127.0.0.1:7443"
)

var noon = func() time.Time { return time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC) }

const backupSuffix = ".kapi-backup-20260102T120000Z"

// mergeOK merges, and checks that the lock is gone.
func mergeOK(t *testing.T, o MergeOptions) MergeResult {
	t.Helper()
	o.Now = noon
	res, err := Merge(o)
	must(t, err)
	if _, err := os.Stat(res.Path + ".lock"); err == nil {
		t.Error("the lock is left")
	}
	return res
}

// checkMerged looks for kapi's entries, under a name.
func checkMerged(t *testing.T, k *fakeKapi, path, name, url string) *clientcmdapi.Config {
	t.Helper()
	c, ours := load(t, path), load(t, k.kubeconfig)
	cluster, user, kctx := c.Clusters[name], c.AuthInfos[name+"-admin"], c.Contexts[name]
	if cluster == nil || user == nil || kctx == nil {
		t.Fatalf("entries are missing in\n%s", get(t, path))
	}
	if cluster.Server != url || string(cluster.CertificateAuthorityData) != string(ours.Clusters["kapi"].CertificateAuthorityData) {
		t.Errorf("cluster: %v", cluster.Server)
	}
	if string(user.ClientKeyData) != string(ours.AuthInfos["kapi-admin"].ClientKeyData) {
		t.Error("the user has another key")
	}
	if kctx.Cluster != name || kctx.AuthInfo != name+"-admin" {
		t.Errorf("context: %+v", kctx)
	}
	return c
}

func TestMergeIntoNothing(t *testing.T) {
	t.Parallel()
	k, home := newKapi(t, here), t.TempDir()
	path := filepath.Join(home, ".kube", "config")
	res := mergeOK(t, MergeOptions{From: k.kubeconfig, Home: home})
	if want := (MergeResult{Path: path, Context: "kapi", CurrentContext: "kapi", Changed: true, Created: true}); res != want {
		t.Errorf("got %+v, want %+v", res, want)
	}
	checkMerged(t, k, path, "kapi", here)
	for p, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		fi, err := os.Stat(p)
		must(t, err)
		if fi.Mode().Perm() != want {
			t.Errorf("%s has mode %v", p, fi.Mode())
		}
	}
	// The same again is no change.
	res = mergeOK(t, MergeOptions{From: k.kubeconfig, Home: home})
	if res.Changed || res.Created || res.Backup != "" {
		t.Errorf("the second merge: %+v", res)
	}
	if names := list(t, filepath.Dir(path)); !slices.Equal(names, []string{"config"}) {
		t.Errorf("left: %v", names)
	}
}

func TestMergeIntoExisting(t *testing.T) {
	t.Parallel()
	k := newKapi(t, here)
	tests := []struct {
		name        string
		content     string
		o           MergeOptions
		wantCurrent string
		wantName    string
	}{
		{"others stay, so does the current context", two, MergeOptions{}, "one", "kapi"},
		{"current context asked for", two, MergeOptions{SetCurrent: true}, "kapi", "kapi"},
		{"no current context yet", strings.Replace(two, "current-context: one", "", 1), MergeOptions{}, "kapi", "kapi"},
		{"another name", two, MergeOptions{ContextName: "dev", SetCurrent: true}, "dev", "dev"},
		{"empty file", "", MergeOptions{}, "kapi", "kapi"},
		{"white space", " \n", MergeOptions{}, "kapi", "kapi"},
		{"JSON", `{"apiVersion":"v1","kind":"Config","current-context":"x"}`, MergeOptions{}, "x", "kapi"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := put(t, filepath.Join(t.TempDir(), "config"), tt.content)
			before := load(t, put(t, filepath.Join(t.TempDir(), "copy"), strings.TrimSpace(tt.content)))
			tt.o.From, tt.o.Into = k.kubeconfig, path
			res := mergeOK(t, tt.o)
			if want := (MergeResult{Path: path, Context: tt.wantName, CurrentContext: tt.wantCurrent, Changed: true, Backup: path + backupSuffix}); res != want {
				t.Errorf("got %+v, want %+v", res, want)
			}
			after := checkMerged(t, k, path, tt.wantName, here)
			if after.CurrentContext != tt.wantCurrent {
				t.Errorf("the current context is %q", after.CurrentContext)
			}
			for name, c := range before.Clusters {
				if got := after.Clusters[name]; got == nil || got.Server != c.Server || got.CertificateAuthority != c.CertificateAuthority {
					t.Errorf("cluster %s is now %v", name, got)
				}
			}
			if len(after.Contexts) != len(before.Contexts)+1 || len(after.AuthInfos) != len(before.AuthInfos)+1 || len(after.Clusters) != len(before.Clusters)+1 {
				t.Errorf("entries were lost or doubled:\n%s", get(t, path))
			}
			if got := get(t, res.Backup); got != tt.content {
				t.Errorf("the backup is %q", got)
			}
			if fi, err := os.Stat(res.Backup); err != nil || fi.Mode().Perm() != 0o600 {
				t.Errorf("the backup has mode %v, %v", fi.Mode(), err)
			}
			if res := mergeOK(t, tt.o); res.Changed || res.Backup != "" {
				t.Errorf("the second merge: %+v", res)
			}
		})
	}
}

func TestMergeTarget(t *testing.T) {
	t.Parallel()
	k, home := newKapi(t, here), t.TempDir()
	a, b := filepath.Join(home, "sub", "a"), filepath.Join(home, "b")
	tests := []struct {
		name string
		o    MergeOptions
		want string
	}{
		{"named", MergeOptions{Into: b, Env: envOf(a), Home: home}, b},
		{"first of KUBECONFIG", MergeOptions{Env: envOf(":" + a + ":" + b), Home: home}, a},
		{"home", MergeOptions{Env: envOf(""), Home: home}, filepath.Join(home, ".kube", "config")},
	}
	for _, tt := range tests {
		tt.o.From = k.kubeconfig
		if res := mergeOK(t, tt.o); res.Path != tt.want {
			t.Errorf("%s: merged into %s", tt.name, res.Path)
		}
		checkMerged(t, k, tt.want, "kapi", here)
	}
	if _, err := Merge(MergeOptions{From: k.kubeconfig}); fault.Code(err) != fault.CodeUsage {
		t.Errorf("without a home: %v", err)
	}
}

func TestMergeUpdates(t *testing.T) {
	t.Parallel()
	edit := func(old, replacement string) func(*testing.T, *fakeKapi, string) {
		return func(t *testing.T, _ *fakeKapi, path string) {
			if !strings.Contains(get(t, path), old) {
				t.Fatalf("no %q in\n%s", old, get(t, path))
			}
			put(t, path, strings.Replace(get(t, path), old, replacement, 1))
		}
	}
	move := func(t *testing.T, k *fakeKapi, _ string) { k.moveTo(t, there) }
	tests := []struct {
		name   string
		change []func(*testing.T, *fakeKapi, string)
		url    string
		check  func(*clientcmdapi.Config) bool
	}{
		{"the server has moved", []func(*testing.T, *fakeKapi, string){move}, there, nil},
		{"the server was made anew on its address", []func(*testing.T, *fakeKapi, string){func(t *testing.T, k *fakeKapi, _ string) {
			*k = *newKapi(t, here)
		}}, here, nil},
		{"namespace of the user stays", []func(*testing.T, *fakeKapi, string){
			edit("    user: kapi-admin\n", "    user: kapi-admin\n    namespace: mine\n"), move,
		}, there, func(c *clientcmdapi.Config) bool { return c.Contexts["kapi"].Namespace == "mine" }},
		{"proxy of the user stays", []func(*testing.T, *fakeKapi, string){
			edit("    server: ", "    proxy-url: socks5://localhost:1\n    server: "), move,
		}, there, func(c *clientcmdapi.Config) bool { return c.Clusters["kapi"].ProxyURL == "socks5://localhost:1" }},
		{"context removed", []func(*testing.T, *fakeKapi, string){
			edit("- context:\n    cluster: kapi\n    user: kapi-admin\n  name: kapi\n", ""), move,
		}, there, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			k := newKapi(t, here)
			path := put(t, filepath.Join(t.TempDir(), "config"), two)
			mergeOK(t, MergeOptions{From: k.kubeconfig, Into: path})
			for _, change := range tt.change {
				change(t, k, path)
			}
			res := mergeOK(t, MergeOptions{From: k.kubeconfig, Into: path})
			if want := path + backupSuffix + "-2"; res.Backup != want || !res.Changed {
				t.Errorf("got %+v, want the backup %s", res, want)
			}
			c := checkMerged(t, k, path, "kapi", tt.url)
			if len(c.Clusters) != 3 || len(c.AuthInfos) != 2 || len(c.Contexts) != 4 {
				t.Errorf("entries were doubled:\n%s", get(t, path))
			}
			if tt.check != nil && !tt.check(c) {
				t.Errorf("what the user had set is gone:\n%s", get(t, path))
			}
		})
	}
}

func TestMergeRefuses(t *testing.T) {
	t.Parallel()
	k := newKapi(t, here)
	foreign := func(old, replacement string) string {
		return strings.ReplaceAll(two, old, replacement)
	}
	tests := []struct {
		name    string
		content string
		want    string
		hint    string
	}{
		{"cluster of that name", foreign("name: two, cluster", "name: kapi, cluster"), `cluster "kapi" already, which leads to https://two.example.org`, "--context-name"},
		{"context of that name", foreign("name: two, context", "name: kapi, context"), `context "kapi" already, which is of cluster two`, "--context-name"},
		{"user of that name", foreign("name: u, user", "name: kapi-admin, user"), `user "kapi-admin"`, "--context-name"},
		{"not a kubeconfig", "clusters: hunter2\n", "can't be read", "repair"},
		{"not YAML", "\t{", "can't be read", "repair"},
		{"another kind", "apiVersion: v1\nkind: Pod\n", "can't be read", "repair"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := put(t, filepath.Join(t.TempDir(), "config"), tt.content)
			_, err := Merge(MergeOptions{From: k.kubeconfig, Into: path, SetCurrent: true})
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path) || !strings.Contains(fault.Hint(err), tt.hint) {
				t.Errorf("got %v with hint %q", err, fault.Hint(err))
			}
			if fault.Code(err) != fault.CodeUsage || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got %v with exit code %d", err, fault.Code(err))
			}
			if got := get(t, path); got != tt.content {
				t.Errorf("the file was changed:\n%s", got)
			}
			if names := list(t, filepath.Dir(path)); len(names) != 1 {
				t.Errorf("left: %v", names)
			}
		})
	}
	// The way out works.
	path := put(t, filepath.Join(t.TempDir(), "config"), tests[0].content)
	mergeOK(t, MergeOptions{From: k.kubeconfig, Into: path, ContextName: "kapi2"})
	checkMerged(t, k, path, "kapi2", here)
}

func TestMergeSource(t *testing.T) {
	t.Parallel()
	tmp := t.TempDir()
	into := put(t, filepath.Join(tmp, "config"), two)
	k := newKapi(t, here)
	for name, tt := range map[string]struct {
		o    MergeOptions
		want string
	}{
		"missing":               {MergeOptions{From: filepath.Join(tmp, "gone"), Into: into}, "there is no kubeconfig of a server at " + filepath.Join(tmp, "gone")},
		"empty":                 {MergeOptions{From: put(t, filepath.Join(tmp, "empty"), ""), Into: into}, "empty"},
		"garbage":               {MergeOptions{From: put(t, filepath.Join(tmp, "garbage"), "\t{"), Into: into}, "garbage"},
		"context of no cluster": {MergeOptions{From: put(t, filepath.Join(tmp, "half"), strings.Replace(two, "context: one", "context: broken", 1)), Into: into}, "half"},
		"itself":                {MergeOptions{From: k.kubeconfig, Env: envOf(k.kubeconfig)}, "the kubeconfig of the server itself"},
	} {
		if _, err := Merge(tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
	}
	if got := get(t, into); got != two {
		t.Errorf("the file was changed:\n%s", got)
	}
}

func TestMergeModes(t *testing.T) {
	t.Parallel()
	k := newKapi(t, here)
	for mode, want := range map[os.FileMode]os.FileMode{0o600: 0o600, 0o400: 0o400, 0o644: 0o600, 0o666: 0o600, 0o440: 0o400} {
		path := put(t, filepath.Join(t.TempDir(), "config"), two)
		must(t, os.Chmod(path, mode))
		mergeOK(t, MergeOptions{From: k.kubeconfig, Into: path})
		fi, err := os.Stat(path)
		must(t, err)
		if fi.Mode().Perm() != want {
			t.Errorf("%04o became %04o, want %04o", mode, fi.Mode().Perm(), want)
		}
	}
}

// People keep their dotfiles elsewhere and link to them.
func TestMergeFollowsLinks(t *testing.T) {
	t.Parallel()
	k := newKapi(t, here)
	tests := []struct {
		name   string
		links  map[string]string // below the home directory
		file   string            // where the content is
		exists bool
	}{
		{"relative link", map[string]string{".kube/config": "../dots/kubeconfig"}, "dots/kubeconfig", true},
		{"link to a link", map[string]string{".kube/config": "other", ".kube/other": "../dots/kubeconfig"}, "dots/kubeconfig", true},
		{"link to nothing yet", map[string]string{".kube/config": "../dots/kubeconfig"}, "dots/kubeconfig", false},
		{"linked directory with a link upwards", map[string]string{".kube": "dots/deep/kube", "dots/deep/kube/config": "../kubeconfig"}, "dots/deep/kubeconfig", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			must(t, os.MkdirAll(filepath.Join(home, "dots", "deep", "kube"), 0o700))
			for name, to := range tt.links {
				must(t, os.MkdirAll(filepath.Dir(filepath.Join(home, name)), 0o700), os.Symlink(to, filepath.Join(home, name)))
			}
			if tt.exists {
				put(t, filepath.Join(home, tt.file), two)
			}
			res := mergeOK(t, MergeOptions{From: k.kubeconfig, Home: home})
			for name, to := range tt.links {
				if got, err := os.Readlink(filepath.Join(home, name)); err != nil || got != to {
					t.Errorf("the link %s is now %q, %v", name, got, err)
				}
			}
			fi, err := os.Lstat(filepath.Join(home, tt.file))
			must(t, err)
			if !fi.Mode().IsRegular() || fi.Mode().Perm() != 0o600 {
				t.Errorf("the file is now %v", fi.Mode())
			}
			checkMerged(t, k, filepath.Join(home, tt.file), "kapi", here)
			if tt.exists && (res.Backup != filepath.Join(home, ".kube", "config"+backupSuffix) || get(t, res.Backup) != two) {
				t.Errorf("got %+v", res)
			}
		})
	}
	t.Run("link to itself", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "config")
		must(t, os.Symlink("config", path))
		if _, err := Merge(MergeOptions{From: k.kubeconfig, Into: path}); fault.Code(err) != fault.CodeUsage {
			t.Errorf("got %v", err)
		}
	})
}

func TestMergeOwner(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can write files of another user")
	}
	k := newKapi(t, here)
	path := put(t, filepath.Join(t.TempDir(), "config"), two)
	must(t, os.Chown(path, 65534, 65534))
	res := mergeOK(t, MergeOptions{From: k.kubeconfig, Into: path})
	for _, p := range []string{path, res.Backup} {
		fi, err := os.Stat(p)
		must(t, err)
		if uid := ownerOf(fi); uid != 65534 {
			t.Errorf("%s belongs to %d now", p, uid)
		}
	}
}

func TestMergeLock(t *testing.T) {
	t.Parallel()
	k := newKapi(t, here)
	path := put(t, filepath.Join(t.TempDir(), "config"), two)
	lock := put(t, path+".lock", "")
	_, err := Merge(MergeOptions{From: k.kubeconfig, Into: path})
	if err == nil || !strings.Contains(err.Error(), lock) || !strings.Contains(fault.Hint(err), lock) {
		t.Errorf("got %v with hint %q", err, fault.Hint(err))
	}
	if get(t, path) != two {
		t.Error("the file was changed")
	}
	must(t, os.Remove(lock))

	// Of many merges at once some are refused, and none is lost.
	var wg sync.WaitGroup
	var mu sync.Mutex
	var done []string
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		wg.Go(func() {
			if _, err := Merge(MergeOptions{From: k.kubeconfig, Into: path, ContextName: name}); err == nil {
				mu.Lock()
				done = append(done, name)
				mu.Unlock()
			} else if !strings.Contains(err.Error(), "another program") {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(done) == 0 {
		t.Error("none came through")
	}
	for _, name := range done {
		checkMerged(t, k, path, name, here)
	}
}
