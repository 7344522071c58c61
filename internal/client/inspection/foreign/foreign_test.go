package foreign_test

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/fault"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestKinds compares what is made of the record with golden files. Ages count from
// the moment at which the recorded server started.
func TestKinds(t *testing.T) {
	server := serve(t, nil)
	about, err := server.About(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	now := about.StartedAt.Add(10 * time.Minute)
	for _, kind := range kinds.All() {
		t.Run(kind.Resource, func(t *testing.T) {
			got := write(kind, list(t, server, kind.Resource), now)
			golden := filepath.Join("testdata", "golden", kind.Resource+".txt")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("it is not what %s has (-update writes it anew):\n%s", golden, got)
			}
		})
	}
}

func TestAbout(t *testing.T) {
	about, err := serve(t, nil).About(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if about.Type != inspection.Foreign || about.KubernetesVersion != "v1.37.2" || about.StartedAt.IsZero() || !strings.HasPrefix(about.Address, "http://127.0.0.1:") {
		t.Errorf("got %+v", about)
	}
	about, err = serve(t, map[string]answer{"/metrics": forbidden("/metrics")}).About(t.Context())
	if err != nil || !about.StartedAt.IsZero() {
		t.Errorf("without metrics: %+v, %v", about, err)
	}
}

// A server that is there and fails its checks says which, and is asked why.
func TestFailingChecks(t *testing.T) {
	const failing = "[+]ping ok\n[-]etcd failed: reason withheld\n[-]poststarthook/rbac/bootstrap-roles failed: reason withheld\n" +
		"[-]检查 failed: no\nreadyz check failed\n"
	server := serve(t, map[string]answer{
		"/readyz":      {http.StatusInternalServerError, failing},
		"/livez":       forbidden("/livez"),
		"/healthz":     {http.StatusNotFound, "404 page not found"},
		"/readyz/etcd": {http.StatusInternalServerError, "internal server error: etcd failed to respond in time\n"},
		"/readyz/poststarthook/rbac/bootstrap-roles": forbidden("/readyz/poststarthook/rbac/bootstrap-roles"),
	})
	listing := list(t, server, "health")
	var got []string
	for _, object := range listing.Objects {
		check := object.(*v1alpha1.HealthCheck)
		got = append(got, fmt.Sprintf("%s %s %q", check.Name, check.Status.State, check.Status.LastError))
	}
	want := []string{
		`etcd Failed "etcd failed to respond in time"`, `ping OK ""`,
		`poststarthook-rbac-bootstrap-roles Failed "reason withheld"`, `检查 Failed "no"`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if reason := reasonOf(listing, "Endpoints"); !strings.Contains(reason, "/healthz") {
		t.Errorf("what is missing of the endpoints: %q", reason)
	}
	if reason := reasonOf(listing, "Last-Error"); !strings.Contains(reason, "withholds") {
		t.Errorf("what is missing of the errors: %q", reason)
	}
	hooks := list(t, server, "hooks")
	if len(hooks.Objects) != 1 || hooks.Objects[0].(*v1alpha1.PostStartHook).Status.State != v1alpha1.RunRunning {
		t.Errorf("got hooks %v, want one that runs", hooks.Objects)
	}
}

func TestFailingEtcd(t *testing.T) {
	listing := list(t, serve(t, map[string]answer{
		"/livez":      {http.StatusInternalServerError, "[-]etcd failed: reason withheld\n"},
		"/livez/etcd": {http.StatusInternalServerError, "internal server error: context deadline exceeded"},
	}), "etcd")
	member := listing.Objects[0].(*v1alpha1.EtcdMember)
	if !strings.Contains(member.Status.Error, "context deadline exceeded") || member.Status.Conditions[0].Status != metav1.ConditionFalse {
		t.Errorf("got %+v", member.Status)
	}
}

// What can't be had is a gap where something can be shown, and an error where not.
func TestForbiddenPages(t *testing.T) {
	const metrics, flags = "/metrics", "/flagz"
	for _, tc := range []struct {
		kind   string
		pages  []string
		column string // "" where it is an error
	}{
		{"filters", []string{metrics}, ""},
		{"authn", []string{flags}, "Configured-By"},
		{"authn", []string{metrics}, "Authenticated"},
		{"authn", []string{metrics, flags}, ""},
		{"authz", []string{flags}, "Order"},
		{"authz", []string{metrics}, "Allowed"},
		{"authz", []string{metrics, flags}, ""},
		{"admission", []string{flags}, "Configured-By"},
		{"admission", []string{metrics}, "Phase"},
		{"admission", []string{metrics, flags}, ""},
		{"hooks", []string{"/readyz"}, ""},
		{"health", []string{"/readyz"}, "Endpoints"},
		{"health", []string{"/readyz", "/livez", "/healthz"}, ""},
		{"registrations", []string{"/apis"}, ""},
		{"registrations", []string{"/apis/apiregistration.k8s.io/v1/apiservices"}, "Layer"},
		{"registrations", []string{"/apis/apiextensions.k8s.io/v1/customresourcedefinitions"}, "Storage-Version"},
		{"storage", []string{flags}, "Encrypted-By"},
		{"storage", []string{metrics}, ""},
		{"transitions", []string{"/apis/apiregistration.k8s.io/v1/apiservices"}, "Object"},
		{"probes", []string{metrics}, "503s"},
		{"probes", []string{"/apis/apiregistration.k8s.io/v1/apiservices"}, ""},
		{"discovery", []string{"/openapi/v3"}, "V3"},
		{"flow", []string{metrics}, "Limit"},
		{"flow", []string{"/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations"}, "Type"},
		{"flow", []string{"/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas"}, "Flow-Schemas"},
		{"etcd", []string{metrics}, "Size"},
		{"etcd", []string{"/livez"}, "Trouble"},
		{"etcd", []string{metrics, "/livez"}, ""},
	} {
		t.Run(tc.kind+" without "+strings.Join(tc.pages, " and "), func(t *testing.T) {
			instead := map[string]answer{}
			for _, page := range tc.pages {
				instead[page] = forbidden(page)
			}
			listing, err := serve(t, instead).List(t.Context(), kindOf(t, tc.kind), inspection.Query{})
			if tc.column == "" {
				if !apierrors.IsForbidden(err) || !strings.Contains(strings.ToLower(fault.Hint(err)), "clusterrole ") {
					t.Errorf("got %v (%s), want Forbidden and what gives it", err, fault.Hint(err))
				}
				return
			}
			if err != nil || len(listing.Objects) == 0 {
				t.Fatalf("%d objects, %v", len(listing.Objects), err)
			}
			if reason := reasonOf(listing, tc.column); !strings.Contains(reason, "forbidden to you: needs ") {
				t.Errorf("the reason for %s is %q", tc.column, reason)
			}
		})
	}
}

func reasonOf(listing inspection.Listing, column string) string {
	for _, gap := range listing.Gaps {
		if gap.Column == column {
			return gap.Reason
		}
	}
	return ""
}

// A page that answers something else than it should, as a proxy's login does.
func TestPagesInAnotherForm(t *testing.T) {
	login := answer{http.StatusOK, "<html>log in</html>"}
	server := serve(t, map[string]answer{"/metrics": login, "/flagz": login, "/apis": login, "/readyz": login})
	for _, kind := range []string{"filters", "storage", "hooks", "registrations"} {
		_, err := server.List(t.Context(), kindOf(t, kind), inspection.Query{})
		if err == nil || !strings.Contains(err.Error(), "not in the form that is expected") {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// Webhooks that were called are shown beside the plugins that call them.
func TestWebhooks(t *testing.T) {
	const metrics = `# TYPE apiserver_admission_webhook_admission_duration_seconds histogram
apiserver_admission_webhook_admission_duration_seconds_bucket{name="deny.example.com",operation="CREATE",rejected="true",type="validating",le="0.5"} 0
apiserver_admission_webhook_admission_duration_seconds_bucket{name="deny.example.com",operation="CREATE",rejected="true",type="validating",le="1"} 3
apiserver_admission_webhook_admission_duration_seconds_bucket{name="deny.example.com",operation="CREATE",rejected="true",type="validating",le="+Inf"} 3
apiserver_admission_webhook_admission_duration_seconds_count{name="deny.example.com",operation="CREATE",rejected="true",type="validating"} 3
apiserver_admission_webhook_admission_duration_seconds_count{name="set.example.com",operation="CREATE",rejected="false",type="admit"} 2
`
	var got []string
	for _, object := range list(t, serve(t, map[string]answer{"/metrics": {http.StatusOK, metrics}}), "admission").Objects {
		one := object.(*v1alpha1.AdmissionPlugin)
		if strings.Contains(one.Name, ".") {
			got = append(got, fmt.Sprint(one.Name, one.Spec.Mutating, one.Spec.Validating, one.Status.Admitted, one.Status.Rejected, one.Status.Latency.P99.Duration > 0, one.Spec.ConfiguredBy))
		}
	}
	want := []string{
		fmt.Sprint("deny.example.com", false, true, 0, 3, true, "ValidatingWebhookConfiguration"),
		fmt.Sprint("set.example.com", true, false, 2, 0, false, "MutatingWebhookConfiguration"),
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The dump says less than the metrics, but how many requests there are.
func TestFlowFromTheDump(t *testing.T) {
	server := serve(t, map[string]answer{"/metrics": forbidden("/metrics")})
	for _, object := range list(t, server, "flow").Objects {
		if state := object.(*v1alpha1.FlowState); state.Name == "exempt" && state.Status.Dispatched == 0 {
			t.Errorf("nothing was dispatched: %+v", state.Status)
		}
	}
}

func TestWatch(t *testing.T) {
	body := make(chan string, 3)
	body <- "[+]ping ok\n"
	body <- "[+]ping ok\n[-]etcd failed: no\n"
	body <- "[+]etcd ok\n"
	current := ""
	server := serveFunc(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" {
			http.NotFound(w, r)
			return
		}
		select {
		case current = <-body:
		default:
		}
		fmt.Fprint(w, current)
	})
	listing := list(t, server, "health")
	w, err := server.Watch(t.Context(), kindOf(t, "health"), inspection.Query{}, listing.ResourceVersion)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for _, want := range []string{"ADDED etcd Failed", "MODIFIED etcd OK", "DELETED ping OK"} {
		event := <-w.ResultChan()
		check, ok := event.Object.(*v1alpha1.HealthCheck)
		if !ok {
			t.Fatalf("got %v %v", event.Type, event.Object)
		}
		if got := fmt.Sprintf("%s %s %s", event.Type, check.Name, check.Status.State); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if check.Kind != "HealthCheck" {
			t.Errorf("the object of an event has no kind: %+v", check.TypeMeta)
		}
	}
}

// The watch of one object goes on while the object is not there.
func TestWatchOfOne(t *testing.T) {
	server := serve(t, nil)
	w, err := server.Watch(t.Context(), kindOf(t, "health"), inspection.Query{Name: "etcd"}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	if event := <-w.ResultChan(); event.Type != watch.Added || event.Object.(kinds.Object).GetName() != "etcd" {
		t.Errorf("got %v %v", event.Type, event.Object)
	}
	absent, err := server.Watch(t.Context(), kindOf(t, "health"), inspection.Query{Name: "none"}, "0")
	if err != nil {
		t.Fatal(err)
	}
	absent.Stop()
	for event := range absent.ResultChan() {
		t.Errorf("got %v %v", event.Type, event.Object)
	}
}

// Bad selectors are found before the server is asked.
func TestBadSelectors(t *testing.T) {
	server := serveFunc(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("asked for %s", r.URL) })
	query := inspection.Query{FieldSelector: "spec.none=x"}
	if _, err := server.List(t.Context(), kindOf(t, "health"), query); fault.Code(err) != fault.CodeUsage {
		t.Errorf("listing: %v", err)
	}
	if _, err := server.Watch(t.Context(), kindOf(t, "health"), query, ""); fault.Code(err) != fault.CodeUsage {
		t.Errorf("watching: %v", err)
	}
}
