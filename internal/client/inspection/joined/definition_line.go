package joined

import (
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// DefinitionLine is a definition on one line of a list. It is small, and holds on to
// nothing of the object, so that a list of ten thousand needs little memory.
type DefinitionLine struct {
	// Name is the object's.
	Name string `json:"name"`
	// Kind and Scope are of what it defines.
	Kind  string `json:"kind"`
	Scope string `json:"scope"`
	// CreatedAt is when it was created, to the second.
	CreatedAt time.Time `json:"createdAt,omitzero"`
	// State sums it up.
	State State `json:"state"`
	// Conditions are those that it has now, without their messages.
	Conditions []Condition `json:"conditions,omitempty"`
	// Served are the versions that clients can use, StorageVersion is what objects are
	// written as, and ToMigrate are others that they may still be stored as.
	Served         []string `json:"served,omitempty"`
	StorageVersion string   `json:"storageVersion,omitempty"`
	ToMigrate      []string `json:"toMigrate,omitempty"`
	// TimeToEstablished and TimeToServed count from its creation; nil if not known.
	TimeToEstablished *Elapsed `json:"timeToEstablished,omitempty"`
	TimeToServed      *Elapsed `json:"timeToServed,omitempty"`
	// LastChange is the last change of a condition.
	LastChange time.Time `json:"lastChange,omitzero"`
	// Objects and Bytes are what is stored, and its size in bytes; -1 if not known.
	Objects int64 `json:"objects"`
	Bytes   int64 `json:"bytes"`
}

// longestWhy is how much of a reason a line keeps, in bytes.
const longestWhy = 200

// DefinitionIndex is what lines are joined with: small sums of large lists.
type DefinitionIndex struct {
	stored  map[schema.GroupResource]stored
	history map[string][]*v1alpha1.ConditionTransition
}

type stored struct{ objects, bytes int64 }

// NewDefinitionIndex makes an index of what is stored and of the history.
func NewDefinitionIndex(storages []*v1alpha1.ResourceStorage, transitions []*v1alpha1.ConditionTransition) DefinitionIndex {
	x := DefinitionIndex{
		stored:  make(map[schema.GroupResource]stored, len(storages)),
		history: map[string][]*v1alpha1.ConditionTransition{},
	}
	for _, s := range storages {
		x.stored[schema.GroupResource{Group: s.Spec.Group, Resource: s.Spec.Resource}] = stored{s.Status.Objects, s.Status.Bytes}
	}
	for _, t := range transitions {
		if t.Spec.Object.Kind == kindDefinition {
			x.history[t.Spec.Object.Name] = append(x.history[t.Spec.Object.Name], t)
		}
	}
	return x
}

// Line joins one definition, as it is at the time now.
func (x DefinitionIndex) Line(object *apiextensionsv1.CustomResourceDefinition, now time.Time) DefinitionLine {
	conditions := definitionConditions(object)
	transitions, _ := own(x.history[object.Name], kindDefinition, object.Name, string(object.UID))
	line := DefinitionLine{
		Name: object.Name, Kind: object.Spec.Names.Kind, Scope: string(object.Spec.Scope), CreatedAt: object.CreationTimestamp.Time,
		State: definitionState(object, conditions, now), ToMigrate: slices.Clone(toMigrate(object)),
		LastChange: lastChange(conditions, transitions), Objects: -1, Bytes: -1,
	}
	line.TimeToEstablished, line.TimeToServed = elapsed(object, conditions, transitions)
	for i := range object.Spec.Versions {
		v := &object.Spec.Versions[i]
		if v.Served {
			line.Served = append(line.Served, v.Name)
		}
		if v.Storage {
			line.StorageVersion = v.Name
		}
	}
	if s, ok := x.stored[schema.GroupResource{Group: object.Spec.Group, Resource: object.Spec.Names.Plural}]; ok {
		line.Objects, line.Bytes = s.objects, s.bytes
	}
	line.State.Why = strings.Clone(strings.ToValidUTF8(line.State.Why[:min(len(line.State.Why), longestWhy)], ""))
	for i := range conditions {
		conditions[i].Message = ""
	}
	line.Conditions = conditions
	return line
}
