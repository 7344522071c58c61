package main

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const crdGroup = "bench.kapi.dev"

// filling says what a data directory holds.
type filling struct {
	Name       string // of the directory; each side has one of a name
	Namespaces int
	CRDs       int
	Objects    int // 1 KiB each
	// CustomEach is n where each n-th object is a custom resource; the others are ConfigMaps.
	CustomEach int
}

var crdResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// populate returns a data directory of the side that holds f. It is filled once
// in a run, through the API, by a server of these options that is then stopped cleanly.
func (l *lab) populate(ctx context.Context, s *side, f filling, so startOptions) (string, error) {
	if dir, ok := s.populated[f.Name]; ok {
		return dir, nil
	}
	so.Dir = l.newDir()
	inst, err := l.start(ctx, s, so)
	if err != nil {
		return "", err
	}
	defer inst.kill()
	clients, err := newLoadClients(inst.config, l.opts.Clients)
	if err != nil {
		return "", err
	}
	defer closeAll(clients)
	if err := f.fill(ctx, clients); err != nil {
		return "", fmt.Errorf("filling a directory of %s: %w", s.Label, err)
	}
	closeAll(clients)
	if _, err := inst.stop(ctx); err != nil {
		return "", err
	}
	s.populated[f.Name] = so.Dir
	return so.Dir, nil
}

func (f filling) fill(ctx context.Context, clients []*loadClient) error {
	for n := range f.Namespaces {
		if err := createNamespace(ctx, clients[0], fillNamespace(n)); err != nil {
			return err
		}
	}
	// Few at a time: every CRD rebuilds the servers' OpenAPI, and a flood of
	// them is a measurement of its own.
	_, err := runPhase(ctx, min(4, len(clients)), f.CRDs, func(ctx context.Context, w, i int) error {
		_, err := clients[w].dynamic.Resource(crdResource).Create(ctx, crd(i), metav1.CreateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("creating CRDs: %w", err)
	}
	for i := range f.CRDs {
		if err := awaitEstablished(ctx, clients[0], crd(i).GetName()); err != nil {
			return err
		}
	}
	_, err = runPhase(ctx, len(clients), f.Objects, func(ctx context.Context, w, i int) error {
		ns := fillNamespace(i / f.CustomEach % f.Namespaces)
		if i%f.CustomEach == f.CustomEach-1 && f.CRDs > 0 {
			kind := i / f.CustomEach % f.CRDs
			_, err := clients[w].dynamic.Resource(customResource(kind)).Namespace(ns).
				Create(ctx, customObject(kind, i), metav1.CreateOptions{})
			return err
		}
		cm := configMap(fmt.Sprintf("fill-%06d", i), uint64(i))
		_, err := clients[w].json.CoreV1().ConfigMaps(ns).Create(ctx, cm, metav1.CreateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("creating objects: %w", err)
	}
	return nil
}

func fillNamespace(n int) string { return fmt.Sprintf("fill-%d", n) }

func customResource(kind int) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: crdGroup, Version: "v1", Resource: fmt.Sprintf("things%d", kind)}
}

func customObject(kind, i int) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": crdGroup + "/v1", "kind": fmt.Sprintf("Thing%d", kind),
		"metadata": map[string]any{"name": fmt.Sprintf("thing-%06d", i)},
		"spec": map[string]any{
			"replicas": int64(i % 10), "settings": settings(uint64(i), 1024),
			"ports": []any{map[string]any{"name": "web", "port": int64(8080)}},
		},
	}}
}

// crd returns a CRD with a structural schema of ordinary size: nested objects,
// a list, defaults, a pattern, a CEL rule, a status.
func crd(i int) *unstructured.Unstructured {
	str := func(doc string) map[string]any { return map[string]any{"type": "string", "description": doc} }
	schema := map[string]any{"type": "object", "properties": map[string]any{
		"spec": map[string]any{"type": "object", "properties": map[string]any{
			"replicas": map[string]any{"type": "integer", "minimum": int64(0), "default": int64(1)},
			"settings": str("Text handed to the program as it is."),
			"mode":     map[string]any{"type": "string", "enum": []any{"Fast", "Safe"}, "default": "Safe"},
			"host":     map[string]any{"type": "string", "pattern": `^[a-z0-9.-]*$`, "maxLength": int64(253)},
			"labels":   map[string]any{"type": "object", "additionalProperties": str("A label.")},
			"ports": map[string]any{"type": "array", "maxItems": int64(32), "items": map[string]any{
				"type": "object", "required": []any{"port"}, "properties": map[string]any{
					"name": str("Name of the port."), "port": map[string]any{"type": "integer"},
				}}},
		}, "x-kubernetes-validations": []any{map[string]any{
			"rule": "!has(self.ports) || self.ports.all(p, p.port > 0)", "message": "ports must be positive",
		}}},
		"status": map[string]any{"type": "object", "properties": map[string]any{
			"phase": str("Where the object is."), "message": str("Why."), "observedGeneration": map[string]any{"type": "integer"},
		}},
	}}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": fmt.Sprintf("things%d.%s", i, crdGroup)},
		"spec": map[string]any{
			"group": crdGroup, "scope": "Namespaced",
			"names": map[string]any{
				"plural": fmt.Sprintf("things%d", i), "singular": fmt.Sprintf("thing%d", i),
				"kind": fmt.Sprintf("Thing%d", i), "listKind": fmt.Sprintf("Thing%dList", i),
			},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema":       map[string]any{"openAPIV3Schema": schema},
				"subresources": map[string]any{"status": map[string]any{}},
			}},
		},
	}}
}

// awaitEstablished waits until the server has said that it serves the CRD.
func awaitEstablished(ctx context.Context, c *loadClient, name string) error {
	for {
		got, err := c.dynamic.Resource(crdResource).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("reading CRD %s: %w", name, err)
		}
		// Of a new CRD they are null.
		conditions, _, err := unstructured.NestedFieldNoCopy(got.Object, "status", "conditions")
		if err != nil {
			return fmt.Errorf("reading the conditions of CRD %s: %w", name, err)
		}
		list, _ := conditions.([]any)
		for _, c := range list {
			if m, ok := c.(map[string]any); ok && m["type"] == "Established" && m["status"] == "True" {
				return nil
			}
		}
		if err := wait(ctx, 4*readyPoll); err != nil {
			return fmt.Errorf("waiting for CRD %s: %w", name, err)
		}
	}
}
