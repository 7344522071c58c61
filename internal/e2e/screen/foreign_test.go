package screen_test

import (
	"testing"

	"github.com/kapi-dev/kapi/internal/kapitest/peer"
)

// foreignPlaces are what is seen of a server that is not kapi: data, or why there is
// none.
var foreignPlaces = []place{
	{"dashboard", "1", "dashboard", []string{"nothing is wrong", "checks ok", "APIServices ok", "keeps no requests"}, true},
	{"chain", "2", "chain", []string{"authentication", "priorityandfairness", "does not say which servers it chains"}, true},
	{"requests", "3", "requests", []string{"this server keeps no requests"}, false},
	{"groups", "4", "groups", []string{"core", "apps", "served", "aggregator"}, true},
	{"crds", "5", "crds", []string{"There are no CustomResourceDefinitions"}, false},
	{"apiservices", "6", "apiservices", []string{"v1.apps", "Available"}, true},
	{"hooks", "7", "hooks", []string{"hooks done", "is not known", "crd-informer-synced"}, true},
	{"etcd", "8", "etcd", []string{"etcd-0", "file", "RESOURCE"}, true},
	{"flow", "9", "flow", []string{"LEVEL", "exempt", "workload-low"}, true},
	{"auth", "0", "auth", []string{"authenticators", "client-certificate", "rbac", "LimitRanger"}, true},
	{"health", "", "health", []string{"readyz", "etcd-readiness", "informer-sync"}, true},
	{"discovery", "", "discovery", []string{"apps/v1", "current"}, true},
	{"controllers", "", "controllers", []string{"does not say which controllers"}, false},
	{"logs", "", "logs", []string{"No API server gives its log through its API"}, false},
	{"route", "", "route GET /api/v1/namespaces/shop/secrets --as alice", []string{"alice", "403", "authorization", "does not tell"}, true},
	{"configmaps", "", "configmaps", []string{"extension-apiserver-authentication"}, true},
	{"one", "", "configmaps/extension-apiserver-authentication -n kube-system", []string{"apiVersion", "client-ca-file"}, true},
	{"help", "?", "help", []string{"help", "copy its name", "esc closes"}, false},
}

// TestForeign looks at an API server that is not kapi.
func TestForeign(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds and starts etcd and kube-apiserver")
	}
	findTmux(t)
	kapi(t)
	server := peer.Start(t)
	viewers := []*terminal{
		openTUI(t, compact, server.Kubeconfig(), nil, "dashboard"),
		openTUI(t, wide, server.Kubeconfig(), nil, "dashboard"),
	}
	for _, m := range viewers {
		m.await(head("live"))
	}
	viewers[1].await(head("not a kapi"))
	for _, p := range foreignPlaces {
		for _, m := range viewers {
			m.command(p.line)
		}
		for _, m := range viewers {
			if seen, err := m.try(p.checks(m.size)...); err != nil {
				t.Errorf("%s, %s: %v\n%s", p.name, m.size, err, seen)
			}
		}
	}
	for _, m := range viewers {
		m.press("C-c", "C-c")
		m.ends(0)
	}
}
