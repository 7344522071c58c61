package fakevolumes

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/component-helpers/storage/volume"
)

// run starts the volumes' controller on objects in fake time, and returns a client.
func run(t *testing.T, objects ...runtime.Object) *fake.Clientset {
	t.Helper()
	client := fake.NewClientset(objects...)
	runWith(t, client)
	return client
}

func runWith(t *testing.T, client *fake.Clientset) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	factory := informers.NewSharedInformerFactory(client, 0)
	v, err := New(ctx, Config{Client: client, Admin: client, Informers: factory})
	if err != nil {
		t.Fatal(err)
	}
	factory.Start(ctx.Done())
	var running sync.WaitGroup
	running.Go(func() { v.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
		factory.Shutdown()
	})
	settled()
}

// settled returns when there is nothing left to do.
func settled() {
	time.Sleep(time.Minute)
	synctest.Wait()
}

func classOf(name string, changes ...func(*storagev1.StorageClass)) *storagev1.StorageClass {
	c := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: Provisioner}
	for _, change := range changes {
		change(c)
	}
	return c
}

func late(c *storagev1.StorageClass) {
	mode := storagev1.VolumeBindingWaitForFirstConsumer
	c.VolumeBindingMode = &mode
}

func retained(c *storagev1.StorageClass) {
	policy := corev1.PersistentVolumeReclaimRetain
	c.ReclaimPolicy = &policy
}

func room(size string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}
}

// claimOf is a claim that the binder has asked the provisioner for.
func claimOf(class string, changes ...func(*corev1.PersistentVolumeClaim)) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "data", UID: "uid-1", Annotations: map[string]string{volume.AnnStorageProvisioner: Provisioner}},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: &class, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: room("1Gi")},
		},
	}
	for _, change := range changes {
		change(c)
	}
	return c
}

func annotated(key, value string) func(*corev1.PersistentVolumeClaim) {
	return func(c *corev1.PersistentVolumeClaim) { c.Annotations[key] = value }
}

func from(group, kind string) func(*corev1.PersistentVolumeClaim) {
	return func(c *corev1.PersistentVolumeClaim) {
		c.Spec.DataSourceRef = &corev1.TypedObjectReference{APIGroup: &group, Kind: kind, Name: "x"}
	}
}

func volumes(t *testing.T, client *fake.Clientset) []corev1.PersistentVolume {
	t.Helper()
	list, err := client.CoreV1().PersistentVolumes().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

func TestClaimGetsVolume(t *testing.T) {
	for name, test := range map[string]struct {
		class *storagev1.StorageClass
		claim *corev1.PersistentVolumeClaim
		want  int
	}{
		"asked for":         {classOf("c"), claimOf("c"), 1},
		"asked in beta":     {classOf("c"), claimOf("c", annotated(volume.AnnStorageProvisioner, ""), annotated(volume.AnnBetaStorageProvisioner, Provisioner)), 1},
		"not asked for yet": {classOf("c"), claimOf("c", annotated(volume.AnnStorageProvisioner, "")), 0},
		"of somebody else":  {classOf("c"), claimOf("c", annotated(volume.AnnStorageProvisioner, "ebs.csi.aws.com")), 0},
		"without its class": {classOf("d"), claimOf("c"), 0},
		"waits for a pod":   {classOf("c", late), claimOf("c"), 0},
		"has its pod":       {classOf("c", late), claimOf("c", annotated(volume.AnnSelectedNode, "n")), 1},
		"with a selector":   {classOf("c"), claimOf("c", func(c *corev1.PersistentVolumeClaim) { c.Spec.Selector = &metav1.LabelSelector{} }), 0},
		"of a populator":    {classOf("c"), claimOf("c", from("example.test", "Image")), 0},
		"of a snapshot":     {classOf("c"), claimOf("c", from("snapshot.storage.k8s.io", "VolumeSnapshot")), 1},
		"of a claim":        {classOf("c"), claimOf("c", from("", "PersistentVolumeClaim")), 1},
		"bound":             {classOf("c"), claimOf("c", func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeName = "v" }), 0},
		"being deleted": {classOf("c"), claimOf("c", func(c *corev1.PersistentVolumeClaim) {
			c.DeletionTimestamp, c.Finalizers = &metav1.Time{Time: time.Now()}, []string{"kubernetes.io/pvc-protection"}
		}), 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got := volumes(t, run(t, test.class, test.claim))
				if len(got) != test.want {
					t.Fatalf("%d volumes, want %d", len(got), test.want)
				}
				if test.want == 0 {
					return
				}
				one := got[0]
				if one.Name != "pvc-uid-1" || one.Spec.ClaimRef.UID != "uid-1" || one.Spec.ClaimRef.Namespace != "ns" || one.Spec.ClaimRef.Kind != "PersistentVolumeClaim" {
					t.Errorf("%s of %+v", one.Name, one.Spec.ClaimRef)
				}
				if !ours(&one) || one.Spec.StorageClassName != "c" || one.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete ||
					fmt.Sprint(one.Spec.AccessModes) != "[ReadWriteOnce]" || one.Spec.Capacity.Storage().String() != "1Gi" || one.Spec.CSI.Driver != Provisioner {
					t.Errorf("%+v", one.Spec)
				}
			})
		})
	}
}

func TestVolumeAsItsClass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		class := classOf("c", retained, func(c *storagev1.StorageClass) { c.MountOptions = []string{"ro"} })
		block := corev1.PersistentVolumeBlock
		one := volumes(t, run(t, class, claimOf("c", func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeMode = &block })))[0]
		if one.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimRetain || fmt.Sprint(one.Spec.MountOptions) != "[ro]" || *one.Spec.VolumeMode != block {
			t.Errorf("%+v", one.Spec)
		}
	})
}

// What a claim waits for may come after it: its class, or the end of another volume of
// its name.
func TestClaimThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := run(t, claimOf("late"), claimOf(Class, func(c *corev1.PersistentVolumeClaim) { c.Name, c.UID = "own", "uid-2" }))
		if got := volumes(t, client); len(got) != 1 || got[0].Name != "pvc-uid-2" {
			t.Fatalf("with class %s alone: %v", Class, got)
		}
		if _, err := client.StorageV1().StorageClasses().Create(t.Context(), classOf("late"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		settled()
		if got := volumes(t, client); len(got) != 2 {
			t.Errorf("with both classes: %v", got)
		}
		if err := client.CoreV1().PersistentVolumes().Delete(t.Context(), "pvc-uid-1", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		settled()
		if got := volumes(t, client); len(got) != 2 {
			t.Errorf("after a volume was deleted that was not bound yet: %v", got)
		}
	})
}

func TestAttributes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gold := "gold"
		asking := claimOf("c", func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeAttributesClassName = &gold })
		if got := volumes(t, run(t, classOf("c"), asking)); len(got) != 1 || value(got[0].Spec.VolumeAttributesClassName) != gold {
			t.Errorf("a new volume: %+v", got)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		silver, gold := "silver", "gold"
		client := run(t, boundVolume(corev1.VolumeBound, func(v *corev1.PersistentVolume) { v.Spec.VolumeAttributesClassName = &silver }),
			claimOf("c", func(c *corev1.PersistentVolumeClaim) {
				c.Spec.VolumeName, c.Spec.VolumeAttributesClassName = "v", &gold
				c.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound, Capacity: room("1Gi"), CurrentVolumeAttributesClassName: &silver}
			}))
		claim, err := client.CoreV1().PersistentVolumeClaims("ns").Get(t.Context(), "data", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := value(claim.Status.CurrentVolumeAttributesClassName); got != gold || claim.Status.Capacity.Storage().String() != "1Gi" {
			t.Errorf("the claim has %q and %v", got, claim.Status.Capacity)
		}
		if got := volumes(t, client)[0].Spec; value(got.VolumeAttributesClassName) != gold || got.Capacity.Storage().String() != "1Gi" {
			t.Errorf("the volume is %+v", got)
		}
	})
}

func boundVolume(phase corev1.PersistentVolumePhase, changes ...func(*corev1.PersistentVolume)) *corev1.PersistentVolume {
	v := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "v", UID: "uid-v", Annotations: map[string]string{volume.AnnDynamicallyProvisioned: Provisioner}},
		Spec:       corev1.PersistentVolumeSpec{Capacity: room("1Gi"), PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete},
		Status:     corev1.PersistentVolumeStatus{Phase: phase},
	}
	for _, change := range changes {
		change(v)
	}
	return v
}

func strange(v *corev1.PersistentVolume) { v.Annotations = nil }

func TestVolumeGoes(t *testing.T) {
	for name, test := range map[string]struct {
		volume *corev1.PersistentVolume
		left   int
	}{
		"released": {boundVolume(corev1.VolumeReleased), 0},
		"bound":    {boundVolume(corev1.VolumeBound), 1},
		"strange":  {boundVolume(corev1.VolumeReleased, strange), 1},
		"retained": {boundVolume(corev1.VolumeReleased, func(v *corev1.PersistentVolume) {
			v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
		}), 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if got := volumes(t, run(t, test.volume)); len(got) != test.left {
					t.Errorf("%d volumes are left, want %d", len(got), test.left)
				}
			})
		})
	}
}

func TestClaimGrows(t *testing.T) {
	bound := func(has, want string) *corev1.PersistentVolumeClaim {
		return claimOf("c", func(c *corev1.PersistentVolumeClaim) {
			c.Spec.VolumeName, c.Spec.Resources.Requests = "v", room(want)
			c.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound, Capacity: room(has)}
		})
	}
	for name, test := range map[string]struct {
		claim         *corev1.PersistentVolumeClaim
		volume        *corev1.PersistentVolume
		claimHas, has string
	}{
		"more":               {bound("1Gi", "3Gi"), boundVolume(corev1.VolumeBound), "3Gi", "3Gi"},
		"enough":             {bound("1Gi", "1Gi"), boundVolume(corev1.VolumeBound), "1Gi", "1Gi"},
		"less":               {bound("1Gi", "500Mi"), boundVolume(corev1.VolumeBound), "1Gi", "1Gi"},
		"cut off in between": {bound("1Gi", "3Gi"), boundVolume(corev1.VolumeBound, func(v *corev1.PersistentVolume) { v.Spec.Capacity = room("3Gi") }), "3Gi", "3Gi"},
		"strange":            {bound("1Gi", "3Gi"), boundVolume(corev1.VolumeBound, strange), "1Gi", "1Gi"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := run(t, test.claim, test.volume)
				claim, err := client.CoreV1().PersistentVolumeClaims("ns").Get(t.Context(), "data", metav1.GetOptions{})
				if err != nil {
					t.Fatal(err)
				}
				if got, has := claim.Status.Capacity.Storage().String(), volumes(t, client)[0].Spec.Capacity.Storage().String(); got != test.claimHas || has != test.has {
					t.Errorf("the claim has %s, want %s; the volume %s, want %s", got, test.claimHas, has, test.has)
				}
			})
		})
	}
}

func TestClass(t *testing.T) {
	standard := func(c *storagev1.StorageClass) { c.Annotations = map[string]string{defaultClass: "true"} }
	for name, test := range map[string]struct {
		there     []runtime.Object
		isDefault bool
	}{
		"alone":          {nil, true},
		"beside another": {[]runtime.Object{classOf("other")}, true},
		"beside default": {[]runtime.Object{classOf("other", standard)}, false},
		"beside a beta default": {[]runtime.Object{classOf("other", func(c *storagev1.StorageClass) {
			c.Annotations = map[string]string{betaDefaultClass: "true"}
		})}, false},
		"there, and left": {[]runtime.Object{classOf(Class)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := run(t, test.there...)
				got, err := client.StorageV1().StorageClasses().Get(t.Context(), Class, metav1.GetOptions{})
				if err != nil {
					t.Fatal(err)
				}
				if isDefault(got) != test.isDefault || got.Provisioner != Provisioner {
					t.Errorf("%+v", got)
				}
			})
		})
	}
}

// The class gives way to another default, and does not come back when it is deleted.
func TestClassGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := run(t)
		classes := client.StorageV1().StorageClasses()
		isNow := func(want bool) {
			t.Helper()
			settled()
			if got, err := classes.Get(t.Context(), Class, metav1.GetOptions{}); err != nil || isDefault(got) != want {
				t.Errorf("%v, %v, want a default: %v", got, err, want)
			}
		}
		isNow(true)
		other, err := classes.Create(t.Context(), classOf("other"), metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		isNow(true)
		other.Annotations = map[string]string{defaultClass: "true"}
		if _, err := classes.Update(t.Context(), other, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		isNow(false)
		if err := classes.Delete(t.Context(), Class, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := classes.Create(t.Context(), classOf("third"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		settled()
		if _, err := classes.Get(t.Context(), Class, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("it has come back: %v", err)
		}
	})
}

// What fails is tried again. It is a conflict, which nobody is told of: a report would
// wait from the fake time until the real one.
func TestRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset(classOf("c"), claimOf("c"))
		failures := map[string]int{"persistentvolumes": 2, "storageclasses": 2}
		var lock sync.Mutex
		client.PrependReactor("create", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
			lock.Lock()
			defer lock.Unlock()
			if resource := action.GetResource(); failures[resource.Resource] > 0 {
				failures[resource.Resource]--
				return true, nil, apierrors.NewConflict(resource.GroupResource(), "x", errors.New("somebody was first"))
			}
			return false, nil, nil
		})
		runWith(t, client)
		if got := volumes(t, client); len(got) != 1 {
			t.Errorf("%d volumes", len(got))
		}
		if _, err := client.StorageV1().StorageClasses().Get(t.Context(), Class, metav1.GetOptions{}); err != nil {
			t.Error(err)
		}
	})
}

func TestRemoveClass(t *testing.T) {
	ours := class(true)
	client := fake.NewClientset(ours, classOf("other"))
	if err := RemoveClass(t.Context(), client); err != nil {
		t.Fatal(err)
	}
	left, err := client.StorageV1().StorageClasses().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(left.Items) != 1 || left.Items[0].Name != "other" {
		t.Errorf("left are %v, %v", left.Items, err)
	}
	client = fake.NewClientset(classOf(Class))
	if err := RemoveClass(t.Context(), client); err != nil {
		t.Fatal(err)
	}
	if _, err := client.StorageV1().StorageClasses().Get(t.Context(), Class, metav1.GetOptions{}); err != nil {
		t.Errorf("somebody else's: %v", err)
	}
}

func TestRequired(t *testing.T) {
	if _, err := New(t.Context(), Config{}); err == nil {
		t.Error("made of nothing")
	}
}
