package v1alpha1

// Names of the ClusterRoles that kapi creates.
const (
	// RoleInspect reads all resources but those of RoleRequests, and the definitions
	// and APIServices that they are about; it is part of view.
	RoleInspect = "kapi:inspect"
	// RoleRequests reads request traces and asks for route explanations. They can
	// show names of secrets, so it is part of no other role.
	RoleRequests = "kapi:inspect-requests"
	// RoleStorage looks at keys and values of the store, beside what RBAC says of the
	// objects in it, so it is part of no other role.
	RoleStorage = "kapi:inspect-storage"
)

// The resources of RoleRequests.
const (
	ResourceRequestTraces     = "requesttraces"
	ResourceRouteExplanations = "routeexplanations"
)

// ResourceStoredKeyQueries is the resource of RoleStorage.
const ResourceStoredKeyQueries = "storedkeyqueries"
