package client

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kapi-dev/kapi/internal/fault"
)

// RESTConfig returns the client configuration of a source. overrides are what
// flags say: a context, a server, credentials; they may be nil. Without a
// context the current one is used. A source without paths is an empty kubeconfig.
// The rate limits are client-go's defaults.
func RESTConfig(s Source, overrides *clientcmd.ConfigOverrides) (*rest.Config, error) {
	if overrides == nil {
		overrides = &clientcmd.ConfigOverrides{}
	}
	if _, err := clientcmd.ParseTimeout(overrides.Timeout); overrides.Timeout != "" && err != nil {
		return nil, fault.WithHint(fault.Usagef("--request-timeout=%q is no time", overrides.Timeout), "write it as 10s or 2m; 0 is no limit")
	}
	rules := &clientcmd.ClientConfigLoadingRules{Precedence: s.Paths}
	config, err := rules.Load()
	if err != nil {
		return nil, fault.WithHint(fault.Usagef("reading kubeconfig %s: %w", s, err), "repair the file, or name another one with --kubeconfig")
	}
	context, err := chooseContext(s, config, overrides)
	if err != nil {
		return nil, err
	}
	if c := config.Contexts[context]; c != nil && overrides.ClusterInfo.Server == "" && overrides.Context.Cluster == "" && config.Clusters[c.Cluster] == nil {
		return nil, fault.WithHint(fmt.Errorf("context %q of kubeconfig %s names cluster %q, which is not there", context, s, c.Cluster), "its contexts: %s", contexts(config))
	}
	// Not the deferred loader: it would try the cluster that it runs in.
	rc, err := clientcmd.NewNonInteractiveClientConfig(*config, context, overrides, rules).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("using context %q of kubeconfig %s: %w", context, s, err)
	}
	return rc, nil
}

// chooseContext returns the context to use; empty where flags name all that a
// context would.
func chooseContext(s Source, config *clientcmdapi.Config, overrides *clientcmd.ConfigOverrides) (string, error) {
	context, known := overrides.CurrentContext, contexts(config)
	switch {
	case context != "" && config.Contexts[context] == nil:
		return "", fault.WithHint(fault.Usagef("kubeconfig %s has no context %q", s, context), "its contexts: %s", known)
	case context != "":
		return context, nil
	case overrides.ClusterInfo.Server != "" && config.Contexts[config.CurrentContext] == nil:
		return "", nil
	case config.CurrentContext == "":
		return "", fault.WithHint(fmt.Errorf("kubeconfig %s has no current context", s), "name one with --context; its contexts: %s", known)
	case config.Contexts[config.CurrentContext] == nil:
		return "", fault.WithHint(fmt.Errorf("the current context %q of kubeconfig %s does not exist", config.CurrentContext, s), "name one with --context; its contexts: %s", known)
	}
	return config.CurrentContext, nil
}

func contexts(config *clientcmdapi.Config) string {
	if len(config.Contexts) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(config.Contexts)), ", ")
}
