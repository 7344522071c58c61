package controllers_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/kapi-dev/kapi/internal/kapitest"
)

// family makes and counts the ConfigMaps of a namespace of its own.
type family struct {
	client    kubernetes.Interface
	namespace string
	maps      typedcorev1.ConfigMapInterface
}

func newFamily(t testing.TB, server *kapitest.Server) family {
	t.Helper()
	client := server.Client(t)
	namespace := newNamespace(t, client)
	return family{client, namespace, client.CoreV1().ConfigMaps(namespace)}
}

func (f family) create(t testing.TB, name string, owners ...metav1.OwnerReference) *corev1.ConfigMap {
	t.Helper()
	created, err := f.maps.Create(t.Context(), configMap(name, owners...), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return created
}

func (f family) delete(t testing.TB, name string, policy metav1.DeletionPropagation) {
	t.Helper()
	if err := f.maps.Delete(t.Context(), name, metav1.DeleteOptions{PropagationPolicy: &policy}); err != nil {
		t.Fatal(err)
	}
}

// awaitLeft waits until these ConfigMaps are left, and no others.
func (f family) awaitLeft(t testing.TB, names ...string) {
	t.Helper()
	eventually(t, func(ctx context.Context) error {
		list, err := f.maps.List(ctx, metav1.ListOptions{ResourceVersion: "0"})
		if err != nil {
			return err
		}
		var left []string
		for _, item := range list.Items {
			if item.Name != "kube-root-ca.crt" {
				left = append(left, item.Name)
			}
		}
		if !slices.Equal(left, names) {
			return fmt.Errorf("%d are left, want %v: %.200v", len(left), names, left)
		}
		return nil
	})
}

// ownedBy is a reference to o, which is waited for in a foreground deletion.
func ownedBy(o metav1.Object, apiVersion, kind string) metav1.OwnerReference {
	block := true
	return metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: o.GetName(), UID: o.GetUID(), BlockOwnerDeletion: &block}
}

func TestBackgroundDeletion(t *testing.T) {
	t.Parallel()
	f := newFamily(t, kapitest.Shared(t))
	owner := f.create(t, "owner")
	child := f.create(t, "child", ownedBy(owner, "v1", "ConfigMap"))
	f.create(t, "grandchild", ownedBy(child, "v1", "ConfigMap"))
	f.create(t, "stranger")
	f.delete(t, "owner", metav1.DeletePropagationBackground)
	f.awaitLeft(t, "stranger")
}

// TestForegroundDeletion: the owner stays until the dependent that holds it is gone.
func TestForegroundDeletion(t *testing.T) {
	t.Parallel()
	server := kapitest.Shared(t)
	f := newFamily(t, server)
	owner := f.create(t, "owner")
	held := configMap("held", ownedBy(owner, "v1", "ConfigMap"))
	held.Finalizers = []string{hold}
	if _, err := f.maps.Create(t.Context(), held, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	f.create(t, "free", ownedBy(owner, "v1", "ConfigMap"))
	f.delete(t, "owner", metav1.DeletePropagationForeground)
	f.awaitLeft(t, "held", "owner")
	current, err := f.maps.Get(t.Context(), "owner", metav1.GetOptions{})
	if err != nil || current.DeletionTimestamp == nil || !slices.Contains(current.Finalizers, metav1.FinalizerDeleteDependents) {
		t.Errorf("the owner of a dependent that is still there: %v %+v", err, current)
	}
	eventually(t, func(ctx context.Context) error {
		current, err := f.maps.Get(ctx, "held", metav1.GetOptions{})
		if err == nil && current.DeletionTimestamp == nil {
			err = errors.New("the dependent with a finalizer has not been deleted")
		}
		return err
	})
	maps := dynamicClient(t, server).Resource(corev1.SchemeGroupVersion.WithResource("configmaps")).Namespace(f.namespace)
	if err := release(t.Context(), maps, "held"); err != nil {
		t.Fatal(err)
	}
	f.awaitLeft(t)
}

func TestOrphanDeletion(t *testing.T) {
	t.Parallel()
	f := newFamily(t, kapitest.Shared(t))
	owner := f.create(t, "owner")
	f.create(t, "child", ownedBy(owner, "v1", "ConfigMap"))
	f.delete(t, "owner", metav1.DeletePropagationOrphan)
	f.awaitLeft(t, "child")
	if child, err := f.maps.Get(t.Context(), "child", metav1.GetOptions{}); err != nil || len(child.OwnerReferences) > 0 {
		t.Errorf("the orphan: %v %+v", err, child)
	}
}

// TestOwnersOfDefinitionsInstalledLater has owners and dependents of kinds that did
// not exist when the controllers started.
func TestOwnersOfDefinitionsInstalledLater(t *testing.T) {
	t.Parallel()
	server := kapitest.Shared(t)
	f := newFamily(t, server)
	resource := define(t, server, "owners.e2e.test", "Thing")
	things := dynamicClient(t, server).Resource(resource).Namespace(f.namespace)
	for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground} {
		owner, err := things.Create(t.Context(), custom(resource, "Thing", "owner"), metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		reference := ownedBy(owner, "owners.e2e.test/v1", "Thing")
		f.create(t, "of-thing", reference)
		child := custom(resource, "Thing", "child")
		child.SetOwnerReferences([]metav1.OwnerReference{reference})
		if child, err = things.Create(t.Context(), child, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		f.create(t, "of-child", ownedBy(child, "owners.e2e.test/v1", "Thing"))
		begun := time.Now()
		if err := things.Delete(t.Context(), "owner", metav1.DeleteOptions{PropagationPolicy: &policy}); err != nil {
			t.Fatal(err)
		}
		f.awaitLeft(t)
		gone(t, things, "child")
		gone(t, things, "owner")
		t.Logf("%s: all were gone after %s", policy, time.Since(begun).Round(time.Millisecond))
	}
}

// TestOwnersInCircle has two objects that own each other.
func TestOwnersInCircle(t *testing.T) {
	t.Parallel()
	f := newFamily(t, kapitest.Shared(t))
	for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground} {
		one := f.create(t, "one")
		two := f.create(t, "two", ownedBy(one, "v1", "ConfigMap"))
		one.OwnerReferences = []metav1.OwnerReference{ownedBy(two, "v1", "ConfigMap")}
		if _, err := f.maps.Update(t.Context(), one, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		f.delete(t, "one", policy)
		f.awaitLeft(t)
	}
}

func TestManyDependents(t *testing.T) {
	t.Parallel()
	const many = 5000
	f := newFamily(t, kapitest.Shared(t))
	owner := f.create(t, "owner")
	if err := sideBySide(many, func(n int) error {
		_, err := f.maps.Create(t.Context(), configMap(fmt.Sprintf("n%d", n), ownedBy(owner, "v1", "ConfigMap")), metav1.CreateOptions{})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	f.delete(t, "owner", metav1.DeletePropagationBackground)
	f.awaitLeft(t)
	t.Logf("%d dependents were gone after %s", many, time.Since(begun).Round(time.Millisecond))
}

// TestAbsentOwner: what belongs to nobody that exists is collected, and of two
// owners the one that exists keeps its dependent.
func TestAbsentOwner(t *testing.T) {
	t.Parallel()
	f := newFamily(t, kapitest.Shared(t))
	absent := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "never", UID: types.UID("00000000-0000-0000-0000-" + f.namespace)}}
	owner := f.create(t, "owner")
	f.create(t, "kept", ownedBy(absent, "v1", "ConfigMap"), ownedBy(owner, "v1", "ConfigMap"))
	f.create(t, "child", ownedBy(absent, "v1", "ConfigMap"))
	f.awaitLeft(t, "kept", "owner")
	eventually(t, func(ctx context.Context) error {
		kept, err := f.maps.Get(ctx, "kept", metav1.GetOptions{})
		if err == nil && (len(kept.OwnerReferences) != 1 || kept.OwnerReferences[0].UID != owner.UID) {
			err = fmt.Errorf("owners: %+v", kept.OwnerReferences)
		}
		return err
	})
}

// TestOwnerElsewhere: an owner in another namespace is none, and an event says so. A
// cluster-scoped object whose owner would have to be in a namespace is left alone.
func TestOwnerElsewhere(t *testing.T) {
	t.Parallel()
	server := kapitest.Shared(t)
	f, elsewhere := newFamily(t, server), newFamily(t, server)
	owner := elsewhere.create(t, "owner")
	child := f.create(t, "child", ownedBy(owner, "v1", "ConfigMap"))
	awaitInvalidOwner(t, f.client, f.namespace, child.UID)
	f.awaitLeft(t)

	role := object(t, "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {generateName: e2e-}, rules: []}")
	role.SetOwnerReferences([]metav1.OwnerReference{ownedBy(owner, "v1", "ConfigMap")})
	roles := resourceOf(dynamicClient(t, server), role, "")
	created, err := roles.Create(t.Context(), role, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	awaitInvalidOwner(t, f.client, "default", created.GetUID())
	elsewhere.delete(t, "owner", metav1.DeletePropagationBackground)
	elsewhere.awaitLeft(t)
	if _, err := roles.Get(t.Context(), created.GetName(), metav1.GetOptions{}); err != nil {
		t.Errorf("the cluster role whose owner is in a namespace: %v", err)
	}
}

func awaitInvalidOwner(t testing.TB, client kubernetes.Interface, namespace string, dependent types.UID) {
	t.Helper()
	eventually(t, func(ctx context.Context) error {
		events, err := client.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{FieldSelector: "reason=OwnerRefInvalidNamespace"})
		if err != nil {
			return err
		}
		for _, event := range events.Items {
			if event.InvolvedObject.UID == dependent {
				return nil
			}
		}
		return fmt.Errorf("no event OwnerRefInvalidNamespace of %s in namespace %s", dependent, namespace)
	})
}

// TestOwnerOfUnknownKind: what belongs to a kind that is not served is neither
// collected nor in the way of others.
func TestOwnerOfUnknownKind(t *testing.T) {
	t.Parallel()
	f := newFamily(t, kapitest.Shared(t))
	unknown := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "never", UID: types.UID("00000000-0000-0000-0001-" + f.namespace)}}
	f.create(t, "child", ownedBy(unknown, "never.e2e.test/v1", "Never"))
	owner := f.create(t, "owner")
	f.create(t, "other", ownedBy(owner, "v1", "ConfigMap"))
	f.delete(t, "owner", metav1.DeletePropagationBackground)
	f.awaitLeft(t, "child")
	if err := f.maps.Delete(t.Context(), "child", metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		t.Error(err)
	}
}
