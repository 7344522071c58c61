package controllers_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kapi-dev/kapi/internal/kapitest"
)

// TestOwnNodes has nodes that are not kapi's.
func TestOwnNodes(t *testing.T) {
	t.Parallel()
	server := kapitest.Start(t, "--controllers=api,+nodelifecycle,+taint-eviction")
	client := server.Client(t)
	for name, test := range map[string]func(*testing.T, workbench){"taint eviction": testTaintEviction, "node lifecycle": testNodeLifecycle} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, workbench{server, client, newHome(t, client)})
		})
	}
}

// testTaintEviction: pods leave a node with a taint NoExecute that they do not tolerate.
func testTaintEviction(t *testing.T, w workbench) {
	node := w.namespace
	w.apply(t, `
apiVersion: v1
kind: Node
metadata: {name: `+node+`}
spec: {taints: [{key: example.test/burning, effect: NoExecute}]}
---
apiVersion: v1
kind: Pod
metadata: {name: tender}
spec: {nodeName: `+node+`, terminationGracePeriodSeconds: 0, containers: [{name: c, image: example.test/c}]}
---
apiVersion: v1
kind: Pod
metadata: {name: tough}
spec: {nodeName: `+node+`, terminationGracePeriodSeconds: 0, tolerations: [{operator: Exists}], containers: [{name: c, image: example.test/c}]}`)
	eventually(t, func(ctx context.Context) error {
		pods, err := w.pods(ctx, "")
		if err != nil {
			return err
		}
		var names []string
		for _, pod := range pods {
			names = append(names, pod.Name)
		}
		if !slices.Equal(names, []string{"tough"}) {
			return fmt.Errorf("on the node are %q", names)
		}
		return nil
	})
	w.kubectl(t, "delete", "node", node)
}

// testNodeLifecycle: a node of the user's that is Ready can be used, and one that was
// cordoned can't.
func testNodeLifecycle(t *testing.T, w workbench) {
	node := w.namespace + "-own"
	made := into[corev1.Node](t, apply(t, w.server, "", `
apiVersion: v1
kind: Node
metadata: {name: `+node+`}`))
	has := func(node *corev1.Node, key string) bool {
		return slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == key })
	}
	if !has(made, corev1.TaintNodeNotReady) {
		t.Errorf("a new node has the taints %v", made.Spec.Taints)
	}
	nodes := w.client.CoreV1().Nodes()
	tainted := func(key string, want bool) {
		t.Helper()
		eventually(t, func(ctx context.Context) error {
			// A node that says nothing for a while is none that is Ready.
			status := fmt.Sprintf(`{"status": {"conditions": [{"type": "Ready", "status": "True", "reason": "Test", "lastHeartbeatTime": %q}]}}`,
				time.Now().UTC().Format(time.RFC3339))
			found, err := nodes.Patch(ctx, node, types.StrategicMergePatchType, []byte(status), metav1.PatchOptions{}, "status")
			if err != nil {
				return err
			}
			if has(found, key) != want {
				return fmt.Errorf("the node has the taints %v, want %s: %v", found.Spec.Taints, key, want)
			}
			return nil
		})
	}
	tainted(corev1.TaintNodeNotReady, false)
	w.kubectl(t, "cordon", node)
	tainted(corev1.TaintNodeUnschedulable, true)
	w.kubectl(t, "delete", "node", node)
}

// TestDualStack: pods on fake nodes have addresses of the families that Services have,
// so that a Service of either finds them.
func TestDualStack(t *testing.T) {
	t.Parallel()
	server := kapitest.Start(t, "--controllers=all", "--fake-nodes", "1", "--service-cluster-ip-range=fd00:10::/112,10.1.0.0/16")
	client := server.Client(t)
	w := workbench{server, client, newHome(t, client)}
	w.apply(t, `
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ipFamilyPolicy: RequireDualStack, ports: [{port: 80}]}`)
	w.kubectl(t, "create", "deployment", "web", "--image=example.test/web")
	pod := w.awaitPods(t, "app=web", 1)[0]
	if ips := pod.Status.PodIPs; len(ips) != 2 || ips[0].IP != pod.Status.PodIP || ips[0].IP != "fd00:10:244:1::2" || ips[1].IP != "10.244.1.2" {
		t.Errorf("the pod has %s of %v", pod.Status.PodIP, ips)
	}
	eventually(t, func(ctx context.Context) error {
		slices, err := client.DiscoveryV1().EndpointSlices(w.namespace).List(ctx, metav1.ListOptions{LabelSelector: "kubernetes.io/service-name=web"})
		if err != nil {
			return err
		}
		found := map[discoveryv1.AddressType]string{}
		for _, slice := range slices.Items {
			for _, endpoint := range slice.Endpoints {
				found[slice.AddressType] += strings.Join(endpoint.Addresses, " ")
			}
		}
		if found[discoveryv1.AddressTypeIPv6] != "fd00:10:244:1::2" || found[discoveryv1.AddressTypeIPv4] != "10.244.1.2" {
			return fmt.Errorf("the endpoints are %v", found)
		}
		return nil
	})
}

// answered adds to an error what the client has left out of it.
func answered(body []byte, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %s", err, body)
}

// testNowhere: nothing is sent to the address of a pod that nobody runs, which
// somebody else on this network may have.
func testNowhere(t *testing.T, w workbench) {
	w.kubectl(t, "create", "deployment", "web", "--image=example.test/web", "--port=443")
	w.kubectl(t, "expose", "deployment", "web", "--port=443")
	pod := w.awaitPods(t, "app=web", 1)[0]
	core := w.client.CoreV1()
	refused := func(what, want string, try func() error) {
		t.Helper()
		eventually(t, func(context.Context) error { // the server's own informers come later than ours
			if err := try(); err == nil || !strings.Contains(err.Error(), want) {
				return fmt.Errorf("%s: %w, want %q", what, err, want)
			}
			return nil
		})
	}
	refused("proxy to a pod", "on a fake node", func() error {
		body, err := core.Pods(w.namespace).ProxyGet("https", pod.Name, "443", "/", nil).DoRaw(t.Context())
		return answered(body, err)
	})
	refused("proxy to a service", "on a fake node", func() error {
		body, err := core.Services(w.namespace).ProxyGet("https", "web", "443", "/", nil).DoRaw(t.Context())
		return answered(body, err)
	})
	w.apply(t, `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: `+w.namespace+`}
webhooks:
- name: guard.example.test
  clientConfig: {service: {namespace: `+w.namespace+`, name: web}}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: `+w.namespace+`}}
  sideEffects: None
  admissionReviewVersions: [v1]`)
	refused("a webhook", "--map-service "+w.namespace+"/web:443=HOST:PORT", func() error {
		_, err := core.ConfigMaps(w.namespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "c-"}}, metav1.CreateOptions{})
		return err
	})
	w.kubectl(t, "delete", "validatingwebhookconfiguration", w.namespace)
}

// TestPodGroups: those of a namespace go with it, where they are served, and where they
// are not those who would wait for them for ever say why they do nothing.
func TestPodGroups(t *testing.T) {
	t.Parallel()
	const gate = "--feature-gates=GenericWorkload=true"
	t.Run("served", func(t *testing.T) {
		t.Parallel()
		server := kapitest.Start(t, gate, "--runtime-config=scheduling.k8s.io/v1beta1=true")
		client := server.Client(t)
		awaitRunning(t, server, append(servedAPI(), "podgroup-protection")...)
		namespace := newHome(t, client)
		group := apply(t, server, namespace, `
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: group}
spec: {schedulingPolicy: {basic: {}}}`)
		if len(group.GetFinalizers()) == 0 {
			t.Error("it has no finalizer, and nobody is needed to take it off")
		}
		if err := client.CoreV1().Namespaces().Delete(t.Context(), namespace, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		await(t, "the namespace is gone", func(ctx context.Context) bool {
			_, err := client.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
			return apierrors.IsNotFound(err)
		})
	})
	t.Run("not served", func(t *testing.T) {
		t.Parallel()
		server := kapitest.Start(t, gate+",WorkloadWithJob=true,DRAWorkloadResourceClaims=true", "--controllers=all", "--fake-nodes", "1")
		eventually(t, func(context.Context) error {
			found, err := inspected(t, server)
			if err != nil {
				return err
			}
			for _, name := range []string{"scheduler", "job", "resourceclaim"} {
				if s := found[name].Spec; s.Enabled || !strings.Contains(s.Reason, "podgroups.scheduling.k8s.io are not served in v1beta1; see --runtime-config") {
					return fmt.Errorf("%s is enabled: %v, %q", name, s.Enabled, s.Reason)
				}
			}
			return nil
		})
	})
}
