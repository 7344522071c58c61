package object

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/tui/components/doc"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/ask"
	"github.com/kapi-dev/kapi/tui/pages/etcd/stored"
)

// describing takes several requests, one after the other.
const describing = 20 * time.Second

// registrations say where a resource is in the store.
var registrations = data.Of("apiresourceregistrations")

// one is the page of one object.
type one struct {
	env             page.Env
	resource        schema.GroupVersionResource
	namespace, name string
	key             data.Key
	view            view
	frame           data.Frame

	// object is the last that was seen; gone is when it was first seen to be missing,
	// before is the uid of an earlier object of the name.
	object *unstructured.Unstructured
	gone   time.Time
	before types.UID

	yaml, describe doc.Document
	described      ask.Question[string]
	// describedAt is the resourceVersion at which it was last described.
	describedAt string
	panel       *stored.Panel
	// notStored is why there is no key of it.
	notStored string
}

var _ interface {
	page.Page
	page.Filterer
	page.Selecter
	page.Receiver
	ask.Asker
} = &one{}

func newObject(env page.Env, resource schema.GroupVersionResource, namespace, name string, v view) *one {
	return &one{
		env: env, resource: resource, namespace: namespace, name: name, view: v,
		key:   data.Key{Resource: resource, Namespace: namespace, Name: name},
		panel: stored.New(env.Client, ""),
	}
}

// Title implements page.Page.
func (o *one) Title() string { return o.name }

// Needs implements page.Page.
func (o *one) Needs() []data.Key { return []data.Key{o.key, registrations} }

// Update implements page.Page.
func (o *one) Update(frame data.Frame) {
	o.frame = frame
	view := frame.View(o.key)
	found, ok := current(view)
	switch {
	case ok:
		o.gone = time.Time{}
		o.take(found)
	case o.object != nil && o.gone.IsZero() && (view.State == data.Live || view.State == data.Absent):
		o.gone = frame.Now
	}
	o.locate()
	o.panel.Update(frame.About, o.served())
}

// current is the object of a view.
func current(view data.View) (*unstructured.Unstructured, bool) {
	for _, each := range view.Objects {
		if object, ok := each.(*unstructured.Unstructured); ok && object != nil && object.Object != nil {
			return object, true
		}
	}
	return nil, false
}

// take shows another state of the object.
func (o *one) take(object *unstructured.Unstructured) {
	if object == o.object {
		return
	}
	if o.object != nil && o.object.GetUID() != object.GetUID() {
		o.before = o.object.GetUID()
	}
	o.object = object
	render, err := doc.YAML(plain(object.Object))
	if err != nil {
		render = doc.Text("writing YAML: " + err.Error())
	}
	if render != nil {
		o.yaml.Set(render)
	}
}

// plain is an object without its managed fields, which say who wrote each field and
// are longer than the rest. What is left is shared with the object.
func plain(object map[string]any) map[string]any {
	metadata, ok := object["metadata"].(map[string]any)
	if !ok {
		return object
	}
	if _, ok := metadata["managedFields"]; !ok {
		return object
	}
	whole, own := make(map[string]any, len(object)), make(map[string]any, len(metadata))
	for name, value := range object {
		whole[name] = value
	}
	for name, value := range metadata {
		if name != "managedFields" {
			own[name] = value
		}
	}
	whole["metadata"] = own
	return whole
}

// locate finds the object's key in the store, as soon as the frame has it. Servers
// that do not tell are taken to do as all do.
func (o *one) locate() {
	tells := o.frame.About.Type == inspection.Kapi
	all := data.Objects[*v1alpha1.APIResourceRegistration](o.frame, registrations)
	prefix, why := stored.Prefix(o.resource, all, tells)
	o.notStored = why
	switch {
	case prefix != "":
		o.panel.SetKey(stored.Join(prefix, o.namespace, o.name), false)
	case why != "":
		o.panel.SetKey("", false)
	case !tells && o.frame.About.Type != "":
		o.panel.SetKey(stored.Join(stored.Conventional(o.resource.GroupResource()), o.namespace, o.name), true)
	}
}

// served is how the API shows the object.
func (o *one) served() stored.Served {
	if o.object == nil {
		return stored.Served{}
	}
	return stored.Served{APIVersion: o.object.GetAPIVersion(), ResourceVersion: o.object.GetResourceVersion()}
}

// Ask implements ask.Asker: only what is on the screen is asked for.
func (o *one) Ask() page.Effect {
	switch o.view {
	case describeView:
		if o.object == nil || o.described.Waiting() || !o.gone.IsZero() || o.frame.Past {
			return page.Effect{}
		}
		if o.described.Asked() && o.describedAt == o.object.GetResourceVersion() {
			return page.Effect{}
		}
		return o.askDescribe()
	case etcdView:
		return o.panel.Ask()
	default:
		return page.Effect{}
	}
}

func (o *one) askDescribe() page.Effect {
	if o.object != nil {
		o.describedAt = o.object.GetResourceVersion()
	}
	client, resource, namespace, name := o.env.Client, o.resource, o.namespace, o.name
	return o.described.Ask(describing, func(ctx context.Context) (string, error) {
		return client.Describe(ctx, resource, namespace, name)
	})
}

// Receive implements page.Receiver.
func (o *one) Receive(answer any) page.Effect {
	switch {
	case o.described.Receive(answer):
		if text, ok := o.described.Value(); ok {
			o.describe.Set(doc.Text(text))
		}
	case o.panel.Receive(answer):
	default:
		return page.Effect{}
	}
	return o.Ask() // it may have changed while it was asked
}

// Act implements page.Page.
func (o *one) Act(action page.Action) page.Effect {
	switch action.ID {
	case page.Yaml:
		o.view = yamlView
	case page.Describe:
		o.view = describeView
	case page.EtcdKey:
		o.view = etcdView
	case page.NextPart:
		o.view = (o.view + 1) % views
	case page.PreviousPart:
		o.view = (o.view + views - 1) % views
	case page.Refresh:
		return o.refresh()
	default:
		if o.view == etcdView {
			if effect := o.panel.Act(action); !effect.Open.Zero() {
				return effect
			}
		} else {
			o.shown().Act(action)
		}
	}
	return o.Ask()
}

// refresh asks again for what is on the screen; YAML is always as new as it can be.
func (o *one) refresh() page.Effect {
	switch o.view {
	case describeView:
		return o.askDescribe()
	case etcdView:
		return o.panel.Refresh()
	default:
		return page.Effect{}
	}
}

// shown is the document on the screen, of the views that are one.
func (o *one) shown() *doc.Document {
	if o.view == describeView {
		return &o.describe
	}
	return &o.yaml
}

// Offers implements page.Page.
func (o *one) Offers(id page.ActionID) bool {
	switch id {
	case page.Yaml:
		return o.view != yamlView
	case page.Describe:
		return o.view != describeView
	case page.EtcdKey:
		return o.view != etcdView
	case page.NextPart, page.PreviousPart:
		return true
	case page.Refresh:
		return o.view != yamlView
	default:
		if o.view == etcdView {
			return o.panel.Offers(id)
		}
		return o.shown().Offers(id)
	}
}

// Filter implements page.Filterer: it searches in what is shown.
func (o *one) Filter(text string) error {
	if o.view == etcdView {
		return o.panel.Filter(text)
	}
	return o.shown().Filter(text)
}

// Filtered implements page.Filterer.
func (o *one) Filtered() string {
	if o.view == etcdView {
		return o.panel.Filtered()
	}
	return o.shown().Filtered()
}

// Status says in few words where one is, for the head of the screen.
func (o *one) Status() string {
	if o.view == etcdView {
		return o.panel.Status()
	}
	return o.shown().Status()
}

// Selected implements page.Selecter.
func (o *one) Selected() (page.Subject, bool) {
	subject := page.Subject{
		Kind: o.kind(), Name: o.name, Resource: o.resource, Namespace: o.namespace,
		Path:     Path(o.resource, o.namespace, o.name),
		Commands: commands(o.resource, o.namespace, o.name),
	}
	if o.object != nil {
		subject.Object = o.object
	}
	if key := o.panel.Key(); key != "" {
		subject.Commands = append(subject.Commands, stored.Command(key))
	}
	return subject, true
}

func (o *one) kind() string {
	if o.object != nil && o.object.GetKind() != "" {
		return o.object.GetKind()
	}
	return o.resource.Resource
}
