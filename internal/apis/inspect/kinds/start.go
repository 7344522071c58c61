package kinds

import (
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
)

func startKinds() []Kind {
	type hook = *v1alpha1.PostStartHook
	type step = *v1alpha1.BootStep
	type check = *v1alpha1.HealthCheck
	return []Kind{
		{
			Resource: "poststarthooks", Singular: "poststarthook", Kind: "PostStartHook", ShortNames: []string{"hook", "hooks"},
			New:     func() runtime.Object { return &v1alpha1.PostStartHook{} },
			NewList: func() runtime.Object { return &v1alpha1.PostStartHookList{} },
			Columns: []Column{
				column("Layer", "string", "Layer that runs the hook", func(o hook) any { return o.Spec.Layer }),
				column("State", "string", "Pending, Running, Done or Failed", func(o hook) any { return string(o.Status.State) }),
				column("Duration", "string", "How long it took, or runs", func(o hook) any { return Took(o.Status.Duration) }),
				since("Started", "Time since it began", func(o hook) *metav1.MicroTime { return o.Status.StartedAt }),
				column("Error", "string", "Why it failed", func(o hook) any { return short(o.Status.Error, 60) }),
				wide("Registered-At", "string", "Function that registered it", func(o hook) any { return o.Spec.RegisteredAt }),
			},
			Fields: map[string]func(Object) string{
				"spec.layer":   field(func(o hook) string { return o.Spec.Layer }),
				"status.state": field(func(o hook) string { return string(o.Status.State) }),
			},
		},
		{
			Resource: "bootsteps", Singular: "bootstep", Kind: "BootStep", ShortNames: []string{"boot"},
			New:     func() runtime.Object { return &v1alpha1.BootStep{} },
			NewList: func() runtime.Object { return &v1alpha1.BootStepList{} },
			Columns: []Column{
				column("Boot", "integer", "Number of the start", func(o step) any { return o.Spec.Boot }),
				column("Component", "string", "What was started", func(o step) any { return o.Spec.Component }),
				column("State", "string", "Pending, Running, Done or Failed", func(o step) any { return string(o.Status.State) }),
				column("After", "string", "Time from the start of the process until the step began", func(o step) any {
					if o.Status.StartedAt == nil {
						return ""
					}
					return Took(v1Duration(o.Status.StartedAt.Sub(o.Spec.BootedAt.Time)))
				}),
				column("Duration", "string", "How long it took", func(o step) any { return Took(o.Status.Duration) }),
				column("Error", "string", "Why it failed", func(o step) any { return short(o.Status.Error, 60) }),
				wide("Depends-On", "string", "Components that had to be ready before", func(o step) any { return list(o.Spec.DependsOn) }),
			},
			Fields: map[string]func(Object) string{
				"spec.boot":      field(func(o step) string { return strconv.FormatInt(o.Spec.Boot, 10) }),
				"spec.component": field(func(o step) string { return o.Spec.Component }),
				"status.state":   field(func(o step) string { return string(o.Status.State) }),
			},
		},
		{
			Resource: "healthchecks", Singular: "healthcheck", Kind: "HealthCheck", ShortNames: []string{"health"},
			New:     func() runtime.Object { return &v1alpha1.HealthCheck{} },
			NewList: func() runtime.Object { return &v1alpha1.HealthCheckList{} },
			Columns: []Column{
				column("State", "string", "OK, Failed or Unknown", func(o check) any { return string(o.Status.State) }),
				column("Endpoints", "string", "Endpoints that it is part of", func(o check) any { return list(o.Spec.Endpoints) }),
				since("Since", "Time in this state", func(o check) *metav1.MicroTime { return o.Status.Since }),
				column("Last-Error", "string", "Why it last failed", func(o check) any { return short(o.Status.LastError, 60) }),
				wide("Duration", "string", "How long the check took", func(o check) any { return Took(o.Status.Duration) }),
			},
			Fields: map[string]func(Object) string{
				"status.state": field(func(o check) string { return string(o.Status.State) }),
			},
		},
	}
}
