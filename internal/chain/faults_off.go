//go:build !kapifaults

package chain

import genericapiserver "k8s.io/apiserver/pkg/server"

// addFaults adds nothing: only a build with the tag kapifaults, which tests make
// for themselves, has faults to add.
func addFaults(*genericapiserver.GenericAPIServer, *configs) error { return nil }
