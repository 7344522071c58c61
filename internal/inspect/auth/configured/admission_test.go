package configured

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	api "k8s.io/kubernetes/pkg/apis/core"
	kubeoptions "k8s.io/kubernetes/pkg/kubeapiserver/options"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/inspect/auth"
)

// capture is an initializer that keeps the plugin and gives it nothing.
type capture struct{ plugin admission.Interface }

func (c *capture) Initialize(plugin admission.Interface) { c.plugin = plugin }

func TestAbilitiesAreThoseOfThePlugins(t *testing.T) {
	t.Parallel()
	plugins := kubeoptions.NewAdmissionOptions().GenericAdmission.Plugins
	for _, name := range plugins.Registered() {
		known, ok := abilities[name]
		if !ok {
			t.Errorf("plugin %s is not known", name)
		}
		var made capture
		_, _ = plugins.InitPlugin(name, nil, &made) // it is not initialized
		if made.plugin == nil {
			t.Logf("plugin %s can't be made without a configuration", name)
			continue
		}
		got := 0
		if _, ok := made.plugin.(admission.MutationInterface); ok {
			got |= mutates
		}
		if _, ok := made.plugin.(admission.ValidationInterface); ok {
			got |= validates
		}
		if got != known {
			t.Errorf("plugin %s can %b, known as %b", name, got, known)
		}
	}
	if len(abilities) != len(plugins.Registered()) {
		t.Errorf("%d plugins are known, %d are registered", len(abilities), len(plugins.Registered()))
	}
}

func TestPlugins(t *testing.T) {
	t.Parallel()
	config := filepath.Join(t.TempDir(), "admission.yaml")
	writeFile(t, config, []byte("apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\n"+
		"plugins: [{name: PodSecurity, configuration: {apiVersion: pod-security.admission.config.k8s.io/v1, kind: PodSecurityConfiguration}}]\n"))
	options := kubeoptions.NewAdmissionOptions()
	options.GenericAdmission.EnablePlugins = []string{"NodeRestriction", "LimitRanger"}
	options.GenericAdmission.DisablePlugins = []string{"ServiceAccount"}
	options.GenericAdmission.ConfigFile = config
	plugins, err := Plugins(options, allGiven)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]auth.ConfiguredPlugin{
		"NodeRestriction": {Enabled: true, Mutating: true, Configured: v1alpha1.Configured{ConfiguredBy: "--enable-admission-plugins"}},
		"LimitRanger":     {Enabled: true, Mutating: true, Validating: true, Configured: v1alpha1.Configured{ConfiguredBy: "default"}},
		"ServiceAccount":  {Mutating: true, Validating: true, Configured: v1alpha1.Configured{ConfiguredBy: "--disable-admission-plugins"}},
		"AlwaysDeny":      {Mutating: true, Validating: true, Configured: v1alpha1.Configured{ConfiguredBy: "default"}},
		"PodSecurity":     {Enabled: true, Validating: true, Configured: v1alpha1.Configured{ConfiguredBy: "default", Source: config}},
	}
	var names []string
	for _, one := range plugins {
		names = append(names, one.Name)
		if expected, ok := want[one.Name]; ok {
			if expected.Name = one.Name; one != expected {
				t.Errorf("%+v, want %+v", one, expected)
			}
		}
	}
	if !slices.Equal(names, kubeoptions.AllOrderedPlugins) {
		t.Errorf("order %v", names)
	}

	options.GenericAdmission.EnablePlugins, options.GenericAdmission.DisablePlugins = nil, nil
	options.PluginNames = []string{"AlwaysDeny"}
	plugins, err = Plugins(options, allGiven)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range plugins {
		if one.Enabled != (one.Name == "AlwaysDeny") {
			t.Errorf("--admission-control=AlwaysDeny: %+v", one)
		}
	}
}

// emptyConfig is the configuration of plugins when no file is given.
func emptyConfig(t *testing.T) admission.ConfigProvider {
	t.Helper()
	provider, err := admission.ReadAdmissionConfiguration(nil, "", runtime.NewScheme())
	if err != nil {
		t.Fatal(err)
	}
	return provider
}

func TestAdmissionChain(t *testing.T) {
	t.Parallel()
	options := kubeoptions.NewAdmissionOptions()
	options.GenericAdmission.EnablePlugins = []string{"AlwaysPullImages", "DenyServiceExternalIPs"}
	plugins, err := Plugins(options, allGiven)
	if err != nil {
		t.Fatal(err)
	}
	var rejections []string
	observed := auth.NewAdmission(auth.AdmissionConfig{
		ServerID: "server-1", Plugins: plugins,
		Rejected: func(_ context.Context, plugin string) { rejections = append(rejections, plugin) },
	})
	decorators := slices.Insert(options.GenericAdmission.Decorators, 0, admission.Decorator(observed))
	chain, err := options.GenericAdmission.Plugins.NewFromPlugins([]string{"AlwaysPullImages", "DenyServiceExternalIPs"},
		emptyConfig(t), admission.PluginInitializers{}, decorators)
	if err != nil {
		t.Fatal(err)
	}

	pod := &api.Pod{Spec: api.PodSpec{Containers: []api.Container{{Name: "c", Image: "i"}}}}
	service := &api.Service{Spec: api.ServiceSpec{ExternalIPs: []string{"192.0.2.1"}}} //nolint:staticcheck // deprecated, and what the plugin is about
	admit := func(attributes admission.Attributes) error {
		if err := chain.(admission.MutationInterface).Admit(t.Context(), attributes, nil); err != nil {
			return err
		}
		return chain.(admission.ValidationInterface).Validate(t.Context(), attributes, nil)
	}
	if err := admit(admission.NewAttributesRecord(pod, nil, schema.GroupVersionKind{}, "default", "web",
		api.Resource("pods").WithVersion("v1"), "", admission.Create, nil, false, &user.DefaultInfo{})); err != nil {
		t.Fatal(err)
	}
	if pod.Spec.Containers[0].ImagePullPolicy != api.PullAlways {
		t.Error("the mutation was lost")
	}
	err = admit(admission.NewAttributesRecord(service, nil, schema.GroupVersionKind{}, "default", "web",
		api.Resource("services").WithVersion("v1"), "", admission.Create, nil, false, &user.DefaultInfo{}))
	if err == nil || !strings.Contains(err.Error(), "external") {
		t.Errorf("the refusal was lost: %v", err)
	}
	if !slices.Equal(rejections, []string{"DenyServiceExternalIPs"}) {
		t.Errorf("rejections told: %v", rejections)
	}
	if got := observed.Handling(admission.Create); !slices.Equal(got, []string{"AlwaysPullImages", "DenyServiceExternalIPs"}) {
		t.Errorf("handling CREATE: %v", got)
	}
	if got := observed.Handling(admission.Delete); len(got) != 0 {
		t.Errorf("handling DELETE: %v", got)
	}
	objects, err := observed.Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		one := object.(*v1alpha1.AdmissionPlugin)
		switch one.Name {
		case "AlwaysPullImages": // twice two phases
			if one.Status.Admitted != 4 || one.Status.Rejected != 0 || one.Status.Latency.Count != 4 || one.Status.LastRejection != nil {
				t.Errorf("%s: %+v", one.Name, one.Status)
			}
		case "DenyServiceExternalIPs":
			if one.Status.Admitted != 1 || one.Status.Rejected != 1 || one.Status.LastRejection == nil || one.Spec.Mutating || !one.Spec.Validating {
				t.Errorf("%s: %+v %+v", one.Name, one.Spec, one.Status)
			}
		default:
			if one.Status.Admitted != 0 {
				t.Errorf("%s: %+v", one.Name, one.Status)
			}
		}
	}
}
