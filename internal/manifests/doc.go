// Package manifests brings YAML and JSON files into a server with server-side
// apply: definitions first, so that one directory can hold a
// CustomResourceDefinition and objects of it.
//
// One bad document is an error that names its file and line, and hinders no
// other. The package is a client: it knows only a REST configuration, and may
// import client-go and fault.
package manifests
