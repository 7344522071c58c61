package controllers_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kapi-dev/kapi/internal/kapitest"
)

// crew are servers that share an etcd and the keys of the first, which embeds it and
// runs no controllers.
type crew struct {
	first *kapitest.Server
	args  []string
}

func newCrew(t testing.TB, args ...string) crew {
	t.Helper()
	first := kapitest.Start(t, "--controllers=none")
	return crew{first, append([]string{"--etcd-unsafe-no-fsync=false", "--etcd-servers=" + first.EtcdEndpoint()}, args...)}
}

// join starts another server.
func (c crew) join(t testing.TB) *kapitest.Server {
	t.Helper()
	server := kapitest.New(t, c.args...)
	if err := os.Mkdir(server.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := copyKeys(filepath.Join(server.Dir, "pki"), filepath.Join(c.first.Dir, "pki")); err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	return server
}

// copyKeys copies the files of a directory, which has no others, with their modes.
func copyKeys(target, source string) error {
	if err := os.Mkdir(target, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(source)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		data, err := os.ReadFile(filepath.Join(source, entry.Name()))
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(target, entry.Name()), data, info.Mode()&fs.ModePerm); err != nil {
			return err
		}
	}
	return nil
}

// leads tells whether a server runs all of its controllers, or none of them; anything
// between is an error. holder is whom it takes for the leader.
func leads(t testing.TB, server *kapitest.Server) (leader bool, holder string, err error) {
	t.Helper()
	found, err := inspected(t, server)
	if err != nil {
		return false, "", err
	}
	var on, off []string
	for name, c := range found {
		if !c.Spec.Enabled {
			continue
		}
		holder = c.Status.Holder
		if c.Status.Leader {
			on = append(on, name)
		} else {
			off = append(off, name)
		}
	}
	if len(on) > 0 && len(off) > 0 {
		return false, "", fmt.Errorf("some run, %v, and some do not, %v", on, off)
	}
	if len(on)+len(off) == 0 {
		return false, "", errors.New("no controller is enabled")
	}
	return len(on) > 0, holder, nil
}

// awaitLeader waits until exactly one of the servers leads, and all say so.
func awaitLeader(t testing.TB, servers ...*kapitest.Server) *kapitest.Server {
	t.Helper()
	var leader *kapitest.Server
	eventually(t, func(ctx context.Context) error {
		leader = nil
		lease, err := servers[0].Client(t).CoordinationV1().Leases(metav1.NamespaceSystem).Get(ctx, "kapi-controllers", metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, server := range servers {
			is, holder, err := leads(t, server)
			switch {
			case err != nil:
				return err
			case lease.Spec.HolderIdentity == nil || holder == "" || holder != *lease.Spec.HolderIdentity:
				return fmt.Errorf("a server says that %q leads, the lease %v", holder, lease.Spec.HolderIdentity)
			case is && leader != nil:
				return errors.New("two servers lead")
			case is:
				leader = server
			}
		}
		if leader == nil {
			return errors.New("no server leads")
		}
		return nil
	})
	return leader
}

// TestOneLeader has three servers on one etcd, of which the one that leads is killed
// in the middle of its work: another goes on, and nothing is there twice.
func TestOneLeader(t *testing.T) {
	t.Parallel()
	// So long that a busy machine does not keep a leader from renewing it.
	c := newCrew(t, "--controllers=all", "--fake-nodes=2", "--controllers-lease-duration=10s")
	servers := []*kapitest.Server{c.join(t), c.join(t), c.join(t)}
	leader := awaitLeader(t, servers...)
	var others []*kapitest.Server
	for _, server := range servers {
		if server != leader {
			others = append(others, server)
		}
	}
	client := others[0].Client(t)
	w := workbench{others[0], client, newHome(t, client)}
	made := w.countPods(t, "app=web")
	w.kubectl(t, "create", "deployment", "web", "--image=example.test/web:1", "--replicas=5")
	before := map[string]bool{}
	for _, pod := range w.awaitPods(t, "app=web", 5) {
		before[string(pod.UID)] = true
	}
	const many = 60
	w.kubectl(t, "scale", "deployment/web", fmt.Sprintf("--replicas=%d", many))
	if err := leader.Kill(); err != nil {
		t.Fatal(err)
	}
	killed := time.Now()
	w.kubectl(t, "create", "job", "work", "--image=example.test/work")
	next := awaitLeader(t, others...)
	t.Logf("another server led %s after the leader was killed", time.Since(killed).Round(10*time.Millisecond))
	w.awaitJob(t, "work", "Complete")
	for _, pod := range w.awaitPods(t, "app=web", many) {
		delete(before, string(pod.UID))
	}
	if len(before) > 0 {
		t.Errorf("%d of the pods from before are gone", len(before))
	}
	if total := made(); total != many {
		t.Errorf("%d pods have been made, %d were asked for", total, many)
	}
	w.checkOnce(t)

	// It comes back, and another leads already.
	if err := leader.Start(); err != nil {
		t.Fatal(err)
	}
	if now := awaitLeader(t, append(others, leader)...); now != next {
		t.Error("a server that comes back has taken over from one that leads")
	}
	w.kubectl(t, "scale", "deployment/web", "--replicas=3")
	w.awaitPods(t, "app=web", 3)
	w.checkOnce(t)

	t.Run("a leader that sleeps", func(t *testing.T) {
		sleepingLeader(t, next, slices.DeleteFunc(slices.Clone(servers), func(s *kapitest.Server) bool { return s == next }))
	})
	t.Run("an etcd that sleeps", func(t *testing.T) { sleepingEtcd(t, c.first, w, servers) })
}

// sleepingLeader stops the leader until another leads. When it wakes up it still
// believes that it does.
func sleepingLeader(t *testing.T, leader *kapitest.Server, others []*kapitest.Server) {
	client := others[0].Client(t)
	w := workbench{others[0], client, newHome(t, client)}
	w.kubectl(t, "create", "deployment", "web", "--image=example.test/web:1", "--replicas=5")
	w.awaitPods(t, "app=web", 5)
	made := w.countPods(t, "app=web")
	signal(t, leader, syscall.SIGSTOP)
	awaitLeader(t, others...)
	w.kubectl(t, "scale", "deployment/web", "--replicas=20")
	signal(t, leader, syscall.SIGCONT)
	w.awaitPods(t, "app=web", 20)
	if next := awaitLeader(t, append(others, leader)...); next == leader {
		t.Error("the one that woke up leads again")
	}
	w.kubectl(t, "scale", "deployment/web", "--replicas=30")
	w.awaitPods(t, "app=web", 30)
	if total := made(); total != 30 {
		t.Errorf("%d pods have been made, 30 were asked for", total)
	}
}

// sleepingEtcd stops the etcd for longer than the lease: nobody leads, and then
// exactly one does again.
func sleepingEtcd(t *testing.T, etcd *kapitest.Server, w workbench, servers []*kapitest.Server) {
	w.namespace = newHome(t, w.client)
	signal(t, etcd, syscall.SIGSTOP)
	for _, server := range servers {
		await(t, "no server believes that it leads", func(context.Context) bool {
			is, _, err := leads(t, server)
			return err == nil && !is
		})
	}
	signal(t, etcd, syscall.SIGCONT)
	awaitLeader(t, servers...)
	w.kubectl(t, "create", "deployment", "web", "--image=example.test/web:1", "--replicas=5")
	w.awaitPods(t, "app=web", 5)
}

func signal(t testing.TB, server *kapitest.Server, signal os.Signal) {
	t.Helper()
	if err := server.Signal(signal); err != nil {
		t.Fatal(err)
	}
}

// countPods counts the pods that are made from now on; total ends that. Two who do
// the same make too many, and delete them again.
func (w workbench) countPods(t testing.TB, selector string) (total func() int) {
	t.Helper()
	events, err := w.client.CoreV1().Pods(w.namespace).Watch(t.Context(), metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		t.Fatal(err)
	}
	seen, ended := map[types.UID]bool{}, make(chan struct{})
	go func() {
		defer close(ended)
		for event := range events.ResultChan() {
			if pod, ok := event.Object.(*corev1.Pod); ok {
				seen[pod.UID] = true
			}
		}
	}()
	end := sync.OnceFunc(func() {
		events.Stop()
		<-ended
	})
	t.Cleanup(end)
	return func() int {
		end()
		return len(seen)
	}
}

// checkOnce looks at what two controllers that do the same would have made twice.
func (w workbench) checkOnce(t testing.TB) {
	t.Helper()
	sets, err := w.client.AppsV1().ReplicaSets(w.namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(sets.Items) != 1 {
		t.Errorf("%v, %d ReplicaSets", err, len(sets.Items))
	}
	jobs, err := w.pods(t.Context(), "batch.kubernetes.io/job-name=work")
	if err != nil || len(jobs) != 1 {
		t.Errorf("%v, %d pods of the job", err, len(jobs))
	}
	nodes, err := w.client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(nodes.Items) != 2 {
		t.Errorf("%v, %d nodes", err, len(nodes.Items))
	}
}

// TestLeaseOfOwn has a lease so long that nobody who waits for its end passes: a
// leader that was killed leads again at once, a server beside it is ready without
// leading, and takes over from one that stops in order.
func TestLeaseOfOwn(t *testing.T) {
	t.Parallel()
	const lease = 3 * time.Minute // longer than patience
	c := newCrew(t, "--controllers-lease-duration="+lease.String())
	one := c.join(t)
	awaitLeader(t, one)
	if err := one.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := one.Start(); err != nil {
		t.Fatal(err)
	}
	awaitLeader(t, one)

	two := c.join(t) // it is ready
	if leader := awaitLeader(t, one, two); leader != one {
		t.Error("the second server has taken over")
	}
	found, err := inspected(t, two)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range servedAPI() {
		if conditions := fmt.Sprint(found[name].Status.Conditions); !strings.Contains(conditions, "NotLeader") {
			t.Errorf("controller %s in the server that does not lead: %s", name, conditions)
		}
	}
	if err := one.Stop(); err != nil {
		t.Errorf("stopping the leader: %v\n%s", err, one.Log())
	}
	awaitLeader(t, two)
	newHome(t, two.Client(t))
}
