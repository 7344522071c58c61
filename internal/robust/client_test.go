package robust

import (
	"context"
	"net"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// config is that of the administrator, without a limit on the client's side.
// Each has connections of its own: client-go shares those of configurations
// that look alike, and every Dial differs.
func (s *server) config() *rest.Config {
	s.t.Helper()
	dir := s.dir
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(s.workDir, dir)
	}
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(dir, "kubeconfig"))
	must(s.t, err)
	config.QPS = -1
	config.Dial = (&net.Dialer{Timeout: 30 * time.Second}).DialContext
	return config
}

func (s *server) client() kubernetes.Interface {
	s.t.Helper()
	client, err := kubernetes.NewForConfig(s.config())
	must(s.t, err)
	return client
}

func (s *server) dynamic() dynamic.Interface {
	s.t.Helper()
	client, err := dynamic.NewForConfig(s.config())
	must(s.t, err)
	return client
}

// deadline is a context that no healthy request outlives.
func deadline(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

const namespace = metav1.NamespaceDefault

// configMap is an object with one value.
func configMap(name, value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"value": value}}
}

// each calls f with all ConfigMaps of the namespace, page by page, and returns
// the resourceVersion of the list.
func each(ctx context.Context, client kubernetes.Interface, page int64, f func(*corev1.ConfigMap)) (string, error) {
	options := metav1.ListOptions{Limit: page}
	for {
		list, err := client.CoreV1().ConfigMaps(namespace).List(ctx, options)
		if err != nil {
			return "", err
		}
		for i := range list.Items {
			f(&list.Items[i])
		}
		if options.Continue = list.Continue; options.Continue == "" {
			return list.ResourceVersion, nil
		}
	}
}
