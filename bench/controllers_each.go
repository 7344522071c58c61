package main

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/kapi-dev/kapi/internal/controllers/catalog"
)

// eachControllerScenario tells what each controller adds to a server, alone: to
// kapi with none, and to a kube-controller-manager with none.
func eachControllerScenario() scenario {
	var rows []row
	for _, c := range catalog.Controllers() {
		for _, f := range eachFigures() {
			rows = append(rows, row{Name: "controllers-each." + c.Name + "." + f.Name, Unit: f.Unit, Better: lower})
		}
	}
	return scenario{
		Name: "controllers-each", Doc: "what each controller alone adds, no objects", OptIn: true, Manager: true, Rows: rows,
		Run: runEachController,
	}
}

// eachFigures are those in which one controller shows. Resident memory differs
// between equal processes by more than that.
func eachFigures() []row {
	return slices.DeleteFunc(figures(), func(r row) bool { return r.Name == "memory" || r.Name == "threads" })
}

// runEachController runs --at-once controllers at a time, each in a server of its
// own, and beside them one server with none. The peer's share one kube-apiserver.
func runEachController(ctx context.Context, l *lab, s *side) (sample, error) {
	start, finish, err := l.eachStarter(ctx, s)
	if err != nil {
		return nil, err
	}
	defer finish()
	got := sample{}
	for controllers := range slices.Chunk(l.eachNames(s), l.opts.AtOnce) {
		if err := l.measureEach(ctx, append([]string{bareSet}, controllers...), start, got); err != nil {
			return nil, err
		}
	}
	return got, nil
}

// measureEach fills in the figures of all controllers but the first, which is none.
func (l *lab) measureEach(ctx context.Context, names []string, start func(string) (*instance, error), got sample) error {
	var instances []*instance
	defer func() {
		for _, inst := range instances {
			inst.kill()
		}
	}()
	for _, name := range names {
		inst, err := start(name)
		if err != nil {
			return err
		}
		instances = append(instances, inst)
	}
	if err := wait(ctx, l.opts.Settle); err != nil {
		return err
	}
	used, err := l.measureUsage(ctx, instances)
	if err != nil {
		return err
	}
	for n, name := range names[1:] {
		for _, f := range eachFigures() {
			got["controllers-each."+name+"."+f.Name] = total(used[n+1][f.Name]) - total(used[0][f.Name])
		}
	}
	for _, inst := range instances {
		if _, err := inst.stop(ctx); err != nil {
			return err
		}
	}
	return nil
}

// eachNames returns the controllers whose rows are to be printed and that the side has.
func (l *lab) eachNames(s *side) []string {
	var names []string
	for _, c := range catalog.Controllers() {
		if l.wants("controllers-each."+c.Name) && (s.spec.Kind == "kapi" || c.Set != catalog.Nodes) {
			names = append(names, c.Name)
		}
	}
	return names
}

// eachStarter returns what starts a server with one controller, or with none, and
// what ends the rest when all is done.
func (l *lab) eachStarter(ctx context.Context, s *side) (start func(string) (*instance, error), finish func(), err error) {
	var dirs []string
	newDir := func() string {
		dirs = append(dirs, l.newDir())
		return dirs[len(dirs)-1]
	}
	removeDirs := func() {
		for _, dir := range dirs {
			os.RemoveAll(dir)
		}
	}
	if s.spec.Kind == "kapi" {
		return func(name string) (*instance, error) {
			return l.start(ctx, s, startOptions{Dir: newDir(), Args: append([]string{"--profiling=true"}, onlyController(name)...)})
		}, removeDirs, nil
	}
	so := startOptions{Dir: newDir(), Admission: true}
	server, err := l.start(ctx, s, so)
	if err != nil {
		removeDirs()
		return nil, nil, err
	}
	start = func(name string) (*instance, error) {
		so.Manager = managerName(name)
		if name == bareSet {
			// A value is needed; what is only taken away leaves nothing.
			so.Manager = "-" + managerName(catalog.ServiceAccount)
		}
		manager := &instance{config: server.config, http: server.http}
		return manager, l.startManager(s, so, manager)
	}
	return start, func() { server.kill(); removeDirs() }, nil
}

// onlyController returns the arguments of a kapi serve with one controller.
func onlyController(name string) []string {
	if name == catalog.FakeNodes {
		others := slices.DeleteFunc(catalog.In(catalog.Nodes), func(n string) bool { return n == catalog.FakeNodes })
		return []string{"--fake-nodes=3", "--controllers=none,-" + strings.Join(others, ",-")}
	}
	return []string{"--controllers=" + name}
}
