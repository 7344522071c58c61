package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/kapi-dev/kapi/internal/near"
)

const (
	envPrefix = "KAPI_"
	// EnvConfig names the configuration file.
	EnvConfig = "KAPI_CONFIG"
)

// lookupEnv returns the last value of a variable in the form of os.Environ.
func lookupEnv(environ []string, name string) string {
	for _, entry := range slices.Backward(environ) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// parseEnv reads the KAPI_* variables. An empty variable counts as not set. An
// unknown one is an error: it is nearly always a misspelt key, and would be
// ignored without a word. extra are names that other parts of kapi read.
func parseEnv(environ, extra []string) (*layer, []error) {
	l := newLayer()
	var errs []error
	known := append([]string{EnvConfig}, extra...)
	for _, k := range Keys() {
		known = append(known, k.Env())
		text := lookupEnv(environ, k.Env())
		if text == "" {
			continue
		}
		value, err := k.kind.parse(text)
		if err != nil {
			errs = append(errs, &KeyError{Key: k.Path, Value: text, Want: k.Want, Origin: k.Env()})
			l.failed = append(l.failed, k.Path)
			continue
		}
		l.set(k.Path, value, k.Env())
		if flags, ok := value.([]Flag); ok {
			for _, f := range flags {
				l.kube = append(l.kube, kubeFlag{Flag: f, origin: k.Env()})
			}
		}
	}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, envPrefix) || slices.Contains(known, name) || isServiceLink(name, value) {
			continue
		}
		nearest, d := nearestEnv(name, known)
		errs = append(errs, fmt.Errorf("unknown environment variable %s%s", shorten(name), near.Suggestion(name, nearest, d)))
	}
	return l, append(errs, l.takeOwned()...)
}

// In a pod, the kubelet adds variables for every Service of the namespace; for a
// Service called kapi, or kapi-anything, they begin with KAPI_ (see
// k8s.io/kubernetes/pkg/kubelet/envvars).
var (
	serviceLinkName = regexp.MustCompile(`_SERVICE_HOST$|_SERVICE_PORT(_[A-Z0-9_]+)?$|_PORT_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$`)
	serviceLinkURL  = regexp.MustCompile(`^(tcp|udp|sctp)://`)
)

func isServiceLink(name, value string) bool {
	return serviceLinkName.MatchString(name) || strings.HasSuffix(name, "_PORT") && serviceLinkURL.MatchString(value)
}
