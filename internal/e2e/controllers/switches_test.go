package controllers_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/controllers/catalog"
	"github.com/kapi-dev/kapi/internal/kapitest"
)

// running is the type of the condition of a controller that runs in the server.
const running = "Running"

// inspected returns the controllers of a server, as `kapi inspect` prints them.
func inspected(t testing.TB, server *kapitest.Server) (map[string]v1alpha1.Controller, error) {
	t.Helper()
	out, stderr, err := server.Try(t, "", "inspect", "controllers", "-o", "json")
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, stderr)
	}
	var list v1alpha1.ControllerList
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatalf("%v in\n%s", err, out)
	}
	found := map[string]v1alpha1.Controller{}
	for _, c := range list.Items {
		found[c.Name] = c
	}
	return found, nil
}

// awaitRunning waits until exactly these controllers run.
func awaitRunning(t testing.TB, server *kapitest.Server, want ...string) {
	t.Helper()
	slices.Sort(want)
	eventually(t, func(context.Context) error {
		found, err := inspected(t, server)
		if err != nil {
			return err
		}
		if all := len(catalog.Controllers()); len(found) != all {
			return fmt.Errorf("%d controllers are shown, there are %d", len(found), all)
		}
		var enabled, run []string
		for name, c := range found {
			if c.Spec.Enabled {
				enabled = append(enabled, name)
			}
			if meta.IsStatusConditionTrue(c.Status.Conditions, running) {
				run = append(run, name)
			}
			if !c.Spec.Enabled && c.Spec.Reason == "" {
				return fmt.Errorf("no reason says why %s is off", name)
			}
		}
		slices.Sort(enabled)
		slices.Sort(run)
		if !slices.Equal(enabled, want) || !slices.Equal(run, want) {
			return fmt.Errorf("want %v\nenabled: %v\nrunning: %v", want, enabled, run)
		}
		return nil
	})
}

// servedAPI are the controllers of the set api that have work in a default server:
// StorageVersions and PodGroups, which two are about, are not served.
func servedAPI() []string {
	return slices.DeleteFunc(catalog.In(catalog.API), func(name string) bool { return name == "storage-version-gc" || name == "podgroup-protection" })
}

// TestDefaultControllers: the set api is on.
func TestDefaultControllers(t *testing.T) {
	t.Parallel()
	awaitRunning(t, kapitest.Shared(t), servedAPI()...)
}

// TestNoControllers: a namespace holds what its user has made, and does not end.
func TestNoControllers(t *testing.T) {
	t.Parallel()
	server := kapitest.Start(t, "--controllers=none")
	client := server.Client(t)
	awaitRunning(t, server)
	namespace := newNamespace(t, client)
	if _, err := client.CoreV1().Pods(namespace).Create(t.Context(), pod("p"), metav1.CreateOptions{}); err != nil {
		t.Errorf("a pod in a namespace without accounts: %v", err)
	}
	metrics, err := client.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range catalog.Controllers() {
		for _, queue := range c.Queues {
			// The server itself has a queue of this name, to repair addresses with.
			if queue != "ipaddresses" && bytes.Contains(metrics, []byte("workqueue_depth{name=\""+queue+"\"}")) {
				t.Errorf("controller %s is off, and there is its queue %s", c.Name, queue)
			}
		}
	}
	deleteNamespace(t, client, namespace)
	accounts, err := client.CoreV1().ServiceAccounts(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(accounts.Items) > 0 {
		t.Errorf("accounts: %v %+v", err, accounts)
	}
	maps, err := client.CoreV1().ConfigMaps(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(maps.Items) > 0 {
		t.Errorf("ConfigMaps: %v %+v", err, maps)
	}
	view, err := client.RbacV1().ClusterRoles().Get(t.Context(), "view", metav1.GetOptions{})
	if err != nil || len(view.Rules) > 0 {
		t.Errorf("ClusterRole view: %v %+v", err, view)
	}
	current, err := client.CoreV1().Namespaces().Get(t.Context(), namespace, metav1.GetOptions{})
	if err != nil || current.Status.Phase != corev1.NamespaceTerminating {
		t.Errorf("the deleted namespace: %v %+v", err, current)
	}
}

// TestAccountsOff: without the controller of service accounts pods need none, unless
// the admission plugin is asked for.
func TestAccountsOff(t *testing.T) {
	t.Parallel()
	others := slices.DeleteFunc(servedAPI(), func(name string) bool { return name == catalog.ServiceAccount })
	for plugin, allowed := range map[string]bool{"": true, "--enable-admission-plugins=ServiceAccount": false} {
		server := kapitest.New(t, slices.DeleteFunc([]string{"--controllers=-serviceaccount", plugin}, func(s string) bool { return s == "" })...)
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		client := server.Client(t)
		namespace := newNamespace(t, client)
		_, err := client.CoreV1().Pods(namespace).Create(t.Context(), pod("p"), metav1.CreateOptions{})
		if allowed && err != nil || !allowed && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `serviceaccount "default" not found`)) {
			t.Errorf("a pod, with flag %q: %v", plugin, err)
		}
		awaitRunning(t, server, others...)
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	}
}

// TestControllersOneByOne adds one and takes one away.
func TestControllersOneByOne(t *testing.T) {
	t.Parallel()
	server := kapitest.Start(t, "--controllers=api,+deployment-controller,-resourcequota")
	want := append(slices.DeleteFunc(servedAPI(), func(name string) bool { return name == "resourcequota" }), "deployment")
	awaitRunning(t, server, want...)

	// It does its part, and nobody does the next one's.
	client := server.Client(t)
	namespace := newNamespace(t, client)
	server.Run(t, "kubectl", "create", "deployment", "web", "--image=example.test/web", "-n", namespace)
	eventually(t, func(ctx context.Context) error {
		sets, err := client.AppsV1().ReplicaSets(namespace).List(ctx, metav1.ListOptions{})
		if err == nil && len(sets.Items) != 1 {
			err = fmt.Errorf("%d ReplicaSets", len(sets.Items))
		}
		return err
	})
	if pods, err := client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{}); err != nil || len(pods.Items) > 0 {
		t.Errorf("without the controller of ReplicaSets: %v %+v", err, pods)
	}
}

// TestWrongControllers: what is no controller ends the start, and names what was meant.
func TestWrongControllers(t *testing.T) {
	t.Parallel()
	for flag, want := range map[string][]string{
		"--controllers=deploymnet":         {"deploymnet", "did you mean deployment?"},
		"--controllers=api,-resourcequtoa": {"-resourcequtoa", "did you mean resourcequota?"},
		"--controllers=wrokloads":          {"wrokloads", "did you mean workloads?"},
		"--controllers=+fake-nodes":        {"fake-nodes", "--fake-nodes 3"},
		"--fake-nodes=-1":                  {"fakeNodes", "-1"},
		"--controllers-lease-duration=1ms": {"leaseDuration", "1ms"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		cmd := kapitest.Command(ctx, t.TempDir(), "serve", "--data-dir", t.TempDir(), "--secure-port", "0", flag)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		err := cmd.Run()
		cancel()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 2 {
			t.Errorf("kapi serve %s: %v, want exit code 2\n%s", flag, err, &out)
		}
		for _, part := range want {
			if !strings.Contains(out.String(), part) {
				t.Errorf("kapi serve %s does not say %s:\n%s", flag, part, &out)
			}
		}
	}
}
