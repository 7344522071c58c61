// Package openapi describes the types of inspect.kapi.dev in OpenAPI. All of it
// is generated from their comments (go generate in ../v1alpha1); only the server
// imports it.
package openapi
