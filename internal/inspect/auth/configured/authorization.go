package configured

import (
	"fmt"

	"k8s.io/apiserver/pkg/apis/apiserver"
	kubeoptions "k8s.io/kubernetes/pkg/kubeapiserver/options"

	"github.com/kapi-dev/kapi/internal/inspect/auth"
)

// Authorization is how a server decides what somebody may do.
type Authorization struct {
	options *kubeoptions.BuiltInAuthorizationOptions
	given   Given
	file    *file[*apiserver.AuthorizationConfiguration]
	flags   *apiserver.AuthorizationConfiguration
}

// NewAuthorization reads completed options.
func NewAuthorization(options *kubeoptions.BuiltInAuthorizationOptions, given Given) (*Authorization, error) {
	a := &Authorization{options: options, given: given}
	if options.AuthorizationConfigurationFile == "" {
		var err error
		a.flags, err = a.load()
		return a, err
	}
	a.file = &file[*apiserver.AuthorizationConfiguration]{path: options.AuthorizationConfigurationFile, read: a.load}
	_, err := a.file.get()
	return a, err
}

func (a *Authorization) load() (*apiserver.AuthorizationConfiguration, error) {
	cfg, err := a.options.ToAuthorizationConfig(nil)
	if err != nil {
		return nil, fmt.Errorf("reading the authorization configuration: %w", err)
	}
	return cfg.AuthorizationConfiguration, nil
}

func (a *Authorization) current() (*apiserver.AuthorizationConfiguration, error) {
	if a.file == nil {
		return a.flags, nil
	}
	return a.file.get()
}

// Config is what auth.NewAuthorizers needs to know of these options.
func (a *Authorization) Config(serverID string) auth.AuthorizersConfig {
	return auth.AuthorizersConfig{ServerID: serverID, Configured: a.Authorizers}
}

// Authorizers returns the authorizers in the order in which they are asked.
func (a *Authorization) Authorizers() ([]auth.ConfiguredAuthorizer, error) {
	cfg, err := a.current()
	if err != nil {
		return nil, err
	}
	all := make([]auth.ConfiguredAuthorizer, 0, len(cfg.Authorizers))
	for _, one := range cfg.Authorizers {
		configured := a.given.by("authorization-mode", a.source(one))
		if a.file != nil {
			configured.ConfiguredBy = a.options.AuthorizationConfigurationFile
		}
		all = append(all, auth.ConfiguredAuthorizer{Name: one.Name, Type: string(one.Type), Configured: configured})
	}
	return all, nil
}

// source is the file that an authorizer reads: of a webhook the one that says where it is.
func (a *Authorization) source(one apiserver.AuthorizerConfiguration) string {
	switch {
	case string(one.Type) == "ABAC":
		return a.options.PolicyFile
	case one.Webhook != nil && one.Webhook.ConnectionInfo.KubeConfigFile != nil:
		return *one.Webhook.ConnectionInfo.KubeConfigFile
	default:
		return ""
	}
}
