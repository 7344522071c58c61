package diff

import (
	"context"
	"iter"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/client/inspection"
)

func definitionSource() source {
	const resource, kind = "customresourcedefinitions", "CustomResourceDefinition"
	return source{
		resource: resource, kind: kind, compare: objects(resource, kind),
		read: func(ctx context.Context, server inspection.Server, _ Side) (table, error) {
			return collect(server.Definitions(ctx), definitionRow)
		},
	}
}

func serviceSource() source {
	const resource, kind = "apiservices", "APIService"
	return source{
		resource: resource, kind: kind, compare: objects(resource, kind),
		read: func(ctx context.Context, server inspection.Server, _ Side) (table, error) {
			return collect(server.APIServices(ctx), serviceRow)
		},
	}
}

// collect reads objects one at a time and keeps a row of each.
func collect[T any](objects iter.Seq2[*T, error], toRow func(*T) (string, row)) (table, error) {
	var read table
	for object, err := range objects {
		if err != nil {
			return table{}, err
		}
		read.add(toRow(object))
	}
	return read, nil
}

func definitionRow(o *apiextensionsv1.CustomResourceDefinition) (string, row) {
	var served, storage []string
	for _, version := range o.Spec.Versions {
		if version.Served {
			served = append(served, version.Name)
		}
		if version.Storage {
			storage = append(storage, version.Name)
		}
	}
	cells := []cell{
		{field: "UID", value: string(o.UID)}, // another one: deleted and made again
		{field: "Generation", value: strconv.FormatInt(o.Generation, 10)},
		{field: "Served", value: strings.Join(served, ",")},
		{field: "Storage-Version", value: strings.Join(storage, ",")},
		{field: "Stored-Versions", value: strings.Join(o.Status.StoredVersions, ",")},
	}
	for _, c := range o.Status.Conditions {
		cells = append(cells, conditionCell(string(c.Type), string(c.Status), c.Reason, c.Message))
	}
	return o.Name, row{cells: cells}
}

func serviceRow(o *apiregistrationv1.APIService) (string, row) {
	service := "Local"
	if s := o.Spec.Service; s != nil {
		service = s.Namespace + "/" + s.Name
		if s.Port != nil {
			service += ":" + strconv.Itoa(int(*s.Port))
		}
	}
	cells := []cell{
		{field: "UID", value: string(o.UID)},
		{field: "Service", value: service},
		{field: "Group-Priority", value: strconv.Itoa(int(o.Spec.GroupPriorityMinimum))},
		{field: "Version-Priority", value: strconv.Itoa(int(o.Spec.VersionPriority))},
		{field: "Insecure", value: strconv.FormatBool(o.Spec.InsecureSkipTLSVerify)},
	}
	for _, c := range o.Status.Conditions {
		cells = append(cells, conditionCell(string(c.Type), string(c.Status), c.Reason, c.Message))
	}
	return o.Name, row{cells: cells}
}
