package etcd

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined"
	"github.com/kapi-dev/kapi/tui/components/chart"
	"github.com/kapi-dev/kapi/tui/components/doc"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/kit"
)

// gapsShown is how many columns that are not filled are explained above the table.
const gapsShown = 2

// head is what stands above the table: what is wrong with the members, how full
// they are, and what all resources come to.
func head(frame data.Frame, paper ink.Paper) []ink.Line {
	view := frame.View(members)
	if _, blocked := kit.Blocked(view, paper); blocked {
		lines := kit.Reason(view, paper)
		return append(lines[:min(3, len(lines))], sum(frame, paper), nil)
	}
	var lines []ink.Line
	all := data.Objects[*v1alpha1.EtcdMember](frame, members)
	for _, m := range all {
		lines = append(lines, member(m, paper, len(all) > 1)...)
	}
	for _, note := range kit.GapNotes(frame.View(storages), paper, gapsShown) {
		lines = append(lines, append(ink.Line{ink.T(ink.Text, "  ")}, note...))
	}
	return append(lines, sum(frame, paper), nil)
}

// member is a member in a few lines, what is wrong first.
func member(m *v1alpha1.EtcdMember, paper ink.Paper, several bool) []ink.Line {
	severity, what, hint := judge(m, paper.Now)
	first := ink.Line{kit.Mark(paper.Glyphs, severity, m.Name), ink.T(ink.Text, "  ")}
	if severity != joined.OK {
		first = append(first, ink.T(kit.Tone(severity), what))
	} else {
		first = append(first, ink.T(ink.Text, what))
	}
	lines := []ink.Line{first}
	if hint != "" {
		for _, line := range paper.Wrap(ink.Text, hint, paper.Width-4) {
			lines = append(lines, append(ink.Line{ink.T(ink.Text, "  ")}, line...))
		}
	}
	if m.Status.Error != "" {
		return lines
	}
	lines = append(lines, facts(m, paper))
	if several && paper.Height < 30 {
		return lines
	}
	return append(lines, gauge(m, paper)...)
}

// nearly and full are the parts of the quota from which a member is a warning, and bad.
const (
	nearly = 0.80
	full   = 0.95
)

// judge is how a member is: in words what is wrong and the way out, or that it is
// well.
func judge(m *v1alpha1.EtcdMember, now time.Time) (severity joined.Severity, what, hint string) {
	st := m.Status
	part := 0.0
	if st.Quota > 0 {
		part = float64(st.DBSize) / float64(st.Quota)
	}
	switch {
	case st.Error != "":
		return joined.Bad, "can't be asked: " + st.Error, ""
	case len(st.Alarms) > 0:
		return joined.Bad, "alarm " + strings.Join(st.Alarms, ", "), alarmHint(st.Alarms)
	case unhealthy(m) != "":
		return joined.Bad, unhealthy(m), ""
	case part >= full:
		return joined.Bad, fmt.Sprintf("%.0f%% of the quota is used: soon every write is refused", part*100), spaceHint
	case part >= nearly:
		return joined.Warning, fmt.Sprintf("%.0f%% of the quota is used", part*100), spaceHint
	case st.NoSpaceAt != nil && st.NoSpaceAt.Sub(now) < 72*time.Hour:
		return joined.Warning, "at this speed the quota is reached in " + duration.HumanDuration(max(0, st.NoSpaceAt.Sub(now))), "The first row of the table is what fills it; PER-HOUR is what grows."
	}
	return joined.OK, role(st) + "forecast: " + forecast(st, now), ""
}

const spaceHint = "The first row of the table is what fills it: delete what is not needed, then defragment, or raise the quota."

func alarmHint(alarms []string) string {
	for _, alarm := range alarms {
		switch alarm {
		case "NOSPACE":
			return "Writes are refused until there is space: delete from what is in the first rows, compact, defragment (etcdctl defrag), then etcdctl alarm disarm."
		case "CORRUPT":
			return "The member's data differs from that of the others: take it out and let it join anew, or restore a snapshot."
		}
	}
	return ""
}

// unhealthy is what the condition of that name says; empty where it is true.
func unhealthy(m *v1alpha1.EtcdMember) string {
	for _, c := range m.Status.Conditions {
		if c.Type == v1alpha1.ConditionHealthy && c.Status == "False" {
			return strings.TrimSuffix(c.Reason+": "+c.Message, ": ")
		}
	}
	return ""
}

// role is what the member is among the others; empty where it is not known.
func role(st v1alpha1.EtcdMemberStatus) string {
	switch {
	case st.Leader:
		return "leader, "
	case st.Learner:
		return "learner, "
	case st.RaftTerm != 0:
		return "follower, "
	}
	return ""
}

// forecast is when the quota will be reached.
func forecast(st v1alpha1.EtcdMemberStatus, now time.Time) string {
	switch {
	case st.Quota <= 0:
		return "not known, since its quota is not"
	case st.NoSpaceAt != nil:
		return "full in " + duration.HumanDuration(max(0, st.NoSpaceAt.Sub(now)))
	case st.BytesPerHour < 0:
		return "never full, it shrinks"
	default:
		return "never full at this speed"
	}
}

// facts are further facts of a member on a line.
func facts(m *v1alpha1.EtcdMember, paper ink.Paper) ink.Line {
	st := m.Status
	var parts []string
	add := func(has bool, part string) {
		if has {
			parts = append(parts, part)
		}
	}
	add(st.Quota <= 0 && st.DBSize >= 0, "file "+kinds.Size(st.DBSize))
	add(st.Fsync != nil && st.Fsync.Count > 0, "fsync p99 "+latency(st.Fsync))
	add(st.Commit != nil && st.Commit.Count > 0, "commit p99 "+latency(st.Commit))
	add(st.BytesPerHour != 0, growth(st.BytesPerHour)+" an hour")
	add(st.Version != "", "etcd "+st.Version)
	add(st.RaftTerm != 0, "term "+strconv.FormatInt(st.RaftTerm, 10))
	add(st.Revision != 0, "revision "+strconv.FormatInt(st.Revision, 10))
	add(st.LastDefrag != nil, "defragmented "+since(st.LastDefrag, paper.Now))
	add(st.LastSnapshot != nil, "snapshot "+since(st.LastSnapshot, paper.Now))
	add(st.Version == "" && m.Spec.Endpoint != "", "at "+m.Spec.Endpoint)
	return ink.L(ink.Muted, "  "+strings.Join(parts, " "+paper.Glyphs.Dot+" "))
}

func latency(l *v1alpha1.Latency) string {
	if l == nil {
		return ""
	}
	return kinds.Took(l.P99)
}

// gauge is how full the file of a member is, against its quota. Without a quota there
// is nothing to fill.
func gauge(m *v1alpha1.EtcdMember, paper ink.Paper) []ink.Line {
	st := m.Status
	if st.DBSize < 0 || st.Quota <= 0 {
		return nil
	}
	parts := []chart.Part{{Token: ink.Series2, Label: "file", Value: float64(st.DBSize), Text: kinds.Size(st.DBSize)}}
	if st.DBSizeInUse >= 0 {
		parts = append(parts, chart.Part{Token: ink.Series1, Label: "in use", Value: float64(st.DBSizeInUse), Text: kinds.Size(st.DBSizeInUse)})
	}
	parts = append(parts, chart.Part{Token: ink.Muted, Label: "quota", Text: kinds.Size(st.Quota)})
	lines := chart.Gauge(paper, parts, float64(st.Quota), max(0, paper.Width-2))
	for i := range lines {
		lines[i] = append(ink.Line{ink.T(ink.Text, "  ")}, lines[i]...)
	}
	return lines
}

// sum is what all resources come to.
func sum(frame data.Frame, paper ink.Paper) ink.Line {
	var objects, bytes, perHour int64
	all := data.Objects[*v1alpha1.ResourceStorage](frame, storages)
	for _, each := range all {
		objects += max(0, each.Status.Objects)
		bytes += max(0, each.Status.Bytes)
		perHour += each.Status.BytesPerHour
	}
	return ink.Line{
		ink.T(ink.Text, "  "), ink.T(ink.Accent, kinds.Size(bytes)),
		ink.T(ink.Text, fmt.Sprintf(" in %d objects of %d resources", objects, len(all))),
		ink.T(ink.Muted, map[bool]string{true: "", false: ", " + growth(perHour) + " an hour"}[perHour == 0]),
	}
}

// detail is what stands beside the table about a resource.
func detail(r row, frame data.Frame) doc.Render {
	return func(paper ink.Paper) []doc.Line {
		lines := kit.Section(nil, r.Name)
		fact := func(label, value string) { lines = kit.Fact(lines, paper, label, ink.L(ink.Text, value)) }
		fact("stored", kinds.Size(r.Status.Bytes)+" in "+counted(r.Status.Objects)+" objects")
		if r.Status.Objects > 0 && r.Status.Bytes > 0 {
			fact("on average", kinds.Size(r.Status.Bytes/r.Status.Objects))
		}
		if r.Status.BytesPerHour != 0 {
			fact("growth", growth(r.Status.BytesPerHour)+" an hour")
		}
		fact("prefix", prefix(r)+"/")
		lines[len(lines)-1].Open = page.At("etcd", "", "prefix", prefix(r)+"/")
		if r.Spec.EncryptedBy == "" {
			fact("encrypted by", "nothing")
		} else {
			fact("encrypted by", r.Spec.EncryptedBy)
		}
		lines = kit.Section(lines, "Watch cache")
		fact("state", cacheState(r))
		if c := r.Status.WatchCache; c != nil {
			fact("behind", counted(c.ResourceVersionLag)+" revisions of the whole store")
			fact("remembers", counted(c.Capacity)+" events")
		}
		fact("watchers", counted(r.Status.Watchers))
		fact("lists answered", counted(r.Status.ListRequests))
		if l := r.Status.EtcdLatency; l.Count > 0 {
			lines = kit.Section(lines, "Requests to etcd")
			fact("requests", counted(l.Count))
			fact("p50", kinds.Took(l.P50))
			fact("p90", kinds.Took(l.P90))
			fact("p99", kinds.Took(l.P99))
			fact("longest", kinds.Took(l.Max))
		}
		return lines
	}
}

// since is how long ago something was; empty if it never was.
func since(at *metav1.MicroTime, now time.Time) string {
	if at == nil {
		return ""
	}
	return kit.Ago(at.Time, now) + " ago"
}
