package recorded

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

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
		stripped.Spec.Conversion.Webhook.ClientConfig.CABundle = nil
	}
	return &stripped
}

// strippedService is the same for an APIService.
func strippedService(service *apiregistrationv1.APIService) *apiregistrationv1.APIService {
	stripped := *service
	stripped.TypeMeta = typeMeta(apiregistrationv1.SchemeGroupVersion, "APIService")
	strippedMeta(&stripped.ObjectMeta)
	stripped.Spec.CABundle = nil
	return &stripped
}

func strippedMeta(meta *metav1.ObjectMeta) {
	meta.Annotations = nil // last-applied-configuration is one of them
	meta.ManagedFields = nil
}

func typeMeta(version schema.GroupVersion, kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: version.String(), Kind: kind}
}
