package configured

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apiserver/pkg/apis/apiserver"
	kubeoptions "k8s.io/kubernetes/pkg/kubeapiserver/options"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/inspect/auth"
)

// Authentication is how a server finds out who asks.
type Authentication struct {
	options *kubeoptions.BuiltInAuthenticationOptions
	given   Given
	file    *file[*apiserver.AuthenticationConfiguration]
	flags   *apiserver.AuthenticationConfiguration
}

// NewAuthentication reads completed options.
func NewAuthentication(options *kubeoptions.BuiltInAuthenticationOptions, given Given) (*Authentication, error) {
	a := &Authentication{options: options, given: given}
	if options.AuthenticationConfigFile == "" {
		var err error
		a.flags, err = a.load()
		return a, err
	}
	a.file = &file[*apiserver.AuthenticationConfiguration]{path: options.AuthenticationConfigFile, read: a.load}
	_, err := a.file.get()
	return a, err
}

// load reads the part of the configuration that a file can hold: JWT issuers and
// anonymous requests. It leaves out what would open other files.
func (a *Authentication) load() (*apiserver.AuthenticationConfiguration, error) {
	cfg, err := (&kubeoptions.BuiltInAuthenticationOptions{
		Anonymous: a.options.Anonymous, OIDC: a.options.OIDC,
		AuthenticationConfigFile: a.options.AuthenticationConfigFile,
	}).ToAuthenticationConfig()
	if err != nil {
		return nil, fmt.Errorf("reading the authentication configuration: %w", err)
	}
	loaded := cfg.AuthenticationConfig.DeepCopy()
	loaded.Anonymous = cfg.Anonymous.DeepCopy()
	return loaded, nil
}

func (a *Authentication) current() (*apiserver.AuthenticationConfiguration, error) {
	if a.file == nil {
		return a.flags, nil
	}
	return a.file.get()
}

// Config is what auth.NewAuthenticators needs to know of these options.
func (a *Authentication) Config(serverID string) auth.AuthenticatorsConfig {
	return auth.AuthenticatorsConfig{ServerID: serverID, TokenCache: a.options.TokenSuccessCacheTTL, Configured: a.Authenticators}
}

// Anonymous says whether a request without credentials may come in by a path.
func (a *Authentication) Anonymous(path string) bool {
	cfg, err := a.current()
	if err != nil || !cfg.Anonymous.Enabled {
		return false
	}
	return len(cfg.Anonymous.Conditions) == 0 ||
		slices.ContainsFunc(cfg.Anonymous.Conditions, func(c apiserver.AnonymousAuthCondition) bool { return c.Path == path })
}

// Authenticators returns the authenticators in the order in which they are asked.
// Source: Config.New in k8s.io/kubernetes/pkg/kubeapiserver/authenticator.
func (a *Authentication) Authenticators() ([]auth.ConfiguredAuthenticator, error) {
	cfg, err := a.current()
	if err != nil {
		return nil, err
	}
	var all []auth.ConfiguredAuthenticator
	add := func(name, kind string, configured v1alpha1.Configured) {
		all = append(all, auth.ConfiguredAuthenticator{Name: name, Type: kind, Configured: configured})
	}
	o := a.options
	if o.RequestHeader != nil && o.RequestHeader.ClientCAFile != "" {
		add("request-header", auth.TypeRequestHeader, a.given.by("requestheader-client-ca-file", o.RequestHeader.ClientCAFile))
	}
	if o.ClientCert != nil && o.ClientCert.ClientCA != "" {
		add("client-certificate", auth.TypeClientCertificate, a.given.by("client-ca-file", o.ClientCert.ClientCA))
	}
	if o.TokenFile != nil && o.TokenFile.TokenFile != "" {
		add("token-file", auth.TypeTokenFile, a.given.by("token-auth-file", o.TokenFile.TokenFile))
	}
	if keys, ok := a.tokenKeys(); ok {
		add("service-account-legacy", auth.TypeServiceAccount, keys)
		if len(o.ServiceAccounts.Issuers) > 0 {
			add("service-account", auth.TypeServiceAccount, keys)
		}
	}
	if o.BootstrapToken != nil && o.BootstrapToken.Enable {
		add("bootstrap-token", auth.TypeBootstrapToken, a.given.by("enable-bootstrap-token-auth", "secrets in namespace kube-system"))
	}
	all = append(all, a.issuers(cfg)...)
	if o.WebHook != nil && o.WebHook.ConfigFile != "" {
		add("webhook", auth.TypeWebhook, a.given.by("authentication-token-webhook-config-file", o.WebHook.ConfigFile))
	}
	if cfg.Anonymous.Enabled {
		add("anonymous", auth.TypeAnonymous, a.anonymous())
	}
	return all, nil
}

// tokenKeys says where the keys of service account tokens come from.
func (a *Authentication) tokenKeys() (v1alpha1.Configured, bool) {
	switch s := a.options.ServiceAccounts; {
	case s == nil:
		return v1alpha1.Configured{}, false
	case s.ExternalPublicKeysGetter != nil:
		return a.given.by("service-account-signing-endpoint", ""), true
	case len(s.KeyFiles) > 0:
		return a.given.by("service-account-key-file", strings.Join(s.KeyFiles, ",")), true
	default:
		return v1alpha1.Configured{}, false
	}
}

// issuers returns one authenticator for each JWT issuer.
func (a *Authentication) issuers(cfg *apiserver.AuthenticationConfiguration) []auth.ConfiguredAuthenticator {
	var all []auth.ConfiguredAuthenticator
	for _, jwt := range cfg.JWT {
		source := withoutCredentials(jwt.Issuer.URL)
		configured := a.given.by("oidc-issuer-url", source)
		if a.file != nil {
			configured.ConfiguredBy = a.options.AuthenticationConfigFile
		}
		_, place, _ := strings.Cut(source, "://")
		all = append(all, auth.ConfiguredAuthenticator{
			Name: "jwt-" + strings.TrimRight(place, "/"), Type: auth.TypeJWT, Issuer: jwt.Issuer.URL, Configured: configured,
		})
	}
	return all
}

// anonymous says what turned anonymous requests on: the file, if it says anything of them.
func (a *Authentication) anonymous() v1alpha1.Configured {
	if a.file != nil && !a.given.has("anonymous-auth") {
		return v1alpha1.Configured{ConfiguredBy: a.options.AuthenticationConfigFile}
	}
	return a.given.by("anonymous-auth", "")
}
