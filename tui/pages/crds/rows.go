package crds

import (
	"cmp"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/pages/sheet"
)

// row is a definition on one line.
type row struct {
	joined.DefinitionLine
	// gaps are those of what is stored.
	gaps sheet.Gaps
}

// joiner joins the rows of frames. Of ten thousand definitions few change from one
// frame to the next, so it keeps each row with what it was joined from.
type joiner struct {
	kept map[string]kept
}

// kept is a row with what it was joined from.
type kept struct {
	from parts
	row  row
}

// parts are the objects that a row is joined from. Objects never change, so the last
// transition and how many there are tell whether there are others.
type parts struct {
	definition  *apiextensionsv1.CustomResourceDefinition
	storage     *v1alpha1.ResourceStorage
	last        *v1alpha1.ConditionTransition
	transitions int
}

// rows are the definitions, the worst first.
func (j *joiner) rows(frame data.Frame) []row {
	view := frame.View(data.Of("resourcestorages"))
	storages := data.Objects[*v1alpha1.ResourceStorage](frame, view.Key)
	transitions := data.Objects[*v1alpha1.ConditionTransition](frame, data.Of("conditiontransitions"))
	objects := data.Objects[*apiextensionsv1.CustomResourceDefinition](frame, data.Definitions)
	from := collect(objects, storages, transitions)
	index := joined.NewDefinitionIndex(storages, transitions)
	gaps := sheet.GapsOf(view)
	rows, keep := make([]row, 0, len(objects)), make(map[string]kept, len(objects))
	for i, object := range objects {
		// What is not fine may become worse by time alone.
		one, ok := j.kept[object.Name]
		if !ok || one.from != from[i] || one.row.State.Severity != joined.OK {
			one = kept{from[i], row{DefinitionLine: index.Line(object, frame.Now)}}
		}
		one.row.gaps = gaps
		keep[object.Name] = one
		rows = append(rows, one.row)
	}
	j.kept = keep
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(b.State.Severity, a.State.Severity), cmp.Compare(a.Name, b.Name))
	})
	return rows
}

// collect finds what each definition is joined from.
func collect(objects []*apiextensionsv1.CustomResourceDefinition, storages []*v1alpha1.ResourceStorage, transitions []*v1alpha1.ConditionTransition) []parts {
	stored := make(map[schema.GroupResource]*v1alpha1.ResourceStorage, len(storages))
	for _, s := range storages {
		stored[schema.GroupResource{Group: s.Spec.Group, Resource: s.Spec.Resource}] = s
	}
	type history struct {
		last  *v1alpha1.ConditionTransition
		count int
	}
	histories := map[string]history{}
	for _, t := range transitions {
		if t.Spec.Object.Kind == "CustomResourceDefinition" {
			histories[t.Spec.Object.Name] = history{t, histories[t.Spec.Object.Name].count + 1}
		}
	}
	all := make([]parts, len(objects))
	for i, object := range objects {
		h := histories[object.Name]
		all[i] = parts{object, stored[schema.GroupResource{Group: object.Spec.Group, Resource: object.Spec.Names.Plural}], h.last, h.count}
	}
	return all
}
