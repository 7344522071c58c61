package version

import (
	"encoding/json"
	"runtime"
	"runtime/debug"
	"testing"
)

func TestResolve(t *testing.T) {
	const rev = "0123456789abcdef0123456789abcdef01234567"
	linked := []*debug.Module{
		{Path: "k8s.io/kubernetes", Version: "v1.99.1"},
		{Path: "k8s.io/kubernetes/staging", Version: "v9.9.9"},
		{Path: "go.etcd.io/etcd/server/v3", Version: "v3.99.1"},
	}
	stamped := []debug.BuildSetting{
		{Key: "vcs.revision", Value: rev},
		{Key: "vcs.time", Value: "2026-01-02T03:04:05Z"},
	}
	for _, tc := range []struct {
		name  string
		set   Info
		build *debug.BuildInfo
		want  Info
	}{
		{
			name: "release: the linker wins over what the toolchain stamped",
			set:  Info{Version: "1.2.3", Commit: "abc", Date: "2026-05-06T07:08:09Z"},
			build: &debug.BuildInfo{
				GoVersion: "go1.26.0", Deps: linked, Settings: stamped,
				Main: debug.Module{Version: "v0.0.0-20260102030405-0123456789ab"},
			},
			want: Info{"v1.2.3", "abc", "2026-05-06T07:08:09Z", "go1.26.0", "v1.99.1", "v3.99.1"},
		},
		{
			name: "clone: tag, commit and time are stamped",
			build: &debug.BuildInfo{
				GoVersion: "go1.26.0", Deps: linked, Settings: stamped,
				Main: debug.Module{Version: "v1.2.3"},
			},
			want: Info{"v1.2.3", rev, "2026-01-02T03:04:05Z", "go1.26.0", "v1.99.1", "v3.99.1"},
		},
		{
			name: "clone with changes",
			build: &debug.BuildInfo{
				GoVersion: "go1.26.0", Deps: linked,
				Main:     debug.Module{Version: "(devel)"},
				Settings: append([]debug.BuildSetting{{Key: "vcs.modified", Value: "true"}}, stamped...),
			},
			want: Info{"devel", rev + "-dirty", "2026-01-02T03:04:05Z", "go1.26.0", "v1.99.1", "v3.99.1"},
		},
		{
			name:  "go run, or -buildvcs=false: no version control",
			build: &debug.BuildInfo{GoVersion: "go1.26.0", Deps: linked, Main: debug.Module{Version: "(devel)"}},
			want:  Info{"devel", Unknown, Unknown, "go1.26.0", "v1.99.1", "v3.99.1"},
		},
		{
			name: "a replaced module reports what was compiled",
			build: &debug.BuildInfo{GoVersion: "go1.26.0", Deps: []*debug.Module{
				{Path: "k8s.io/kubernetes", Version: "v1.37.2", Replace: &debug.Module{Path: "example.com/fork", Version: "v1.37.3"}},
				{Path: "go.etcd.io/etcd/server/v3", Version: "v3.7.3", Replace: &debug.Module{Path: "../etcd"}},
			}},
			want: Info{"devel", Unknown, Unknown, "go1.26.0", "v1.37.3", pinnedEtcd},
		},
		{
			name: "no build information at all",
			want: Info{"devel", Unknown, Unknown, runtime.Version(), pinnedKubernetes, pinnedEtcd},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := resolve(tc.set, tc.build); got != tc.want {
				t.Errorf("resolve() = %+v\nwant        %+v", got, tc.want)
			}
		})
	}
}

// TestGet reads this test binary, which lists no modules.
func TestGet(t *testing.T) {
	got := Get()
	if got.Kubernetes != pinnedKubernetes || got.Etcd != pinnedEtcd || got.Go != runtime.Version() {
		t.Errorf("Get() = %+v, want the pins and %s", got, runtime.Version())
	}
	if got.Version == "" || got.Commit == "" || got.Date == "" {
		t.Errorf("Get() leaves fields empty: %+v", got)
	}
}

// The field names are what `kapi version -o json` prints, and scripts read.
func TestJSONNames(t *testing.T) {
	raw, err := json.Marshal(Info{"v1.2.3", "c", "d", "go1.26.0", "v1.37.2", "v3.7.3"})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"version":"v1.2.3","commit":"c","date":"d","go":"go1.26.0","kubernetes":"v1.37.2","etcd":"v3.7.3"}`
	if string(raw) != want {
		t.Errorf("JSON = %s\nwant   %s", raw, want)
	}
}
