package joined

import (
	"fmt"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// kindDefinition is how transitions name a definition's kind.
const kindDefinition = "CustomResourceDefinition"

// Definition is everything about one CustomResourceDefinition.
type Definition struct {
	// Name is the object's, Group, Kind, Plural and the like are of what it defines.
	Name       string   `json:"name"`
	Group      string   `json:"group"`
	Kind       string   `json:"kind"`
	Plural     string   `json:"plural"`
	Scope      string   `json:"scope"`
	ShortNames []string `json:"shortNames,omitempty"`
	Categories []string `json:"categories,omitempty"`
	// CreatedAt is when the object was created, to the second.
	CreatedAt time.Time `json:"createdAt,omitzero"`
	// State sums it up.
	State State `json:"state"`
	// Versions are its versions, in its own order.
	Versions []Version `json:"versions"`
	// StorageVersion is what objects are written as.
	StorageVersion string `json:"storageVersion,omitempty"`
	// ToMigrate are the other versions that objects may still be stored as.
	ToMigrate []string `json:"toMigrate,omitempty"`
	// Conversion is None, or Webhook and where it is.
	Conversion string `json:"conversion,omitempty"`
	// Conditions are those that it has now.
	Conditions []Condition `json:"conditions,omitempty"`
	// Transitions are the changes of them that were seen, newest last.
	Transitions []v1alpha1.ConditionTransitionSpec `json:"transitions,omitempty"`
	// Earlier counts the transitions of objects that had the name before.
	Earlier int `json:"earlier,omitempty"`
	// TimeToEstablished and TimeToServed count from its creation; nil if not known.
	TimeToEstablished *Elapsed `json:"timeToEstablished,omitempty"`
	TimeToServed      *Elapsed `json:"timeToServed,omitempty"`
	// LastChange is the last change of a condition.
	LastChange time.Time `json:"lastChange,omitzero"`
	// Objects and Bytes are what is stored, and its size in bytes; -1 if not known.
	Objects int64 `json:"objects"`
	Bytes   int64 `json:"bytes"`
	// Problems are what is wrong with its names and schemas, one a line.
	Problems []string `json:"problems,omitempty"`
	// Hint is how to mend it, a sentence; empty where nothing is broken.
	Hint string `json:"hint,omitempty"`
	// Deletion is there while it is being deleted.
	Deletion *Deletion `json:"deletion,omitempty"`
	// Missing is what could not be had.
	Missing []Missing `json:"missing,omitempty"`
}

// Version is one version of a definition.
type Version struct {
	// Name is the version's.
	Name string `json:"name"`
	// Served, Storage and Deprecated are what the definition says of it; Schema says
	// whether it has one.
	Served     bool `json:"served"`
	Storage    bool `json:"storage"`
	Deprecated bool `json:"deprecated,omitempty"`
	Schema     bool `json:"schema"`
	// DeprecationWarning is what clients are told of it, if that is not the usual text.
	DeprecationWarning string `json:"deprecationWarning,omitempty"`
	// Stored says that objects may be stored as it.
	Stored bool `json:"stored"`
	// Answered says whether the server answers for it; nil if that is not known.
	Answered *bool `json:"answered,omitempty"`
	// NotAnswered is why it does not.
	NotAnswered string `json:"notAnswered,omitempty"`
	// Discovery is Current, Stale or Missing; empty if that is not known.
	Discovery v1alpha1.DiscoveryFreshness `json:"discovery,omitempty"`
}

// Deletion is a deletion that goes on.
type Deletion struct {
	// At is when it was asked for.
	At time.Time `json:"at"`
	// Finalizers are what it waits for.
	Finalizers []string `json:"finalizers,omitempty"`
	// Message is what the Terminating condition says.
	Message string `json:"message,omitempty"`
}

// DefinitionParts is what a Definition is joined from. Objects that belong to
// others are left out of the join.
type DefinitionParts struct {
	// Definition is the object itself; it must be there.
	Definition    *apiextensionsv1.CustomResourceDefinition
	Transitions   []*v1alpha1.ConditionTransition
	Storages      []*v1alpha1.ResourceStorage
	Registrations []*v1alpha1.APIResourceRegistration
	Discovery     []*v1alpha1.DiscoveryState
	// Missing is what could not be had.
	Missing []Missing
}

// JoinDefinition puts a Definition together, as it is at the time now.
func JoinDefinition(parts DefinitionParts, now time.Time) Definition {
	object := parts.Definition
	d := Definition{
		Name: object.Name, Group: object.Spec.Group, Kind: object.Spec.Names.Kind, Plural: object.Spec.Names.Plural,
		Scope: string(object.Spec.Scope), ShortNames: object.Spec.Names.ShortNames, Categories: object.Spec.Names.Categories,
		CreatedAt: object.CreationTimestamp.Time, Conversion: conversion(object), Conditions: definitionConditions(object),
		ToMigrate: toMigrate(object), Objects: -1, Bytes: -1, Missing: parts.Missing,
	}
	d.State = definitionState(object, d.Conditions, now)
	transitions, earlier := own(parts.Transitions, kindDefinition, object.Name, string(object.UID))
	for _, t := range transitions {
		d.Transitions = append(d.Transitions, t.Spec)
	}
	d.Earlier = earlier
	d.TimeToEstablished, d.TimeToServed = elapsed(object, d.Conditions, transitions)
	d.LastChange = lastChange(d.Conditions, transitions)
	for _, s := range parts.Storages {
		if s.Spec.Group == d.Group && s.Spec.Resource == d.Plural {
			d.Objects, d.Bytes = s.Status.Objects, s.Status.Bytes
		}
	}
	for i := range object.Spec.Versions {
		v := joinVersion(object, &object.Spec.Versions[i], parts)
		if v.Storage {
			d.StorageVersion = v.Name
		}
		d.Versions = append(d.Versions, v)
	}
	d.Problems = problems(object, d.Conditions)
	d.Deletion = deletion(object, d.Conditions)
	d.Hint = d.hint()
	return d
}

func joinVersion(object *apiextensionsv1.CustomResourceDefinition, version *apiextensionsv1.CustomResourceDefinitionVersion, parts DefinitionParts) Version {
	v := Version{
		Name: version.Name, Served: version.Served, Storage: version.Storage, Deprecated: version.Deprecated,
		Schema: version.Schema != nil && version.Schema.OpenAPIV3Schema != nil,
		Stored: slices.Contains(object.Status.StoredVersions, version.Name),
	}
	if version.DeprecationWarning != nil {
		v.DeprecationWarning = *version.DeprecationWarning
	}
	for _, r := range parts.Registrations {
		if r.Spec.Group == object.Spec.Group && r.Spec.Version == v.Name && r.Spec.Resource == object.Spec.Names.Plural {
			v.Answered, v.NotAnswered = &r.Spec.Served, r.Spec.DisabledBy
		}
	}
	if v.Answered == nil && len(parts.Registrations) > 0 {
		v.Answered = new(bool) // the group is registered, and this is not among it
	}
	for _, s := range parts.Discovery {
		if s.Spec.Group == object.Spec.Group && s.Spec.Version == v.Name && v.Served && (v.Answered == nil || *v.Answered) {
			v.Discovery = s.Status.Freshness
		}
	}
	return v
}

// toMigrate are the versions that objects may be stored as and no longer should be.
func toMigrate(object *apiextensionsv1.CustomResourceDefinition) []string {
	var old []string
	for _, stored := range object.Status.StoredVersions {
		if !slices.ContainsFunc(object.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
			return v.Storage && v.Name == stored
		}) {
			old = append(old, stored)
		}
	}
	return old
}

func conversion(object *apiextensionsv1.CustomResourceDefinition) string {
	c := object.Spec.Conversion
	switch {
	case c == nil:
		return string(apiextensionsv1.NoneConverter)
	case c.Webhook == nil || c.Webhook.ClientConfig == nil:
		return string(c.Strategy)
	case c.Webhook.ClientConfig.Service != nil:
		service := c.Webhook.ClientConfig.Service
		port, path := int32(443), ""
		if service.Port != nil {
			port = *service.Port
		}
		if service.Path != nil {
			path = *service.Path
		}
		return fmt.Sprintf("%s %s/%s:%d%s", c.Strategy, service.Namespace, service.Name, port, path)
	case c.Webhook.ClientConfig.URL != nil:
		// What stands before the host or after the path may be secret.
		url, _, _ := strings.Cut(*c.Webhook.ClientConfig.URL, "?")
		if scheme, rest, ok := strings.Cut(url, "://"); ok {
			url = scheme + "://" + rest[strings.LastIndex(rest, "@")+1:]
		}
		return fmt.Sprintf("%s %s", c.Strategy, url)
	default:
		return string(c.Strategy)
	}
}

func deletion(object *apiextensionsv1.CustomResourceDefinition, conditions []Condition) *Deletion {
	if object.DeletionTimestamp == nil {
		return nil
	}
	d := &Deletion{At: object.DeletionTimestamp.Time, Finalizers: object.Finalizers}
	if c := Find(conditions, string(apiextensionsv1.Terminating)); c.Status == "True" {
		d.Message = c.Message
	}
	return d
}

// elapsed returns the times from creation until a definition was established and
// served: those of the first transitions, or a bound by the condition's own time.
func elapsed(object *apiextensionsv1.CustomResourceDefinition, conditions []Condition, transitions []*v1alpha1.ConditionTransition) (established, served *Elapsed) {
	exact := func(d *metav1.Duration, known *Elapsed) *Elapsed {
		if known != nil || d == nil {
			return known
		}
		if d.Duration%time.Second == 0 { // the object's own times again
			return &Elapsed{Duration: metav1.Duration{Duration: d.Duration + time.Second}, AtMost: true}
		}
		return &Elapsed{Duration: *d}
	}
	for _, t := range transitions {
		established = exact(t.Spec.TimeToEstablished, established)
		served = exact(t.Spec.TimeToServed, served)
	}
	c := Find(conditions, string(apiextensionsv1.Established))
	if established == nil && c.Status == "True" && !c.Since.IsZero() && !object.CreationTimestamp.IsZero() {
		bound := max(0, c.Since.Sub(object.CreationTimestamp.Time)) + time.Second
		established = &Elapsed{Duration: metav1.Duration{Duration: bound}, AtMost: true}
	}
	return established, served
}
