package v1alpha1

// Names of the ClusterRoles that kapi creates.
const (
	// RoleInspect reads all resources but those of RoleRequests, and the definitions
	// and APIServices that they are about; it is part of view.
	RoleInspect = "kapi:inspect"
	// RoleRequests reads request traces and asks for route explanations. They can
	// show names of secrets, so it is part of no other role.
	RoleRequests = "kapi:inspect-requests"
)

// The resources of RoleRequests.
const (
	ResourceRequestTraces     = "requesttraces"
	ResourceRouteExplanations = "routeexplanations"
)
