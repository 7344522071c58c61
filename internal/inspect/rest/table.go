package rest

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/inspect/store"
)

// widePriority marks columns that are shown only with -o wide.
const widePriority = 1

// ConvertToTable implements rest.TableConvertor.
func (s *Storage) ConvertToTable(_ context.Context, object, options runtime.Object) (*metav1.Table, error) {
	table := &metav1.Table{}
	if listOptions, ok := options.(*metav1.TableOptions); !ok || !listOptions.NoHeaders {
		table.ColumnDefinitions = definitions(s.kind.Columns)
	}
	now := time.Now()
	row := func(object runtime.Object) error {
		item, ok := object.(store.Object)
		if !ok {
			return fmt.Errorf("making a table of %s: %T is no object of it", s.kind.Resource, object)
		}
		cells := make([]any, 0, len(s.kind.Columns)+1)
		cells = append(cells, item.GetName())
		for _, column := range s.kind.Columns {
			cells = append(cells, column.Cell(item, now))
		}
		table.Rows = append(table.Rows, metav1.TableRow{Cells: cells, Object: runtime.RawExtension{Object: object}})
		return nil
	}
	if list, err := meta.ListAccessor(object); err == nil {
		table.ResourceVersion = list.GetResourceVersion()
		return table, meta.EachListItem(object, row)
	}
	if single, err := meta.Accessor(object); err == nil {
		table.ResourceVersion = single.GetResourceVersion()
	}
	return table, row(object)
}

func definitions(columns []kinds.Column) []metav1.TableColumnDefinition {
	all := []metav1.TableColumnDefinition{{Name: "Name", Type: "string", Format: "name", Description: "Name of the object"}}
	for _, column := range columns {
		definition := metav1.TableColumnDefinition{Name: column.Name, Type: column.Type, Description: column.Doc}
		if column.Wide {
			definition.Priority = widePriority
		}
		all = append(all, definition)
	}
	return all
}
