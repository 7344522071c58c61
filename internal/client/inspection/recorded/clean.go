package recorded

import (
	"io"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// Other files than snapshots have to be as free of credentials as those are.

// Stripped is a definition or an APIService as a snapshot has it: without what may
// hold anything. Any other object comes back as it is. The one given stays as it is.
func Stripped(object any) any {
	switch object := object.(type) {
	case *apiextensionsv1.CustomResourceDefinition:
		return strippedDefinition(object)
	case *apiregistrationv1.APIService:
		return strippedService(object)
	}
	return object
}

// Certificates are the certificates of a CA bundle in PEM; what else is in it is dropped.
func Certificates(bundle []byte) []byte { return certificates(bundle) }

// Redacted returns a writer that hands lines on to w without what looks like a
// credential. Close writes a last line that has no end, and leaves w open.
func Redacted(w io.Writer) io.WriteCloser { return newRedactor(w) }
