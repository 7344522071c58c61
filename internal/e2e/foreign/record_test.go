package foreign_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
)

// update records what the server exposes as the test data of package foreign.
var update = flag.Bool("update", false, "record what kube-apiserver exposes for the tests of package foreign")

const testdata = "../../client/inspection/foreign/testdata"

// record writes the pages that package foreign reads, cut to what its tests need.
func record(t *testing.T, l *lab) {
	t.Helper()
	if !*update {
		t.Skip("records only with -update")
	}
	const discovery = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	for _, page := range []struct {
		file, path, accept string
		strip              func(*testing.T, []byte) []byte
	}{
		{"version.json", "/version", "application/json", nil},
		{"readyz.txt", "/readyz?verbose", "*/*", nil},
		{"livez.txt", "/livez?verbose", "*/*", nil},
		{"healthz.txt", "/healthz?verbose", "*/*", nil},
		{"metrics.txt", "/metrics", "text/plain", stripMetrics},
		{"flagz.json", "/flagz", "application/json;g=config.k8s.io;v=v1beta1;as=Flagz", stripFlags},
		{"api.json", "/api", discovery, stripGroups},
		{"apis.json", "/apis", discovery, stripGroups},
		{"openapi.json", "/openapi/v3", "application/json", stripDocuments},
		{"levels.txt", "/debug/api_priority_and_fairness/dump_priority_levels", "*/*", nil},
		{"definitions.json", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "application/json", stripItems},
		{"apiservices.json", "/apis/apiregistration.k8s.io/v1/apiservices", "application/json", stripItems},
		{"prioritylevels.json", "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations", "application/json", stripItems},
		{"flowschemas.json", "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas", "application/json", stripItems},
	} {
		data := l.get(t, page.path, page.accept)
		if page.strip != nil {
			data = page.strip(t, data)
		}
		if err := os.WriteFile(filepath.Join(testdata, page.file), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func (l *lab) get(t *testing.T, path, accept string) []byte {
	t.Helper()
	client, err := rest.HTTPClientFor(l.config)
	if err != nil {
		t.Fatal(err)
	}
	data, err := fetch(t.Context(), client, l.config.Host+path, accept)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// keptGroups are those whose resources the test data has.
func keptGroups() []string {
	return []string{"", "apps", "autoscaling", "example.com", "broken.example.com", "apiregistration.k8s.io", "apiextensions.k8s.io"}
}

func stripMetrics(_ *testing.T, data []byte) []byte {
	var kept bytes.Buffer
	for line := range bytes.Lines(data) {
		text := string(line)
		name := strings.TrimPrefix(strings.TrimPrefix(text, "# HELP "), "# TYPE ")
		if keptMetric(name) && keptResource(text) {
			kept.Write(line)
		}
	}
	return kept.Bytes()
}

func keptMetric(name string) bool {
	return slices.ContainsFunc([]string{
		"process_start_time_seconds", "apiserver_request_filter_duration_seconds", "authentication_", "authorization_",
		"apiserver_authorization_decisions_total", "apiserver_flowcontrol_rejected_requests_total",
		"apiserver_flowcontrol_nominal_limit_seats", "apiserver_flowcontrol_current_", "apiserver_flowcontrol_dispatched_requests_total",
		"apiserver_admission_controller_admission_duration_seconds", "apiserver_request_terminations_total",
		"apiserver_resource_objects", "apiserver_resource_size_estimate_bytes", "watch_cache_capacity",
		"apiserver_watch_cache_resource_version", "apiserver_watch_cache_initializations_total", "etcd_request_duration_seconds",
		"apiserver_longrunning_requests", "apiserver_request_total", "apiserver_storage_size_bytes",
		"apiserver_request_body_size_bytes_count", // one that nobody asks for
	}, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// keptResource leaves out the series of most resources and plugins.
func keptResource(line string) bool {
	if strings.HasPrefix(line, "#") {
		return true
	}
	keeps := func(label string, values ...string) bool {
		return !strings.Contains(line, label+`="`) ||
			slices.ContainsFunc(values, func(value string) bool { return strings.Contains(line, label+`="`+value+`"`) })
	}
	return keeps("resource", "", "pods", "events", "clusterroles", "widgets", "things", "leases", "services") &&
		(!strings.Contains(line, "admission_controller") || keeps("{name", "LimitRanger", "NamespaceLifecycle", "PodSecurity"))
}

func stripFlags(t *testing.T, data []byte) []byte {
	return edit(t, data, func(page map[string]any) {
		flags, _ := page["flags"].(map[string]any)
		for name, value := range flags {
			text, _ := value.(string)
			if i := strings.Index(text, "/pki/"); i >= 0 && strings.HasPrefix(strings.Trim(text, "["), "/") {
				flags[name] = "/etc/kubernetes" + strings.Trim(text[i:], "]")
			}
			if !slices.ContainsFunc([]string{"admission", "auth", "etcd-", "encryption", "ca-file", "account-key", "oidc-issuer"}, func(part string) bool {
				return strings.Contains(name, part)
			}) {
				delete(flags, name)
			}
		}
		flags["etcd-servers"] = "[http://127.0.0.1:2379]"
	})
}

func stripGroups(t *testing.T, data []byte) []byte {
	return edit(t, data, func(list map[string]any) {
		items, _ := list["items"].([]any)
		list["items"] = slices.DeleteFunc(items, func(item any) bool {
			group, _ := item.(map[string]any)
			meta, _ := group["metadata"].(map[string]any)
			name, _ := meta["name"].(string)
			return !slices.Contains(keptGroups(), name)
		})
	})
}

func stripDocuments(t *testing.T, data []byte) []byte {
	return edit(t, data, func(root map[string]any) {
		paths, _ := root["paths"].(map[string]any)
		for path := range paths {
			if parts := strings.Split(path, "/"); parts[0] == "apis" && len(parts) > 1 && !slices.Contains(keptGroups(), parts[1]) {
				delete(paths, path)
			}
		}
	})
}

// stripItems leaves out who wrote what, and most APIServices.
func stripItems(t *testing.T, data []byte) []byte {
	return edit(t, data, func(list map[string]any) {
		items, _ := list["items"].([]any)
		list["items"] = slices.DeleteFunc(items, func(item any) bool {
			object, _ := item.(map[string]any)
			meta, _ := object["metadata"].(map[string]any)
			delete(meta, "managedFields")
			spec, _ := object["spec"].(map[string]any)
			group, isService := spec["group"].(string)
			_, versioned := spec["version"]
			return isService && versioned && !slices.Contains(keptGroups(), group)
		})
	})
}

func edit(t *testing.T, data []byte, change func(map[string]any)) []byte {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal(data, &object); err != nil {
		t.Fatal(err)
	}
	change(object)
	edited, err := json.MarshalIndent(object, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return append(edited, '\n')
}
