package recorded

import (
	"io"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// Other files than snapshots have to be as free of credentials as those are.

// Stripped is a definition, an APIService or a namespace as a snapshot has it: without what may
// hold anything. Any other object comes back as it is. The one given stays as it is.
func Stripped(object any) any {
	switch object := object.(type) {
	case *apiextensionsv1.CustomResourceDefinition:
		return strippedDefinition(object)
	case *apiregistrationv1.APIService:
		return strippedService(object)
	case *corev1.Namespace:
		return strippedNamespace(object)
	}
	return object
}

// Certificates are the certificates of a CA bundle in PEM; what else is in it is dropped.
func Certificates(bundle []byte) []byte { return certificates(bundle) }

// Redacted returns a writer that hands lines on to w without what looks like a
// credential. Close writes a last line that has no end, and leaves w open.
func Redacted(w io.Writer) io.WriteCloser { return newRedactor(w) }
