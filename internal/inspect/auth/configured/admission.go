package configured

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/apis/apiserver"
	apiserverv1 "k8s.io/apiserver/pkg/apis/apiserver/v1"
	apiserverv1alpha1 "k8s.io/apiserver/pkg/apis/apiserver/v1alpha1"
	kubeoptions "k8s.io/kubernetes/pkg/kubeapiserver/options"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/inspect/auth"
)

// What a plugin may do.
const (
	mutates = 1 << iota
	validates
)

// abilities are those of the plugins of kube-apiserver: one that is off can't be
// asked without making it. A test compares them with the plugins themselves.
var abilities = map[string]int{
	"AlwaysAdmit":                          mutates | validates,
	"AlwaysDeny":                           mutates | validates,
	"AlwaysPullImages":                     mutates | validates,
	"CertificateApproval":                  validates,
	"CertificateSigning":                   validates,
	"CertificateSubjectRestriction":        validates,
	"ClusterTrustBundleAttest":             validates,
	"DefaultIngressClass":                  mutates,
	"DefaultStorageClass":                  mutates,
	"DefaultTolerationSeconds":             mutates,
	"DenyServiceExternalIPs":               validates,
	"EventRateLimit":                       validates,
	"ExtendedResourceToleration":           mutates,
	"ImagePolicyWebhook":                   validates,
	"LimitPodHardAntiAffinityTopology":     validates,
	"LimitRanger":                          mutates | validates,
	"MutatingAdmissionPolicy":              mutates,
	"MutatingAdmissionWebhook":             mutates,
	"NamespaceAutoProvision":               mutates,
	"NamespaceExists":                      validates,
	"NamespaceLifecycle":                   mutates,
	"NodeDeclaredFeatureValidator":         validates,
	"NodeRestriction":                      mutates,
	"OwnerReferencesPermissionEnforcement": validates,
	"PersistentVolumeClaimResize":          validates,
	"PodGroupProtection":                   mutates,
	"PodNodeSelector":                      mutates | validates,
	"PodResizeValidator":                   validates,
	"PodSecurity":                          validates,
	"PodTolerationRestriction":             mutates | validates,
	"PodTopologyLabels":                    mutates,
	"Priority":                             mutates | validates,
	"ResourceQuota":                        validates,
	"RuntimeClass":                         mutates | validates,
	"ServiceAccount":                       mutates | validates,
	"StorageObjectInUseProtection":         mutates,
	"TaintNodesByCondition":                mutates,
	"ValidatingAdmissionPolicy":            validates,
	"ValidatingAdmissionWebhook":           validates,
}

// Plugins returns all admission plugins, also those that are off, in the order in
// which they are asked.
func Plugins(options *kubeoptions.AdmissionOptions, given Given) ([]auth.ConfiguredPlugin, error) {
	o := options.GenericAdmission
	enable, disable := o.EnablePlugins, o.DisablePlugins
	on, off := "enable-admission-plugins", "disable-admission-plugins"
	if options.PluginNames != nil { // the old flag, which names all that are on
		enable, disable = options.PluginNames, o.RecommendedPluginOrder
		on, off = "admission-control", "admission-control"
	}
	files, err := configFiles(o.ConfigFile, o.RecommendedPluginOrder)
	if err != nil {
		return nil, err
	}
	all := make([]auth.ConfiguredPlugin, 0, len(o.RecommendedPluginOrder))
	for _, name := range o.RecommendedPluginOrder {
		enabled := slices.Contains(enable, name) || !slices.Contains(disable, name) && !o.DefaultOffPlugins.Has(name)
		configured := v1alpha1.Configured{ConfiguredBy: "default"}
		switch {
		case enabled && slices.Contains(enable, name) && o.DefaultOffPlugins.Has(name):
			configured = given.by(on, "")
		case !enabled && !o.DefaultOffPlugins.Has(name):
			configured = given.by(off, "")
		}
		configured.Source = files[name]
		all = append(all, auth.ConfiguredPlugin{
			Name: name, Enabled: enabled, Configured: configured,
			Mutating: abilities[name]&mutates != 0, Validating: abilities[name]&validates != 0,
		})
	}
	return all, nil
}

// configFiles returns the file for each plugin that the admission configuration
// says something of.
func configFiles(path string, plugins []string) (map[string]string, error) {
	if path == "" {
		return nil, nil
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{apiserver.AddToScheme, apiserverv1alpha1.AddToScheme, apiserverv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("registering the types of admission configurations: %w", err)
		}
	}
	provider, err := admission.ReadAdmissionConfiguration(plugins, path, scheme)
	if err != nil {
		return nil, fmt.Errorf("reading the admission configuration: %w", err)
	}
	files := map[string]string{}
	for _, name := range plugins {
		if config, err := provider.ConfigFor(name); err == nil && config != nil {
			files[name] = path
		}
	}
	return files, nil
}
