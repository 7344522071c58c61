// Package v1alpha1 holds the types of inspect.kapi.dev/v1alpha1: the inside of
// a running API server as objects. They are cluster-scoped, read-only, and kept
// in memory; route explanations and stored key queries are created and answered,
// never stored.
//
// The package is the one model that server, command line and console share. It
// imports apimachinery only.
//
// +k8s:deepcopy-gen=package
// +k8s:openapi-gen=true
// +k8s:openapi-model-package=dev.kapi.inspect.v1alpha1
// +groupName=inspect.kapi.dev
package v1alpha1

//go:generate go tool -modfile=../../../../tools/go.mod deepcopy-gen --output-file=zz_generated.deepcopy.go .
//go:generate go tool -modfile=../../../../tools/go.mod openapi-gen --output-dir=../openapi --output-pkg=github.com/kapi-dev/kapi/internal/apis/inspect/openapi --output-file=zz_generated.openapi.go --output-model-name-file=zz_generated.model_name.go --readonly-pkg=k8s.io/apimachinery/pkg/apis/meta/v1 --report-filename=/dev/null k8s.io/apimachinery/pkg/apis/meta/v1 .
//go:generate go run ../../../inspect/refdoc . ../../../../docs/reference/inspect-api.md
