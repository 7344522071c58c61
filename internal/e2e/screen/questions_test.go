package screen_test

import "testing"

// mostKeys is how many keys an answer may need, from the dashboard.
const mostKeys = 3

// TestQuestions asks what an operator wants to know at night, with the keys that
// docs/tui.md names.
func TestQuestions(t *testing.T) {
	t.Parallel()
	server := lab(t)
	m := openTUI(t, compact, server.kubeconfig(), nil, "dashboard")
	m.await(head("live"))
	for _, question := range []struct {
		text   string
		keys   []string
		answer []string
	}{
		{"why is this APIService unavailable", []string{"6", "Enter"}, []string{
			"v1beta1.metrics.k8s.io", "Unavailable for", "endpoint", "FAILED", `no endpoints available for service "metrics-server"`, "What to do"}},
		{"which filter refuses my requests", []string{"2"}, []string{"authorization", "403:", "requests end"}},
		{"and which requests are that", []string{"2", "Enter"}, []string{"authorization", "403", "alice"}},
		{"which hook made the start slow", []string{"7"}, []string{"ready after", "slowest hook", "critical path", "slowest"}},
		{"which CRD is not established and why", []string{"5", "Enter"}, []string{
			"gadgets.example.com", "NamesConflict", "is already in use", "What to do"}},
		{"what fills etcd", []string{"8"}, []string{"quota", "in use", "BYTES", "SHARE", "clusterroles.rbac.auth"}},
		{"and which keys are that", []string{"8", "Enter"}, []string{"/registry/clusterroles/", "system:"}},
		{"who hammers the server", []string{"1"}, []string{"most from", "ployer"}},
		{"and of which priority is it", []string{"9"}, []string{"LEVEL", "SEATS", "Who"}},
	} {
		if len(question.keys) > mostKeys {
			t.Errorf("%s: %d keys", question.text, len(question.keys))
		}
		m.press("1")
		m.await(full(compact), head("dashboard"), head("live"), has("checks ok"))
		for i, key := range question.keys {
			m.press(key)
			if i < len(question.keys)-1 {
				m.await(full(compact), head("live"), lacks("loading", "dashboard "))
			}
		}
		if seen, err := m.try(full(compact), head("live"), has(question.answer...)); err != nil {
			t.Errorf("%s? %q: %v\n%s", question.text, question.keys, err, seen)
		}
	}
	m.press("C-c", "C-c")
	m.ends(0)
}
