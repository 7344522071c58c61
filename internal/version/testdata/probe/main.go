// Command probe links one small package of each module whose version kapi
// reports, and prints what every package that a release stamps says. The test of
// package version builds it; it is not part of kapi.
package main

import (
	"encoding/json"
	"log"
	"os"
	"runtime/debug"

	_ "go.etcd.io/etcd/server/v3/etcdserver/errors"
	clientgo "k8s.io/client-go/pkg/version"
	componentbase "k8s.io/component-base/version"
	_ "k8s.io/kubernetes/pkg/util/slice"

	"github.com/kapi-dev/kapi/internal/version"
)

func main() {
	modules := map[string]string{}
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range build.Deps {
			modules[dep.Path] = dep.Version
		}
	}
	err := json.NewEncoder(os.Stdout).Encode(map[string]any{
		"Kapi":          version.Get(),
		"Modules":       modules,
		"ComponentBase": componentbase.Get(),
		"ClientGo":      clientgo.Get(),
	})
	if err != nil {
		log.Fatal(err)
	}
}
