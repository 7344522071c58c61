package recorded

import (
	"encoding/pem"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// strippedDefinition is a definition as it is written: without what may hold
// anything. The one given may be somebody's cache and stays as it is.
func strippedDefinition(definition *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	stripped := *definition
	stripped.TypeMeta = typeMeta(apiextensionsv1.SchemeGroupVersion, "CustomResourceDefinition")
	strippedMeta(&stripped.ObjectMeta)
	if conversion := stripped.Spec.Conversion; conversion != nil && conversion.Webhook != nil && conversion.Webhook.ClientConfig != nil {
		stripped.Spec.Conversion = conversion.DeepCopy()
		stripped.Spec.Conversion.Webhook.ClientConfig.CABundle = certificates(conversion.Webhook.ClientConfig.CABundle)
	}
	return &stripped
}

// strippedService is the same for an APIService.
func strippedService(service *apiregistrationv1.APIService) *apiregistrationv1.APIService {
	stripped := *service
	stripped.TypeMeta = typeMeta(apiregistrationv1.SchemeGroupVersion, "APIService")
	strippedMeta(&stripped.ObjectMeta)
	stripped.Spec.CABundle = certificates(service.Spec.CABundle)
	return &stripped
}

// strippedNamespace is the same for a namespace.
func strippedNamespace(namespace *corev1.Namespace) *corev1.Namespace {
	stripped := *namespace
	stripped.TypeMeta = typeMeta(corev1.SchemeGroupVersion, "Namespace")
	strippedMeta(&stripped.ObjectMeta)
	return &stripped
}

func strippedMeta(meta *metav1.ObjectMeta) {
	meta.Annotations = nil // last-applied-configuration is one of them
	meta.ManagedFields = nil
}

func typeMeta(version schema.GroupVersion, kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: version.String(), Kind: kind}
}

// certificates returns the certificates of a bundle, which are public: that they are
// there decides how a server is checked. Anything else may have come in by mistake.
func certificates(bundle []byte) []byte {
	if len(bundle) == 0 {
		return nil
	}
	var kept []byte
	for block, rest := pem.Decode(bundle); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "CERTIFICATE" {
			kept = append(kept, pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: block.Bytes})...)
		}
	}
	if kept == nil {
		return []byte(removed)
	}
	return kept
}
