package etcd

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/ask/asktest"
	"github.com/kapi-dev/kapi/tui/pages/pagestest"
)

func open(t *testing.T, client *asktest.Client, at page.Location) page.Page {
	t.Helper()
	p, err := New(page.Env{Client: client}, at)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestOverview(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{"kapi": pagestest.Kapi, "demo": pagestest.Demo, "foreign": pagestest.Foreign} {
		p := open(t, nil, page.At("etcd", ""))
		pagestest.Golden(t, name, p, pagestest.Frame(t, file))
	}
}

func TestOverviewStates(t *testing.T) {
	t.Parallel()
	frame := pagestest.Frame(t, pagestest.Kapi)
	for state, want := range map[data.State]string{data.Loading: "loading", data.Forbidden: "kapi:inspect", data.Failed: "error", data.Absent: "not on this server"} {
		p := open(t, nil, page.At("etcd", ""))
		if picture := pagestest.Picture(t, p, pagestest.In(frame, state, storages, members), 80, 24); !strings.Contains(picture, want) {
			t.Errorf("state %d\n%s", state, picture)
		}
		// Without members the resources are still there.
		if picture := pagestest.Picture(t, p, pagestest.In(frame, state, members), 80, 24); !strings.Contains(picture, want) || !strings.Contains(picture, "clusterroles") {
			t.Errorf("members in state %d\n%s", state, picture)
		}
	}
	for _, file := range []string{pagestest.Kapi, pagestest.Demo, pagestest.Foreign} {
		pagestest.Fits(t, open(t, nil, page.At("etcd", "")), pagestest.Frame(t, file))
	}
}

// What fills etcd is the first row, and enter goes to its keys.
func TestOverviewFirstRow(t *testing.T) {
	t.Parallel()
	p := open(t, nil, page.At("etcd", ""))
	pagestest.Picture(t, p, pagestest.Frame(t, pagestest.Kapi), 80, 24)
	if got := act(t, p, page.Enter).Open.Get("prefix"); got != "/registry/clusterroles/" {
		t.Errorf("enter leads to the keys of %q", got)
	}
	if got := act(t, p, page.EtcdKey).Open.Get("prefix"); got != root {
		t.Errorf("all keys are %q", got)
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	soon, late := metav1.NewMicroTime(now.Add(time.Hour)), metav1.NewMicroTime(now.Add(1000*time.Hour))
	for name, test := range map[string]struct {
		status   v1alpha1.EtcdMemberStatus
		severity joined.Severity
		says     string
	}{
		"well":     {v1alpha1.EtcdMemberStatus{Quota: 1000, DBSize: 100, Leader: true}, joined.OK, "leader, forecast: never full"},
		"late":     {v1alpha1.EtcdMemberStatus{Quota: 1000, DBSize: 100, NoSpaceAt: &late}, joined.OK, "full in 41d"},
		"soon":     {v1alpha1.EtcdMemberStatus{Quota: 1000, DBSize: 100, NoSpaceAt: &soon}, joined.Warning, "reached in 60m"},
		"nearly":   {v1alpha1.EtcdMemberStatus{Quota: 1000, DBSize: 850}, joined.Warning, "85% of the quota"},
		"full":     {v1alpha1.EtcdMemberStatus{Quota: 1000, DBSize: 990}, joined.Bad, "99% of the quota"},
		"alarm":    {v1alpha1.EtcdMemberStatus{Quota: 1000, DBSize: 990, Alarms: []string{"NOSPACE"}}, joined.Bad, "alarm NOSPACE"},
		"no quota": {v1alpha1.EtcdMemberStatus{DBSize: 990}, joined.OK, "not known"},
		"lost":     {v1alpha1.EtcdMemberStatus{Error: "refused"}, joined.Bad, "can't be asked: refused"},
		"leader": {v1alpha1.EtcdMemberStatus{Conditions: []metav1.Condition{{Type: "Healthy", Status: "False", Reason: "NoLeader", Message: "it knows none"}}},
			joined.Bad, "NoLeader: it knows none"},
	} {
		severity, says, hint := judge(&v1alpha1.EtcdMember{Status: test.status}, now)
		if severity != test.severity || !strings.Contains(says, test.says) {
			t.Errorf("%s: %v %q", name, severity, says)
		}
		if strings.Contains(test.says, "quota") != (hint != "") && name != "alarm" && name != "soon" {
			t.Errorf("%s: the way out is %q", name, hint)
		}
	}
}
