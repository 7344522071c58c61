package rest

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// NewScheme returns a scheme with all that a server of the group needs: the types,
// as the internal version too, those of discovery and errors, and the fields that
// can be selected.
func NewScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	unversioned := schema.GroupVersion{Version: "v1"}
	metav1.AddToGroupVersion(scheme, unversioned)
	scheme.AddUnversionedTypes(unversioned, &metav1.Status{}, &metav1.APIVersions{},
		&metav1.APIGroupList{}, &metav1.APIGroup{}, &metav1.APIResourceList{})
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, v1alpha1.AddInternalToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("registering the types of %s: %w", v1alpha1.GroupName, err)
		}
	}
	if err := scheme.SetVersionPriority(v1alpha1.SchemeGroupVersion); err != nil {
		return nil, err
	}
	for _, kind := range kinds.All() {
		if err := scheme.AddFieldLabelConversionFunc(v1alpha1.SchemeGroupVersion.WithKind(kind.Kind), selectable(kind)); err != nil {
			return nil, err
		}
	}
	return scheme, nil
}

// selectable refuses what is not in the table.
func selectable(kind kinds.Kind) runtime.FieldLabelConversionFunc {
	return func(label, value string) (string, string, error) {
		if _, ok := kind.Fields[label]; ok || label == metadataName {
			return label, value, nil
		}
		return "", "", fmt.Errorf("%q is not a field that %s can be selected by", label, kind.Resource)
	}
}

// GroupInfo returns the group as a generic server installs it.
func GroupInfo(scheme *runtime.Scheme, storages map[string]rest.Storage) *genericapiserver.APIGroupInfo {
	info := genericapiserver.NewDefaultAPIGroupInfo(v1alpha1.GroupName, scheme, runtime.NewParameterCodec(scheme), serializer.NewCodecFactory(scheme))
	info.VersionedResourcesStorageMap[v1alpha1.SchemeGroupVersion.Version] = storages
	return &info
}
