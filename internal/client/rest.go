package client

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kapi-dev/kapi/internal/fault"
)

// RESTConfig returns the client configuration of a context of the source;
// context "" is the current one. The rate limits are client-go's defaults.
func RESTConfig(s Source, context string) (*rest.Config, error) {
	rules := &clientcmd.ClientConfigLoadingRules{Precedence: s.Paths}
	config, err := rules.Load()
	if err != nil {
		return nil, fault.WithHint(fmt.Errorf("reading kubeconfig %s: %w", s, err), "repair the file, or name another one with --kubeconfig")
	}
	known := strings.Join(slices.Sorted(maps.Keys(config.Contexts)), ", ")
	if known == "" {
		known = "none"
	}
	switch {
	case context != "" && config.Contexts[context] == nil:
		return nil, fault.WithHint(fault.Usagef("kubeconfig %s has no context %q", s, context), "its contexts: %s", known)
	case context == "" && config.CurrentContext == "":
		return nil, fault.WithHint(fmt.Errorf("kubeconfig %s has no current context", s), "name one with --context; its contexts: %s", known)
	case context == "" && config.Contexts[config.CurrentContext] == nil:
		return nil, fault.WithHint(fmt.Errorf("the current context %q of kubeconfig %s does not exist", config.CurrentContext, s), "name one with --context; its contexts: %s", known)
	case context == "":
		context = config.CurrentContext
	}
	// Not the deferred loader: it would try the cluster that it runs in.
	rc, err := clientcmd.NewNonInteractiveClientConfig(*config, context, &clientcmd.ConfigOverrides{}, rules).ClientConfig()
	if err != nil {
		return nil, fault.WithHint(fmt.Errorf("using context %q of kubeconfig %s: %w", context, s, err), "its contexts: %s", known)
	}
	return rc, nil
}
