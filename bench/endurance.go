package main

import (
	"context"
	"fmt"
	"net/http"
	"os"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// enduranceScenario tells whether a server grows with the requests that it has
// answered: all read the same object, so nothing else grows.
func enduranceScenario() scenario {
	return scenario{
		Name:  "endurance",
		Doc:   "memory after a tenth of --requests gets, and after all of them",
		OptIn: true,
		Rows: []row{
			{Name: "endurance.begin", Unit: "MB", Better: lower},
			{Name: "endurance.end", Unit: "MB", Better: lower},
			{Name: "endurance.growth", Unit: "MB", Better: lower},
			{Name: "endurance.get", Unit: "/s", Better: higher},
		},
		Run: func(ctx context.Context, l *lab, s *side) (sample, error) {
			dir := l.newDir()
			defer os.RemoveAll(dir)
			inst, err := l.start(ctx, s, startOptions{Dir: dir})
			if err != nil {
				return nil, err
			}
			defer inst.kill()
			got, err := l.endure(ctx, inst)
			if err != nil {
				return nil, inst.explain(err)
			}
			_, err = inst.stop(ctx)
			return got, err
		},
	}
}

func (l *lab) endure(ctx context.Context, inst *instance) (sample, error) {
	clients, err := newLoadClients(inst.config, l.opts.Clients)
	if err != nil {
		return nil, err
	}
	defer closeAll(clients)
	// Every hundredth is for something that is not there: a failure has its own history.
	get := func(ctx context.Context, w, i int) error {
		name := "default"
		if i%100 == 0 {
			name = fmt.Sprintf("none-%d", i)
		}
		result := clients[w].json.CoreV1().RESTClient().Get().Resource("namespaces").Name(name).Do(ctx)
		var code int
		result.StatusCode(&code)
		if code != http.StatusOK && code != http.StatusNotFound {
			return fmt.Errorf("answered %d: %w", code, result.Error())
		}
		return nil
	}
	if _, err := clients[0].json.CoreV1().Namespaces().Get(ctx, metav1.NamespaceDefault, metav1.GetOptions{}); err != nil {
		return nil, err
	}
	got := sample{}
	for _, part := range []struct {
		row      string
		requests int
	}{{"begin", l.opts.Requests / 10}, {"end", l.opts.Requests - l.opts.Requests/10}} {
		p, err := runPhase(ctx, len(clients), part.requests, get)
		if err != nil {
			return nil, err
		}
		got["endurance.get"] = p.perSecond()
		if got["endurance."+part.row], err = inst.memory("VmRSS"); err != nil {
			return nil, err
		}
	}
	got["endurance.growth"] = got["endurance.end"] - got["endurance.begin"]
	return got, nil
}
