package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of everything that kapi shows.
const GroupName = "inspect.kapi.dev"

// SchemeGroupVersion is the group and version of the types here.
var SchemeGroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1alpha1"}

// Resource qualifies the plural name of a resource with the group.
func Resource(resource string) schema.GroupResource {
	return SchemeGroupVersion.WithResource(resource).GroupResource()
}

// AddToScheme makes all kinds known to a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(SchemeGroupVersion, types()...)
	metav1.AddToGroupVersion(scheme, SchemeGroupVersion)
	return nil
}

// AddInternalToScheme makes the same types known as the internal version too,
// which a server needs: there is one version, so nothing is converted.
func AddInternalToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(schema.GroupVersion{Group: GroupName, Version: runtime.APIVersionInternal}, types()...)
	return nil
}

func types() []runtime.Object {
	return []runtime.Object{
		&ServerLayer{}, &ServerLayerList{},
		&Filter{}, &FilterList{},
		&Authenticator{}, &AuthenticatorList{},
		&Authorizer{}, &AuthorizerList{},
		&AdmissionPlugin{}, &AdmissionPluginList{},
		&PostStartHook{}, &PostStartHookList{},
		&BootStep{}, &BootStepList{},
		&HealthCheck{}, &HealthCheckList{},
		&APIResourceRegistration{}, &APIResourceRegistrationList{},
		&ResourceStorage{}, &ResourceStorageList{},
		&ConditionTransition{}, &ConditionTransitionList{},
		&APIServiceProbe{}, &APIServiceProbeList{},
		&DiscoveryState{}, &DiscoveryStateList{},
		&RequestTrace{}, &RequestTraceList{},
		&FlowState{}, &FlowStateList{},
		&EtcdMember{}, &EtcdMemberList{},
		&Controller{}, &ControllerList{},
		&RouteExplanation{},
		&StoredKeyQuery{},
	}
}
