package rest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic/dynamicinformer"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

func TestGetAndList(t *testing.T) {
	f := newFixture(t)
	f.set("etcd", v1alpha1.HealthFailed)
	f.set("ping", v1alpha1.HealthOK)
	one, err := f.healthChecks().Get(t.Context(), "etcd", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if one.GetKind() != "HealthCheck" || one.GetAPIVersion() != "inspect.kapi.dev/v1alpha1" || one.GetResourceVersion() == "" {
		t.Errorf("etcd is %v", one)
	}
	if _, err := f.healthChecks().Get(t.Context(), "none", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("error is %v, want not found", err)
	}
	for _, test := range []struct {
		options metav1.ListOptions
		want    string
	}{
		{metav1.ListOptions{}, "etcd ping"},
		{metav1.ListOptions{FieldSelector: "status.state=OK"}, "ping"},
		{metav1.ListOptions{FieldSelector: "status.state!=OK"}, "etcd"},
		{metav1.ListOptions{FieldSelector: "metadata.name=etcd"}, "etcd"},
		{metav1.ListOptions{LabelSelector: "state in (OK)"}, "ping"},
		{metav1.ListOptions{LabelSelector: "state=OK", FieldSelector: "metadata.name=etcd"}, ""},
	} {
		list, err := f.healthChecks().List(t.Context(), test.options)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, item := range list.Items {
			names = append(names, item.GetName())
		}
		if got := strings.Join(names, " "); got != test.want {
			t.Errorf("%+v lists %q, want %q", test.options, got, test.want)
		}
	}
	_, err = f.healthChecks().List(t.Context(), metav1.ListOptions{FieldSelector: "status.lastError=x"})
	if !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), "status.lastError") {
		t.Errorf("selecting by what can't be selected by: %v", err)
	}
}

// Nothing can be written.
func TestReadOnly(t *testing.T) {
	f := newFixture(t)
	f.set("ping", v1alpha1.HealthOK)
	object, err := f.healthChecks().Get(t.Context(), "ping", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.healthChecks().Update(t.Context(), object, metav1.UpdateOptions{}); !apierrors.IsMethodNotSupported(err) {
		t.Errorf("update: %v", err)
	}
	if _, err := f.healthChecks().Create(t.Context(), object, metav1.CreateOptions{}); !apierrors.IsMethodNotSupported(err) {
		t.Errorf("create: %v", err)
	}
	if err := f.healthChecks().Delete(t.Context(), "ping", metav1.DeleteOptions{}); !apierrors.IsMethodNotSupported(err) {
		t.Errorf("delete: %v", err)
	}
}

func TestTable(t *testing.T) {
	f := newFixture(t)
	f.set("ping", v1alpha1.HealthOK)
	for _, path := range []string{"healthchecks", "healthchecks/ping"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.path(path), nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		var table metav1.Table
		err = json.NewDecoder(response.Body).Decode(&table)
		response.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		narrow := ""
		for _, column := range table.ColumnDefinitions {
			if column.Priority == 0 {
				narrow += column.Name + " "
			}
		}
		if narrow != "Name State Endpoints Since Last-Error " || len(table.Rows) != 1 || table.ResourceVersion == "" {
			t.Errorf("%s: columns %q, %d rows, revision %q", path, narrow, len(table.Rows), table.ResourceVersion)
			continue
		}
		if cells := fmt.Sprint(table.Rows[0].Cells[:3]...); cells != "pingOKlivez,readyz" {
			t.Errorf("%s: cells %v", path, table.Rows[0].Cells)
		}
	}
}

// event waits for the next event that is not a bookmark.
func event(t *testing.T, w watch.Interface) watch.Event {
	t.Helper()
	for {
		select {
		case e, ok := <-w.ResultChan():
			if !ok {
				t.Fatal("the watch has ended")
			}
			if e.Type != watch.Bookmark {
				return e
			}
		case <-t.Context().Done():
			t.Fatal("no event came")
		}
	}
}

func name(e watch.Event) string {
	if object, ok := e.Object.(*unstructured.Unstructured); ok {
		return object.GetName()
	}
	return fmt.Sprintf("%T", e.Object)
}

func TestWatchFromAList(t *testing.T) {
	f := newFixture(t)
	f.set("ping", v1alpha1.HealthOK)
	list, err := f.healthChecks().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	f.set("etcd", v1alpha1.HealthOK)
	w, err := f.healthChecks().Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	if e := event(t, w); e.Type != watch.Added || name(e) != "etcd" {
		t.Errorf("event is %s %s", e.Type, name(e))
	}
	f.set("ping", v1alpha1.HealthFailed)
	if e := event(t, w); e.Type != watch.Modified || name(e) != "ping" {
		t.Errorf("event is %s %s", e.Type, name(e))
	}
	f.set("ping", "")
	if e := event(t, w); e.Type != watch.Deleted || name(e) != "ping" {
		t.Errorf("event is %s %s", e.Type, name(e))
	}
}

func TestWatchTooOldIsGone(t *testing.T) {
	f := newFixture(t)
	list, err := f.healthChecks().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range testHistory + 1 {
		f.set(fmt.Sprint("check-", i), v1alpha1.HealthOK)
		if _, err := f.healthChecks().List(t.Context(), metav1.ListOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, revision := range []string{list.GetResourceVersion(), "1", "99999999999999999"} {
		w, err := f.healthChecks().Watch(t.Context(), metav1.ListOptions{ResourceVersion: revision})
		if err == nil {
			w.Stop()
		}
		if !apierrors.IsResourceExpired(err) {
			t.Errorf("watching from %s: error is %v, want 410 Gone", revision, err)
		}
	}
	_, err = f.healthChecks().Watch(t.Context(), metav1.ListOptions{ResourceVersion: "many"})
	if !apierrors.IsBadRequest(err) {
		t.Errorf("watching from no number: %v", err)
	}
}

// A watch from nowhere in particular begins with all objects. The server takes it
// for one that wants initial events, but no bookmark was asked for: one that came
// all the same would end the handler in a panic.
func TestWatchFromNow(t *testing.T) {
	f := newFixture(t)
	f.set("ping", v1alpha1.HealthOK)
	for _, query := range []string{"?watch=1", "?watch=1&resourceVersion=0", "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"} {
		response, err := http.Get(f.path("healthchecks") + query)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(response.Body)
		for _, want := range []string{`"ping"`, `"` + strconv.Itoa(len(query)) + `"`} {
			line, err := lines.ReadString('\n')
			if err != nil || !strings.Contains(line, `"ADDED"`) || !strings.Contains(line, want) {
				t.Errorf("%s: %v, %s; want an added object %s", query, err, line, want)
			}
			f.set(strconv.Itoa(len(query)), v1alpha1.HealthOK)
		}
		response.Body.Close()
		f.set(strconv.Itoa(len(query)), "")
	}
}

// A list is as strict with revisions as that of any resource.
func TestListRevisions(t *testing.T) {
	f := newFixture(t)
	for query, want := range map[string]int{
		"resourceVersion=abc": http.StatusBadRequest, "resourceVersion=-1": http.StatusBadRequest,
		"resourceVersion=9999999999999999999":          http.StatusGatewayTimeout,
		"resourceVersion=5&resourceVersionMatch=Exact": http.StatusGone,
		"limit=1&continue=zzz":                         http.StatusBadRequest,
		"resourceVersion=0":                            http.StatusOK,
		"resourceVersion=5":                            http.StatusOK,
		"limit=1":                                      http.StatusOK,
	} {
		response, err := http.Get(f.path("healthchecks") + "?" + query)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("%s: answered %d, want %d", query, response.StatusCode, want)
		}
	}
}

// Initial events end with a bookmark that says so, as informers want it.
func TestInitialEvents(t *testing.T) {
	f := newFixture(t)
	f.set("ping", v1alpha1.HealthOK)
	yes := true
	w, err := f.healthChecks().Watch(t.Context(), metav1.ListOptions{
		SendInitialEvents: &yes, AllowWatchBookmarks: true, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	if e := <-w.ResultChan(); e.Type != watch.Added || name(e) != "ping" {
		t.Fatalf("the first event is %s %s", e.Type, name(e))
	}
	e := <-w.ResultChan()
	object, ok := e.Object.(*unstructured.Unstructured)
	if e.Type != watch.Bookmark || !ok || object.GetAnnotations()[metav1.InitialEventsAnnotationKey] != "true" || object.GetResourceVersion() == "" {
		t.Errorf("the second event is %s %v", e.Type, e.Object)
	}
}

func TestInformer(t *testing.T) {
	f := newFixture(t)
	f.set("ping", v1alpha1.HealthOK)
	factory := dynamicinformer.NewDynamicSharedInformerFactory(f.client, 0)
	informer := factory.ForResource(v1alpha1.SchemeGroupVersion.WithResource("healthchecks"))
	store := informer.Informer().GetStore()
	factory.Start(t.Context().Done())
	factory.WaitForCacheSync(t.Context().Done())
	if keys := store.ListKeys(); len(keys) != 1 {
		t.Fatalf("the informer holds %v", keys)
	}
	f.set("ping", "")
	f.set("etcd", v1alpha1.HealthOK)
	for {
		if keys := store.ListKeys(); len(keys) == 1 && keys[0] == "etcd" {
			return
		}
		select {
		case <-time.After(time.Millisecond):
		case <-t.Context().Done():
			t.Fatal("the informer has not followed")
		}
	}
}

func TestHidden(t *testing.T) {
	f := newFixture(t)
	f.log.Append(trace{"1", "/hidden"})
	f.log.Append(trace{"2", "/shown"})
	for selector, want := range map[string]int{"": 1, "hidden": 1, "hidden notin (false)": 2, "!hidden": 1} {
		list, err := f.traces().List(t.Context(), metav1.ListOptions{LabelSelector: selector})
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Items) != want {
			t.Errorf("selector %q lists %d, want %d", selector, len(list.Items), want)
		}
	}
}

// A client that never reads its watch is dropped, and its connection with it.
func TestReaderThatNeverReads(t *testing.T) {
	f := newFixture(t)
	response, err := http.Get(f.path("requesttraces") + "?watch=1")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	big := strings.Repeat("x", 16<<10)
	w, err := f.traces().Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	// More than the buffers of both ends of a connection, and the watcher's.
	for i := range 1500 {
		f.log.Append(trace{fmt.Sprint(i), "/" + big})
		if e := event(t, w); e.Type != watch.Added { // who reads goes on
			t.Fatalf("event is %s %v", e.Type, e.Object)
		}
	}
	// The server has given up: what it had written comes to an end.
	lines := 0
	reader := bufio.NewReaderSize(response.Body, 64<<10)
	for {
		if _, err = reader.ReadString('\n'); err != nil {
			break
		}
		lines++
	}
	if lines >= 1500 {
		t.Errorf("all %d events were kept for a client that did not read", lines)
	}
	t.Logf("the connection ended after %d events: %v", lines, err)
}
