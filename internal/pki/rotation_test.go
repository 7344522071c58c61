package pki

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

const (
	// An authority of ten years is replaced when a third is left.
	beforeReplacement = 10*year*2/3 - 30*day
	afterReplacement  = 10*year*2/3 + 30*day
)

// A client that holds the old authority only, and its own old certificate, and
// one that holds everything new, both get in until the old authority ends.
func TestAuthorityReplacement(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ensureAt(t, dir, birth)
	was := birth.Add(beforeReplacement)
	m := ensureAt(t, dir, was) // new leaves of the old authority
	oldClient, oldServer := newParty(t, m.Admin, m.ClusterCA.Cert), newParty(t, m.Serving, m.ClusterCA.Cert)
	oldSA, oldCA := readFile(t, m.ServiceAccountKey), firstCert(t, m.ClusterCA.Cert)

	now := birth.Add(afterReplacement)
	m = ensureAt(t, dir, now)
	if firstCert(t, m.ClusterCA.Cert).Equal(oldCA) || !m.ClusterCA.NotAfter.Equal(now.Add(10*year)) {
		t.Fatalf("the authority was not replaced: it ends %v", m.ClusterCA.NotAfter)
	}
	if len(m.Notices) != 3 || !strings.Contains(m.Notices[0], m.ClusterCA.Cert) {
		t.Errorf("notices: %q", m.Notices)
	}
	if string(readFile(t, m.ServiceAccountKey)) != string(oldSA) {
		t.Error("the service-account key was replaced")
	}
	checkWorks(t, m, now)
	newClient, newServer := newParty(t, m.Admin, m.ClusterCA.Cert), newParty(t, m.Serving, m.ClusterCA.Cert)
	for name, ends := range map[string][2]party{
		"old client, new server":                               {newServer, oldClient},
		"new client, old server":                               {party{pair: oldServer.pair, trust: newServer.trust}, newClient},
		"new client, server that knows the old authority only": {oldServer, newClient},
	} {
		if _, err := handshake(ends[0], ends[1], "localhost", now); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}

	before := filesOf(t, dir)
	m = ensureAt(t, dir, now.Add(day))
	if c := changed(before, filesOf(t, dir)); len(c) != 0 || len(m.Notices) != 0 {
		t.Errorf("the next start changed %v, notices %q", c, m.Notices)
	}

	// The old authority has ended: the bundle has the new one only.
	later := birth.Add(10*year + day)
	m = ensureAt(t, dir, later)
	certs, err := readCerts(m.ClusterCA.Cert)
	must(t, err)
	if len(certs) != 1 || certs[0].Equal(oldCA) {
		t.Errorf("the bundle holds %d certificates", len(certs))
	}
	if chain, err := readCerts(m.Serving.Cert); err != nil || len(chain) != 1 {
		t.Errorf("the serving certificate comes with %d others, %v", len(chain)-1, err)
	}
	checkWorks(t, m, later)
	if _, err := handshake(newParty(t, m.Serving, m.ClusterCA.Cert), oldClient, "localhost", later); err == nil {
		t.Error("a client of the ended authority got in")
	}
}

func TestEndedAuthority(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ensureAt(t, dir, birth)
	now := birth.Add(11 * year)
	m := ensureAt(t, dir, now)
	certs, err := readCerts(m.ClusterCA.Cert)
	must(t, err)
	if len(certs) != 1 {
		t.Errorf("the bundle holds %d certificates", len(certs))
	}
	if len(m.Notices) != 3 || !strings.Contains(m.Notices[0], "new kubeconfig") {
		t.Errorf("notices: %q", m.Notices)
	}
	checkWorks(t, m, now)
}

// A machine without a battery boots in 1970, and gets the time later: its clients
// must not have lost their server in between.
func TestClockThatWasWrongForAStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m := ensureAt(t, dir, birth)
	client := newParty(t, m.Admin, m.ClusterCA.Cert)
	epoch := time.Unix(1000, 0)
	m = ensureAt(t, dir, epoch)
	checkWorks(t, m, epoch)
	if len(m.Notices) != 3 || !strings.Contains(m.Notices[0], "check the clock") {
		t.Errorf("notices: %q", m.Notices)
	}
	if m = ensureAt(t, dir, epoch.Add(day)); len(m.Notices) != 0 {
		t.Errorf("notices at the second start: %q", m.Notices)
	}
	now := birth.Add(day)
	m = ensureAt(t, dir, now)
	checkWorks(t, m, now)
	if len(m.Notices) != 0 {
		t.Errorf("notices with the right clock: %q", m.Notices)
	}
	if _, err := handshake(newParty(t, m.Serving, m.ClusterCA.Cert), client, "localhost", now); err != nil {
		t.Errorf("a client from before: %v", err)
	}
}

// Leaves end with their authority, even where that is less than a year away.
func TestLeafDoesNotOutliveItsAuthority(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := newSession(optionsAt(dir, birth))
	must(t, err, s.makeDir())
	key, err := s.writeNewKey(s.keyPath(clusterCAName))
	must(t, err)
	subject, err := caSubject(clusterCAName, key)
	must(t, err)
	short, err := s.signCA(subject, key.Public(), birth.Add(30*day), nil, key)
	must(t, err, os.WriteFile(s.certPath(clusterCAName), encodeCerts([]*x509.Certificate{short}), 0o644))
	m := ensureAt(t, dir, birth)
	if !m.Serving.NotAfter.Equal(birth.Add(30 * day)) {
		t.Errorf("the serving certificate ends %v", m.Serving.NotAfter)
	}
	checkWorks(t, m, birth)
}

// The power is cut between any two changes on disk. What lies there then is a
// pair that belongs together wherever there was one, and the next start works,
// for old clients too.
func TestCutAnywhere(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		prep   []time.Time // earlier starts
		now    time.Time
		change func(o *Options)
	}{
		{"first start", nil, birth, nil},
		{"renewal", []time.Time{birth}, birth.Add(300 * day), nil},
		{"another name", []time.Time{birth}, birth, func(o *Options) { o.Names = []string{"new.example.org"} }},
		{"replaced authorities", []time.Time{birth, birth.Add(beforeReplacement)}, birth.Add(afterReplacement), nil},
		{"ended authorities", []time.Time{birth}, birth.Add(11 * year), nil},
		{"clock back", []time.Time{birth}, birth.Add(-day), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			base := t.TempDir()
			var old *Material
			for _, at := range tt.prep {
				old = ensureAt(t, base, at)
			}
			start := func(dir string, d disk) (*Material, error) {
				o := optionsAt(dir, tt.now)
				if tt.change != nil {
					tt.change(&o)
				}
				o.disk = d
				return Ensure(o)
			}
			var all powerCut
			_, err := start(copyDir(t, base), all.disk())
			must(t, err)
			if len(all.made) == 0 {
				t.Fatal("nothing is changed, so nothing can be cut")
			}
			t.Log(all.made)
			for _, at := range all.made {
				dir := copyDir(t, base)
				cut := powerCut{at: at}
				if _, err := start(dir, cut.disk()); !errors.Is(err, errCut) {
					t.Fatalf("cut at %s: got %v", at, err)
				}
				for _, name := range []string{servingName, proxyClientName, adminName} {
					if old == nil {
						continue
					}
					if _, err := tls.LoadX509KeyPair(dir+"/"+name+".crt", dir+"/"+name+".key"); err != nil {
						t.Errorf("cut at %s: %s: %v", at, name, err)
					}
				}
				m, err := start(dir, disk{})
				if err != nil {
					t.Fatalf("start after the cut at %s: %v", at, err)
				}
				checkWorks(t, m, tt.now)
				if old != nil && tt.now.Before(old.ClusterCA.NotAfter) && tt.now.After(birth) {
					oldClient := newParty(t, old.Admin, base+"/ca.crt")
					if _, err := handshake(newParty(t, m.Serving, m.ClusterCA.Cert), oldClient, "localhost", tt.now); err != nil {
						t.Errorf("cut at %s: a client from before: %v", at, err)
					}
				}
				before := filesOf(t, dir)
				for name := range before {
					if strings.Contains(name, "-next") {
						t.Errorf("cut at %s: %s is left", at, name)
					}
				}
				if _, err := start(dir, disk{}); err != nil || len(changed(before, filesOf(t, dir))) != 0 {
					t.Errorf("cut at %s: the start after next still changes things (%v)", at, err)
				}
			}
		})
	}
}
