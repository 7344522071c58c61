package main

import (
	"context"
	"fmt"
	"os"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kapi-dev/kapi/internal/controllers/catalog"
)

// controllerSet is a choice of controllers, on both sides.
type controllerSet struct {
	Name    string
	Doc     string
	Kapi    []string // arguments of kapi serve
	Manager string   // --controllers of the peer's kube-controller-manager; "" is no such process
}

// bareSet is what the other sets are compared with, and runs before them.
const bareSet = "none"

func controllerSets() []controllerSet {
	return []controllerSet{
		{bareSet, "no controllers", []string{"--controllers=none"}, ""},
		{"api", "kapi's default set, the same of kube-controller-manager", []string{"--controllers=api"}, managerNames(catalog.API)},
		{"all", "all of kapi's, the same of kube-controller-manager", []string{"--controllers=all"}, managerNames(catalog.API, catalog.Workloads)},
		{"default", "all of kapi's, kube-controller-manager as it comes", []string{"--controllers=all"}, "*"},
		{"fake-nodes", "all and 3 fake nodes with a scheduler, which the peer lacks", []string{"--controllers=all", "--fake-nodes=3"}, "*"},
	}
}

// controllerScenarios are one scenario for each set of controllers, without
// objects and with --controlled-objects.
func controllerScenarios() []scenario {
	var out []scenario
	for _, set := range controllerSets() {
		for _, size := range []string{"empty", "filled"} {
			name := "controllers." + set.Name + "." + size
			out = append(out, scenario{
				Name: name, Doc: set.Doc, OptIn: true, Manager: set.Manager != "", Rows: controllerRows(set, name),
				Run: func(ctx context.Context, l *lab, s *side) (sample, error) {
					return l.runControllers(ctx, s, set, size)
				},
			})
		}
	}
	return out
}

func controllerRows(set controllerSet, name string) []row {
	rows := []row{{Name: name + ".ready", Unit: "s", Better: lower}}
	if set.Name != bareSet {
		rows = append(rows, row{Name: name + ".working", Unit: "s", Better: lower})
	}
	for _, f := range figures() {
		parts := []string{""}
		if set.Name != bareSet && f.Name != "threads" {
			parts = []string{"", ".added", ".alone"}
		}
		for _, part := range parts {
			rows = append(rows, row{Name: name + "." + f.Name + part, Unit: f.Unit, Better: lower})
		}
	}
	return rows
}

func (l *lab) runControllers(ctx context.Context, s *side, set controllerSet, size string) (sample, error) {
	// The profiles are for the heap row. kube-apiserver serves them by default.
	so := startOptions{Args: append([]string{"--profiling=true"}, set.Kapi...), Manager: set.Manager}
	if size == "empty" {
		so.Dir = l.newDir()
		defer os.RemoveAll(so.Dir)
	} else {
		// One directory for all sets: what controllers leave there (two objects in each
		// namespace, three nodes at the end) is little beside the rest.
		f := filling{Name: "controllers", Namespaces: 20, CRDs: 1, Objects: l.opts.Controlled, CustomEach: 20}
		var err error
		if so.Dir, err = l.populate(ctx, s, f, startOptions{Args: controllerSets()[0].Kapi}); err != nil {
			return nil, err
		}
	}
	inst, err := l.start(ctx, s, so)
	if err != nil {
		return nil, err
	}
	defer inst.kill()
	got, err := l.measureControllers(ctx, s, inst, set, size)
	if err != nil {
		return nil, inst.explain(err)
	}
	_, err = inst.stop(ctx)
	return got, err
}

func (l *lab) measureControllers(ctx context.Context, s *side, inst *instance, set controllerSet, size string) (sample, error) {
	name := "controllers." + set.Name + "." + size + "."
	got := sample{name + "ready": inst.startup.Seconds()}
	if set.Name != bareSet {
		// The directory may be one on which other sets and pairs have run.
		if err := awaitControllers(ctx, inst, fmt.Sprintf("fresh-%s-%d", set.Name, l.pair)); err != nil {
			return nil, err
		}
		got[name+"working"] = time.Since(inst.procs[0].started).Seconds()
	}
	if err := wait(ctx, l.opts.Settle); err != nil {
		return nil, err
	}
	used, err := l.measureUsage(ctx, []*instance{inst})
	if err != nil {
		return nil, err
	}
	if set.Name == bareSet {
		s.bare[size] = append(s.bare[size], used[0].totals())
	}
	for figure, values := range used[0] {
		got[name+figure] = total(values)
		if bare := s.bareMedian(size, figure); bare != nil && set.Name != bareSet {
			got[name+figure+".added"] = total(values) - *bare
		}
		if s.spec.Kind == "peer" && set.Manager != "" {
			got[name+figure+".alone"] = values[len(values)-1]
		}
	}
	return got, nil
}

func (u usage) totals() sample {
	out := sample{}
	for figure, values := range u {
		out[figure] = total(values)
	}
	return out
}

// bareMedian returns a figure of the side without controllers, nil where the run
// has not measured that.
func (s *side) bareMedian(size, figure string) *float64 {
	var values []float64
	for _, b := range s.bare[size] {
		values = append(values, b[figure])
	}
	if len(values) == 0 {
		return nil
	}
	m := median(values)
	return &m
}

// awaitControllers makes a namespace and returns when it has what two controllers
// put into it: the service account default and the ConfigMap kube-root-ca.crt.
func awaitControllers(ctx context.Context, inst *instance, namespace string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyLimit, fmt.Errorf("the controllers do not work after %s", readyLimit))
	defer cancel()
	clients, err := newLoadClients(inst.config, 1)
	if err != nil {
		return err
	}
	defer closeAll(clients)
	if err := createNamespace(ctx, clients[0], namespace); err != nil {
		return err
	}
	core := clients[0].json.CoreV1()
	for {
		_, err := core.ServiceAccounts(namespace).Get(ctx, metav1.NamespaceDefault, metav1.GetOptions{})
		if err == nil {
			_, err = core.ConfigMaps(namespace).Get(ctx, "kube-root-ca.crt", metav1.GetOptions{})
		}
		if !apierrors.IsNotFound(err) {
			return err
		}
		if err := wait(ctx, readyPoll); err != nil {
			return fmt.Errorf("waiting for the contents of namespace %s: %w", namespace, err)
		}
		for _, p := range inst.procs {
			if err := p.exited(); err != nil {
				return err
			}
		}
	}
}
