// Package recorded keeps what an inspection.Server shows in a file, and shows it
// again. A snapshot is one JSON document with all objects; a bundle is a .tgz for
// a bug report with a snapshot in it. Server reads either.
//
// What is in a file and what is not: no Secret, no body, no header and no token is
// ever asked for. Annotations, managed fields and CA bundles of definitions and
// APIServices are dropped, since they may hold anything. Names of users, addresses
// of clients and paths of requests stay: they are what is looked for.
//
// It is not a backup and cannot be applied to a server. It may import inspection
// and filter, the API types, fault, datadir and version, and no server package.
package recorded

import (
	"errors"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

// Kind is the kind of a snapshot; its apiVersion is that of the inspect API.
const Kind = "Snapshot"

// Resources that are in a snapshot besides those of the inspect API.
const (
	definitionsResource = "customresourcedefinitions"
	servicesResource    = "apiservices"
	// namespacesResource are those that are being deleted.
	namespacesResource = "namespaces"
)

// snapshotFile is the name of the snapshot in a bundle.
const snapshotFile = "snapshot.json"

// Failure says why a resource could not be read when a snapshot was taken.
type Failure struct {
	// Reason is the server's ("Forbidden"); empty when it did not answer.
	Reason metav1.StatusReason `json:"reason,omitempty"`
	// Code is the HTTP status code; 0 when it did not answer.
	Code int32 `json:"code,omitempty"`
	// Message is the error in words.
	Message string `json:"message"`
}

// failureOf keeps of an error what a reader of the snapshot can use.
func failureOf(err error) Failure {
	failure := Failure{Reason: apierrors.ReasonForError(err), Message: err.Error()}
	if failure.Reason == metav1.StatusReasonUnknown {
		failure.Reason = ""
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		failure.Code = status.Status().Code
	}
	return failure
}

// err is the failure again: IsForbidden and the like hold as they did.
func (f Failure) err() error {
	code := f.Code
	if code == 0 {
		code = http.StatusInternalServerError
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Reason: f.Reason, Code: code,
		Message: "when this was recorded: " + f.Message,
	}}
}

// listType is how the list of a resource is marked in a snapshot.
type listType struct{ resource, apiVersion, kind string }

// listTypes are all lists of a snapshot, in their order.
func listTypes() []listType {
	var all []listType
	for _, kind := range kinds.All() {
		all = append(all, listType{kind.Resource, v1alpha1.SchemeGroupVersion.String(), kind.Kind + "List"})
	}
	return append(all,
		listType{definitionsResource, apiextensionsv1.SchemeGroupVersion.String(), "CustomResourceDefinitionList"},
		listType{servicesResource, apiregistrationv1.SchemeGroupVersion.String(), "APIServiceList"},
		listType{namespacesResource, corev1.SchemeGroupVersion.String(), "NamespaceList"})
}

// timeFormat keeps microseconds, as the times of objects do.
const timeFormat = time.RFC3339Nano
