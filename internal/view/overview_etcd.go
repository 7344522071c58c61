package view

import (
	"fmt"
	"strings"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined"
	"github.com/kapi-dev/kapi/internal/text"
)

// etcdFacts are a gauge for each member.
func etcdFacts(s text.Screen, o joined.Overview) []overviewFact {
	if why := joined.Why(o.Missing, "etcdmembers"); why != "" {
		return []overviewFact{{"Etcd", []text.Cell{notShown("", why)}}}
	}
	facts := make([]overviewFact, 0, len(o.Etcd))
	for _, m := range o.Etcd {
		facts = append(facts, overviewFact{"Etcd", etcdCells(s, m, o)})
	}
	return facts
}

// etcdCells show how full a member is, and what is more important than that first.
func etcdCells(s text.Screen, m joined.EtcdLine, o joined.Overview) []text.Cell {
	var cells []text.Cell
	if len(o.Etcd) > 1 {
		cells = append(cells, plain(m.Name+": "))
	}
	st := m.Status
	if st.Error != "" {
		return append(cells, text.Cell{Text: "can't be asked: " + st.Error, Tone: text.Bad})
	}
	if len(st.Alarms) > 0 {
		cells = append(cells, text.Cell{Text: strings.Join(st.Alarms, " ") + " ", Tone: text.Bad})
	}
	size := "size not known"
	if st.DBSize >= 0 {
		size = kinds.Size(st.DBSize)
	}
	if st.Quota > 0 {
		part := float64(st.DBSize) / float64(st.Quota)
		cells = append(cells, text.Cell{Text: s.Gauge(8, part) + " ", Tone: gaugeTone(part)})
		size = fmt.Sprintf("%s of %s", size, kinds.Size(st.Quota))
	}
	said := []string{size}
	if st.DBSizeInUse > 0 {
		said = append(said, kinds.Size(st.DBSizeInUse)+" in use")
	}
	if len(st.Alarms) > 0 {
		return append(cells, plain(strings.Join(said, ", ")))
	}
	switch {
	case st.Leader:
		said = append(said, "leader")
	case st.Learner:
		said = append(said, "learner")
	case joined.Why(o.Missing, "etcdmembers.Leader") == "":
		said = append(said, "follower")
	}
	if st.Commit != nil && st.Commit.Count > 0 {
		said = append(said, "commit p99 "+kinds.Took(st.Commit.P99))
	}
	if st.Fsync != nil && st.Fsync.Count > 0 && (s.Width <= 0 || s.Width >= roomy) {
		said = append(said, "fsync p99 "+kinds.Took(st.Fsync.P99))
	}
	return append(cells, plain(strings.Join(said, ", ")))
}

// gaugeTone warns where the quota comes near; the problems say it in words.
func gaugeTone(part float64) text.Tone {
	switch {
	case part >= 0.95:
		return text.Bad
	case part >= 0.80:
		return text.Warning
	default:
		return text.Good
	}
}
