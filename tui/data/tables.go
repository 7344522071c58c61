package data

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
)

const (
	jsonType  = "application/json"
	tableType = "application/json;as=Table;g=meta.k8s.io;v=v1, application/json"
	// tableChunk is how many rows are asked for at once.
	tableChunk = 500
	// answerTime is how long one answer of the server may take; a watch has no limit.
	answerTime = 30 * time.Second
)

// tables reads resources of any kind: as the server's own tables, or one object in
// full. Types are not needed for that.
type tables struct{ client rest.Interface }

func newTables(config *rest.Config) (*tables, error) {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"}) // a Status is what errors come as
	own := rest.CopyConfig(config)
	own.ContentConfig = rest.ContentConfig{
		GroupVersion: &schema.GroupVersion{}, NegotiatedSerializer: serializer.NewCodecFactory(scheme).WithoutConversion(),
		ContentType: jsonType,
	}
	own.QPS, own.RateLimiter = -1, nil
	own.WarningHandler = rest.NoWarnings{} // whoever looks at deprecated APIs does not use them
	client, err := rest.UnversionedRESTClientFor(own)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return &tables{client}, nil
}

// pathOf is the path of a resource.
func pathOf(resource schema.GroupVersionResource, namespace string, rest ...string) []string {
	path := []string{"/apis", resource.Group, resource.Version}
	if resource.Group == "" {
		path = []string{"/api", resource.Version}
	}
	if namespace != "" {
		path = append(path, "namespaces", namespace)
	}
	return append(append(path, resource.Resource), rest...)
}

// table is an answer as a table; of a server that makes none it is a list.
type table struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        metav1.ListMeta                `json:"metadata"`
	Columns         []metav1.TableColumnDefinition `json:"columnDefinitions"`
	Rows            []struct {
		Cells  []any                        `json:"cells"`
		Object metav1.PartialObjectMetadata `json:"object"`
	} `json:"rows"`
	Items []metav1.PartialObjectMetadata `json:"items"`
}

// list reads all rows, in chunks. Where it takes so long that the server no longer
// has the state that it began with, it goes on with what is there now.
func (t *tables) list(ctx context.Context, key Key) (Listed, error) {
	query := url.Values{"limit": {strconv.Itoa(tableChunk)}, "includeObject": {"Metadata"}}
	var listed Listed
	for {
		var page table
		err := t.read(ctx, pathOf(key.Resource, key.Namespace), tableType, query, &page)
		if now := offered(err); now != "" && now != query.Get("continue") {
			query.Set("continue", now)
			continue
		}
		if err != nil {
			return listed, err
		}
		if listed.ResourceVersion == "" { // the first page is the oldest: a watch from there misses nothing
			listed.ResourceVersion, listed.Columns = page.Metadata.ResourceVersion, page.columns()
		}
		listed.Objects = append(listed.Objects, page.rows()...)
		if page.Metadata.Continue == "" {
			return listed, nil
		}
		query.Set("continue", page.Metadata.Continue)
	}
}

// get reads one object in full.
func (t *tables) get(ctx context.Context, key Key) (Listed, error) {
	object := &unstructured.Unstructured{}
	if err := t.read(ctx, pathOf(key.Resource, key.Namespace, key.Name), jsonType, nil, object); err != nil {
		return Listed{}, err
	}
	return Listed{Objects: []kinds.Object{object}, ResourceVersion: object.GetResourceVersion()}, nil
}

// ping reads the server's version, and nothing of what it says.
func (t *tables) ping(ctx context.Context) error {
	return t.client.Get().AbsPath("/version").MaxRetries(0).Do(ctx).Error()
}

// read decodes an answer while it comes.
func (t *tables) read(ctx context.Context, path []string, accept string, query url.Values, into any) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	body, err := t.stream(ctx, path, accept, query)
	if err != nil {
		return err
	}
	defer body.Close()
	if err := json.NewDecoder(body).Decode(into); err != nil {
		return fmt.Errorf("reading the server's answer: %w", err)
	}
	return nil
}

func (t *tables) stream(ctx context.Context, path []string, accept string, query url.Values) (io.ReadCloser, error) {
	request := t.client.Get().AbsPath(path...).SetHeader("Accept", accept).MaxRetries(0)
	for name, values := range query {
		for _, value := range values {
			request.Param(name, value)
		}
	}
	return request.Stream(ctx)
}

// watch reports changes of rows, or of one object, after a resource version.
func (t *tables) watch(ctx context.Context, key Key, resourceVersion string) (watch.Interface, error) {
	query := url.Values{"watch": {"1"}, "allowWatchBookmarks": {"true"}}
	if resourceVersion != "" {
		query.Set("resourceVersion", resourceVersion)
	}
	accept, decode := tableType, rowEvents()
	if key.Name != "" {
		accept, decode = jsonType, objectEvent
		query.Set("fieldSelector", "metadata.name="+key.Name)
	} else {
		query.Set("includeObject", "Metadata")
	}
	ctx, cancel := context.WithCancel(ctx)
	body, err := t.stream(ctx, pathOf(key.Resource, key.Namespace), accept, query)
	if err != nil {
		cancel()
		return nil, err
	}
	return newStream(ctx, cancel, body, decode), nil
}

// columns are those of the table; of a list its names and when they were made.
func (t *table) columns() []Column {
	if t.Kind != "Table" {
		return []Column{
			{Name: "Name", Type: "string", Description: "Name of the object"},
			{Name: "Created", Type: "string", Description: "When it was created"},
		}
	}
	columns := make([]Column, 0, len(t.Columns))
	for _, c := range t.Columns {
		columns = append(columns, Column{Name: c.Name, Type: c.Type, Description: c.Description, Wide: c.Priority > 0})
	}
	return columns
}

func (t *table) rows() []kinds.Object {
	rows := make([]kinds.Object, 0, len(t.Rows)+len(t.Items))
	for i := range t.Rows {
		rows = append(rows, &Row{PartialObjectMetadata: t.Rows[i].Object, Cells: t.Rows[i].Cells})
	}
	for i := range t.Items {
		rows = append(rows, plainRow(t.Items[i]))
	}
	return rows
}

func plainRow(object metav1.PartialObjectMetadata) *Row {
	return &Row{PartialObjectMetadata: object, Cells: []any{object.Name, object.CreationTimestamp.UTC().Format(time.RFC3339)}}
}

// rowEvents returns a function that makes events of rows. The columns come with the
// first table of a watch; where they are others later, all rows must be read again.
func rowEvents() func(watch.EventType, json.RawMessage) ([]watch.Event, error) {
	var columns []metav1.TableColumnDefinition
	return func(kind watch.EventType, raw json.RawMessage) ([]watch.Event, error) {
		var page table
		if err := json.Unmarshal(raw, &page); err != nil {
			return nil, err
		}
		if page.Kind != "Table" {
			var object metav1.PartialObjectMetadata
			if err := json.Unmarshal(raw, &object); err != nil {
				return nil, err
			}
			return []watch.Event{{Type: kind, Object: plainRow(object)}}, nil
		}
		if len(page.Columns) > 0 {
			if columns != nil && !slices.Equal(columns, page.Columns) {
				return []watch.Event{expired("the columns have changed")}, nil
			}
			columns = page.Columns
		}
		rows := page.rows()
		if len(rows) == 0 { // a bookmark, as some servers send it
			rows = []kinds.Object{&Row{PartialObjectMetadata: metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{ResourceVersion: page.Metadata.ResourceVersion}}}}
			kind = watch.Bookmark
		}
		events := make([]watch.Event, 0, len(rows))
		for _, row := range rows {
			events = append(events, watch.Event{Type: kind, Object: row})
		}
		return events, nil
	}
}

func objectEvent(kind watch.EventType, raw json.RawMessage) ([]watch.Event, error) {
	object := &unstructured.Unstructured{}
	if err := json.Unmarshal(raw, object); err != nil {
		return nil, err
	}
	return []watch.Event{{Type: kind, Object: object}}, nil
}

func expired(why string) watch.Event {
	status := apierrors.NewResourceExpired(why).ErrStatus
	return watch.Event{Type: watch.Error, Object: &status}
}

// offered is the continue token that comes with the error of an expired one.
func offered(err error) string {
	if api := apierrors.APIStatus(nil); apierrors.IsResourceExpired(err) && errors.As(err, &api) {
		return api.Status().Continue
	}
	return ""
}
