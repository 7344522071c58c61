package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

const (
	loadNamespace = "bench-load"
	listNamespace = "bench-list" // holds exactly --list-objects ConfigMaps
)

// step is one kind of request of the load, in the order in which they run:
// every step finds what the one before has left.
type step struct {
	name  string
	count int
	do    func(ctx context.Context, c *loadClient, i int) error
}

func loadSteps(o *options) []step {
	name := func(i int) string { return fmt.Sprintf("cm-%06d", i) }
	return []step{
		{"create", o.Ops, func(ctx context.Context, c *loadClient, i int) error {
			cm := configMap(name(i), uint64(i))
			_, err := c.json.CoreV1().ConfigMaps(loadNamespace).Create(ctx, cm, metav1.CreateOptions{})
			return err
		}},
		{"get", o.Ops, func(ctx context.Context, c *loadClient, i int) error {
			_, err := c.json.CoreV1().ConfigMaps(loadNamespace).Get(ctx, name(i), metav1.GetOptions{})
			return err
		}},
		{"patch", o.Ops, func(ctx context.Context, c *loadClient, i int) error {
			patch := fmt.Appendf(nil, `{"data":{"patched":"%d"}}`, i)
			_, err := c.json.CoreV1().ConfigMaps(loadNamespace).
				Patch(ctx, name(i), types.MergePatchType, patch, metav1.PatchOptions{})
			return err
		}},
		{"list", o.Lists, func(ctx context.Context, c *loadClient, _ int) error { return list(ctx, c.proto) }},
		{"list-plain", o.Lists, func(ctx context.Context, c *loadClient, _ int) error { return list(ctx, c.plain) }},
		{"delete", o.Ops, func(ctx context.Context, c *loadClient, i int) error {
			return c.json.CoreV1().ConfigMaps(loadNamespace).Delete(ctx, name(i), metav1.DeleteOptions{})
		}},
	}
}

// list reads the whole answer and does not decode it: client and server share
// the machine, and decoding thousands of objects would measure the client.
func list(ctx context.Context, cs *kubernetes.Clientset) error {
	body, err := cs.CoreV1().RESTClient().Get().Namespace(listNamespace).Resource("configmaps").DoRaw(ctx)
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(body, []byte("k8s\x00")) {
		return errors.New("the list is not protobuf")
	}
	return nil
}

// prepareLoad makes the namespaces and fills the one that is listed. It also
// warms up both sides alike: connections, caches, the server's heap.
func prepareLoad(ctx context.Context, o *options, clients []*loadClient) error {
	for _, ns := range []string{loadNamespace, listNamespace} {
		if err := createNamespace(ctx, clients[0], ns); err != nil {
			return err
		}
	}
	_, err := runPhase(ctx, len(clients), o.ListObjects, func(ctx context.Context, w, i int) error {
		cm := configMap(fmt.Sprintf("listed-%06d", i), uint64(i))
		_, err := clients[w].json.CoreV1().ConfigMaps(listNamespace).Create(ctx, cm, metav1.CreateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("filling namespace %s: %w", listNamespace, err)
	}
	listed, err := clients[0].proto.CoreV1().ConfigMaps(listNamespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing namespace %s: %w", listNamespace, err)
	}
	// kube-root-ca.crt is there where a controller publishes it.
	if extra := len(listed.Items) - o.ListObjects; extra < 0 || extra > 1 {
		return fmt.Errorf("listing namespace %s: %d objects, want %d", listNamespace, len(listed.Items), o.ListObjects)
	}
	return nil
}

func createNamespace(ctx context.Context, c *loadClient, name string) error {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	_, err := c.json.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating namespace %s: %w", name, err)
	}
	return nil
}

// configMap returns a ConfigMap whose data is about 1 KiB, in the form of a
// settings file: text that compresses as such files do. The same seed gives the same text.
func configMap(name string, seed uint64) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "bench"}},
		Data:       map[string]string{"settings": settings(seed, 1024)},
	}
}

func settings(seed uint64, size int) string {
	words := []string{"server", "cache", "limit", "timeout", "address", "retry", "queue", "worker", "buffer", "level"}
	random := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	for b.Len() < size {
		fmt.Fprintf(&b, "%s.%s=%x\n", words[random.IntN(len(words))], words[random.IntN(len(words))], random.Uint32())
	}
	return b.String()[:size]
}
