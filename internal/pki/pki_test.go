package pki

import (
	"crypto/ecdsa"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/util/keyutil"

	"github.com/kapi-dev/kapi/internal/fault"
)

func TestEnsureNew(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "pki")
	m := ensureAt(t, dir, birth)
	if len(m.Notices) != 0 {
		t.Errorf("notices at the first start: %v", m.Notices)
	}
	fi, err := os.Stat(dir)
	must(t, err)
	if fi.Mode().Perm() != 0o700 {
		t.Errorf("directory has mode %v", fi.Mode())
	}
	var names []string
	for name := range filesOf(t, dir) {
		names = append(names, name)
		want := fs.FileMode(0o644)
		if strings.HasSuffix(name, ".key") {
			want = 0o600
		}
		fi, err := os.Stat(filepath.Join(dir, name))
		must(t, err)
		if fi.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v", name, fi.Mode(), want)
		}
	}
	slices.Sort(names)
	want := []string{
		"admin.crt", "admin.key", "apiserver.crt", "apiserver.key", "ca.crt", "ca.key", "etcd-ca.crt", "etcd-ca.key",
		"front-proxy-ca.crt", "front-proxy-ca.key", "front-proxy-client.crt", "front-proxy-client.key", "sa.key", "sa.pub",
	}
	if !slices.Equal(names, want) {
		t.Errorf("got %v, want %v", names, want)
	}
	for path, end := range map[string]time.Time{
		m.ClusterCA.Cert: m.ClusterCA.NotAfter, m.FrontProxyCA.Cert: m.FrontProxyCA.NotAfter, m.EtcdCA.Cert: m.EtcdCA.NotAfter,
		m.Serving.Cert: m.Serving.NotAfter, m.ProxyClient.Cert: m.ProxyClient.NotAfter, m.Admin.Cert: m.Admin.NotAfter,
	} {
		c := firstCert(t, path)
		life := year
		if c.IsCA {
			life = 10 * year
		}
		if !c.NotAfter.Equal(birth.Add(life)) || !c.NotAfter.Equal(end) || !c.NotBefore.Equal(birth.Add(-5*time.Minute)) {
			t.Errorf("%s lives from %v to %v, reported as %v", path, c.NotBefore, c.NotAfter, end)
		}
	}
	checkWorks(t, m, birth)
}

func TestServingNames(t *testing.T) {
	t.Parallel()
	m := ensureAt(t, t.TempDir(), birth)
	server, admin := newParty(t, m.Serving, m.ClusterCA.Cert), newParty(t, m.Admin, m.ClusterCA.Cert)
	good := []string{
		"localhost", "127.0.0.1", "::1", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
		"kubernetes.default.svc.cluster.local", "10.0.0.1", "198.51.100.1", "kapi.example.org", "192.0.2.7",
	}
	if host, err := os.Hostname(); err == nil && validDNSName(host) {
		good = append(good, host)
	}
	for _, name := range good {
		if _, err := handshake(server, admin, name, birth); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"other.example.org", "192.0.2.8", "example.org"} {
		if _, err := handshake(server, admin, name, birth); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

// Each certificate is good for its own use only.
func TestWrongUse(t *testing.T) {
	t.Parallel()
	m := ensureAt(t, t.TempDir(), birth)
	server, admin := newParty(t, m.Serving, m.ClusterCA.Cert), newParty(t, m.Admin, m.ClusterCA.Cert)
	proxy := newParty(t, m.ProxyClient, m.ClusterCA.Cert)
	stranger := ensureAt(t, t.TempDir(), birth)
	for name, ends := range map[string][2]party{
		"serving certificate as client":           {server, server},
		"admin certificate as server":             {admin, admin},
		"proxy certificate as client of the API":  {server, proxy},
		"admin of another kapi":                   {server, {pair: newParty(t, stranger.Admin, m.ClusterCA.Cert).pair, trust: admin.trust}},
		"server of another kapi":                  {newParty(t, stranger.Serving, m.ClusterCA.Cert), admin},
		"admin as front proxy at an extension":    {{pair: server.pair, trust: readFile(t, m.FrontProxyCA.Cert)}, admin},
		"admin certificate after a year, expired": {server, admin},
	} {
		at := birth
		if strings.Contains(name, "expired") {
			at = birth.Add(year + time.Minute)
		}
		if _, err := handshake(ends[0], ends[1], "localhost", at); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func TestEnsureAgain(t *testing.T) {
	t.Parallel()
	leaves := []string{"apiserver.crt", "front-proxy-client.crt", "admin.crt"}
	cas := []string{"ca.crt", "front-proxy-ca.crt", "etcd-ca.crt"}
	tests := []struct {
		name   string
		now    time.Time
		change func(o *Options)
		want   []string // exactly these files change
	}{
		{"at once", birth, nil, nil},
		{"with a third left", birth.Add(2*year/3 - day), nil, nil},
		{"with less than a third left", birth.Add(2*year/3 + day), nil, leaves},
		{"after they have run out", birth.Add(2 * year), nil, leaves},
		{"clock back by the skew", birth.Add(-5 * time.Minute), nil, nil},
		{"clock back by more", birth.Add(-6 * time.Minute), nil, append(cas, leaves...)},
		{"clock at the epoch", time.Unix(0, 0), nil, append(cas, leaves...)},
		{"a name more", birth, func(o *Options) { o.Names = append(o.Names, "more.example.org") }, leaves[:1]},
		{"an IP name more", birth, func(o *Options) { o.Names = append(o.Names, "2001:db8::1") }, leaves[:1]},
		{"another address", birth, func(o *Options) { o.AdvertiseIPs = []net.IP{net.IPv4(203, 0, 113, 1)} }, leaves[:1]},
		{"a service address more", birth, func(o *Options) { o.ServiceIPs = append(o.ServiceIPs, net.ParseIP("fd00::1")) }, leaves[:1]},
		{"a name less", birth, func(o *Options) { o.Names = nil }, nil},
		{"the same names, written otherwise", birth, func(o *Options) { o.Names = []string{"KAPI.example.org.", "192.0.2.7", "192.0.2.7"} }, nil},
		{"bound to all addresses", birth, func(o *Options) { o.AdvertiseIPs = []net.IP{net.IPv4zero, nil} }, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			ensureAt(t, dir, birth)
			before := filesOf(t, dir)
			o := optionsAt(dir, tt.now)
			if tt.change != nil {
				tt.change(&o)
			}
			m, err := Ensure(o)
			must(t, err)
			got := changed(before, filesOf(t, dir))
			for _, name := range tt.want {
				if !got[name] {
					t.Errorf("%s was kept", name)
				}
				delete(got, name)
			}
			if len(got) != 0 {
				t.Errorf("changed too: %v", got)
			}
			checkWorks(t, m, tt.now)
		})
	}
}

func TestBadNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "https://example.org", "example.org:6443", "[::1]", "a b", "bücher.example", "-a", "a..b", "*", "a.*.b", strings.Repeat("a", 64), "10.0.0.1/8"} {
		dir := filepath.Join(t.TempDir(), "pki")
		_, err := Ensure(Options{Dir: dir, Names: []string{name}})
		if fault.Code(err) != fault.CodeUsage || !strings.Contains(err.Error(), `"`+name+`"`) {
			t.Errorf("%q: got %v", name, err)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%q: something was written", name)
		}
	}
	for _, name := range []string{"example.org", "*.example.org", "a_b", "localhost", "2001:db8::1", "example.org."} {
		if _, err := Ensure(Options{Dir: t.TempDir(), Names: []string{name}}); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestWildcardName(t *testing.T) {
	t.Parallel()
	o := optionsAt(t.TempDir(), birth)
	o.Names = []string{"*.example.org"}
	m, err := Ensure(o)
	must(t, err)
	if _, err := handshake(newParty(t, m.Serving, m.ClusterCA.Cert), newParty(t, m.Admin, m.ClusterCA.Cert), "any.example.org", birth); err != nil {
		t.Error(err)
	}
}

func TestModesAreTightened(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ensureAt(t, dir, birth)
	must(t, os.Chmod(dir, 0o755))
	for _, name := range []string{"ca.key", "apiserver.key", "sa.key"} {
		must(t, os.Chmod(filepath.Join(dir, name), 0o644))
	}
	ensureAt(t, dir, birth)
	for name, want := range map[string]fs.FileMode{"": 0o700, "ca.key": 0o600, "apiserver.key": 0o600, "sa.key": 0o600} {
		fi, err := os.Stat(filepath.Join(dir, name))
		must(t, err)
		if fi.Mode().Perm() != want {
			t.Errorf("%q has mode %v", name, fi.Mode())
		}
	}
}

// kube-apiserver reads the files of --service-account-signing-key-file and
// --service-account-key-file with these functions.
func TestServiceAccountKey(t *testing.T) {
	t.Parallel()
	m := ensureAt(t, t.TempDir(), birth)
	private, err := keyutil.PrivateKeyFromFile(m.ServiceAccountKey)
	must(t, err)
	key, ok := private.(*ecdsa.PrivateKey)
	if !ok || key.Curve.Params().Name != "P-256" {
		t.Fatalf("got a %T", private)
	}
	for _, path := range []string{m.ServiceAccountKey, m.ServiceAccountPub} {
		public, err := keyutil.PublicKeysFromFile(path)
		must(t, err)
		if len(public) != 1 || !key.PublicKey.Equal(public[0]) {
			t.Errorf("%s holds %v", path, public)
		}
	}
	want := readFile(t, m.ServiceAccountPub)
	must(t, os.Remove(m.ServiceAccountPub))
	ensureAt(t, m.opts.Dir, birth)
	if got := readFile(t, m.ServiceAccountPub); string(got) != string(want) {
		t.Error("the public key was not derived from the private one")
	}
}

func TestEnsureEtcd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	shared := ensureAt(t, dir, birth)
	m, err := EnsureEtcd(optionsAt(dir, birth))
	must(t, err)
	if m.CA != shared.EtcdCA {
		t.Errorf("two authorities: %v and %v", m.CA, shared.EtcdCA)
	}
	server, peer, client := newParty(t, m.Server, m.CA.Cert), newParty(t, m.Peer, m.CA.Cert), newParty(t, m.Client, m.CA.Cert)
	for name, ends := range map[string][2]party{
		"client":           {server, client},
		"gateway":          {server, server},
		"peer":             {peer, peer},
		"kapi.example.org": {server, client},
	} {
		host := "127.0.0.1"
		if strings.Contains(name, ".") {
			host = name
		}
		if _, err := handshake(ends[0], ends[1], host, birth); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Who may speak to the API server may not speak to its database.
	admin := party{pair: newParty(t, shared.Admin, m.CA.Cert).pair, trust: client.trust}
	if _, err := handshake(server, admin, "127.0.0.1", birth); err == nil {
		t.Error("the admin of the API was let in")
	}
	before := filesOf(t, dir)
	_, err = EnsureEtcd(optionsAt(dir, birth.Add(day)))
	must(t, err)
	if c := changed(before, filesOf(t, dir)); len(c) != 0 {
		t.Errorf("changed: %v", c)
	}
	_, err = EnsureEtcd(optionsAt(dir, birth.Add(300*day)))
	must(t, err)
	if got, want := changed(before, filesOf(t, dir)), 3; len(got) != want {
		t.Errorf("renewed: %v", got)
	}
	_, err = EnsureEtcd(Options{Dir: dir, Names: []string{"a b"}})
	if fault.Code(err) != fault.CodeUsage {
		t.Errorf("got %v", err)
	}
}

// An authority that was brought along is used as it is.
func TestForeignAuthority(t *testing.T) {
	t.Parallel()
	donor := ensureAt(t, t.TempDir(), birth)
	dir := t.TempDir()
	for _, f := range []string{"ca.crt", "ca.key"} {
		must(t, os.WriteFile(filepath.Join(dir, f), readFile(t, filepath.Join(donor.opts.Dir, f)), 0o600))
	}
	m := ensureAt(t, dir, birth)
	if string(readFile(t, m.ClusterCA.Cert)) != string(readFile(t, donor.ClusterCA.Cert)) {
		t.Error("the authority was replaced")
	}
	// Each accepts the other's admin.
	if _, err := handshake(newParty(t, donor.Serving, donor.ClusterCA.Cert), newParty(t, m.Admin, m.ClusterCA.Cert), "localhost", birth); err != nil {
		t.Error(err)
	}
}
