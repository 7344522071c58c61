package robust

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestManyObjects fills the server, reads everything page by page, restarts, and
// makes and deletes definitions beside all that.
func TestManyObjects(t *testing.T) {
	t.Parallel()
	objects, definitions := size(500, 10_000), size(5, 300)
	s := newServer(t, "--profiling=true")
	began := time.Now()
	s.start()
	empty := time.Since(began)

	began = time.Now()
	createMany(t, s, objects)
	t.Logf("%d ConfigMaps created in %s", objects, time.Since(began).Round(time.Millisecond))
	mustList(t, s, objects)

	began = time.Now()
	createCRDs(t, s, definitions)
	awaitCRDs(t, s, s.dynamic(), definitions)
	t.Logf("%d definitions Established after %s", definitions, time.Since(began).Round(time.Millisecond))
	began = time.Now()
	client := s.dynamic()
	for i := range definitions {
		createThing(t, s, client, i, "first")
	}
	t.Logf("and an object of each created after another %s", time.Since(began).Round(time.Millisecond))
	usage := s.usage()
	s.stop()

	began = time.Now()
	s.start()
	t.Logf("ready again after %s (%s with nothing in it); %s before, %s now",
		time.Since(began).Round(time.Millisecond), empty.Round(time.Millisecond), usage, s.usage())
	// Ready means that all of them are served, at once.
	client = s.dynamic()
	began = time.Now()
	for i := range definitions {
		list, err := client.Resource(customResource(i)).Namespace(namespace).List(deadline(t), metav1.ListOptions{})
		must(t, err)
		if len(list.Items) != 1 {
			t.Errorf("%s has %d objects after the restart, want 1", crdName(i), len(list.Items))
		}
	}
	t.Logf("an object of each definition read in %s; %s", time.Since(began).Round(time.Millisecond), s.usage())
	awaitCRDs(t, s, client, definitions)
	mustList(t, s, objects)
	mustBeFlat(t, s, definitions, size(3, 50))
	s.stop()
}

// createMany creates n ConfigMaps from several clients.
func createMany(t *testing.T, s *server, n int) {
	t.Helper()
	ctx := deadline(t)
	var wg sync.WaitGroup
	for w := range writers {
		client := s.client()
		wg.Go(func() {
			for i := w; i < n; i += writers {
				_, err := client.CoreV1().ConfigMaps(namespace).Create(ctx, configMap(fmt.Sprintf("many-%05d", i), strings.Repeat("x", 500)), metav1.CreateOptions{})
				if err != nil {
					t.Errorf("creating object %d: %v", i, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func createCRDs(t *testing.T, s *server, n int) {
	t.Helper()
	ctx := deadline(t)
	var wg sync.WaitGroup
	for w := range writers {
		client := s.dynamic()
		wg.Go(func() {
			for i := w; i < n; i += writers {
				if _, err := client.Resource(crdResource).Create(ctx, crd(i), metav1.CreateOptions{}); err != nil {
					t.Errorf("creating definition %d: %v", i, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// mustList reads all ConfigMaps in pages of different sizes, and at once: each
// object comes once and in order.
func mustList(t *testing.T, s *server, want int) {
	t.Helper()
	for _, page := range []int64{0, 500, 97} {
		began := time.Now()
		var names []string
		_, err := each(deadline(t), s.client(), page, func(m *corev1.ConfigMap) {
			if strings.HasPrefix(m.Name, "many-") {
				names = append(names, m.Name)
			}
		})
		must(t, err)
		if len(names) != want || !slices.IsSorted(names) || len(slices.Compact(names)) != want {
			t.Errorf("a list in pages of %d has %d objects, want %d, each once and in order", page, len(names), want)
		}
		t.Logf("listed in pages of %d in %s", page, time.Since(began).Round(time.Millisecond))
	}
}
