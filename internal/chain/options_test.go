package chain

import (
	"net"
	"slices"
	"testing"

	"github.com/kapi-dev/kapi/internal/fault"
)

var testPaths = Paths{
	ClusterCA: "ca.crt", FrontProxyCA: "front.crt", ServingCert: "tls.crt", ServingKey: "tls.key",
	ProxyCert: "proxy.crt", ProxyKey: "proxy.key", ServiceAccountKey: "sa.key", ServiceAccountPub: "sa.pub",
	EtcdServers: []string{"unix:///run/client.sock"}, Loopback: true,
}

func withDefaults(t *testing.T, given ...string) *Options {
	t.Helper()
	options := NewOptions()
	if err := options.Default(testPaths, func(flag string) bool { return slices.Contains(given, flag) }); err != nil {
		t.Fatal(err)
	}
	return options
}

func TestDefaultsAreSafe(t *testing.T) {
	options := withDefaults(t)
	for flag, want := range map[string]string{
		"authorization-mode":       "[Node,RBAC]",
		"client-ca-file":           "ca.crt",
		"profiling":                "false",
		"enable-admission-plugins": "[NodeRestriction]",
		"etcd-servers":             "[unix:///run/client.sock]",
		"service-cluster-ip-range": DefaultServiceCIDR,
	} {
		if got := options.FlagSet().Lookup(flag).Value.String(); got != want {
			t.Errorf("--%s is %s, want %s", flag, got, want)
		}
	}
}

// Each default names a flag that exists, and says why it differs from upstream's.
func TestDefaultsTable(t *testing.T) {
	flags := NewOptions().FlagSet()
	for _, d := range defaults(testPaths) {
		flag := flags.Lookup(d.flag)
		if flag == nil {
			t.Errorf("--%s is no flag of kube-apiserver", d.flag)
			continue
		}
		if d.reason == "" || flag.DefValue == d.value {
			t.Errorf("--%s: the default %q is upstream's, or has no reason", d.flag, d.value)
		}
		for _, other := range d.unless {
			if flags.Lookup(other) == nil {
				t.Errorf("--%s: --%s is no flag of kube-apiserver", d.flag, other)
			}
		}
	}
}

// A given flag speaks for its other half too, and a list is not the default and more.
func TestGivenFlagsReplaceDefaults(t *testing.T) {
	options := withDefaults(t, "tls-cert-file", "authorization-mode", "service-account-signing-endpoint")
	for _, flag := range []string{"tls-private-key-file", "service-account-key-file", "service-account-signing-key-file"} {
		if got := options.FlagSet().Lookup(flag).Value.String(); got != "" && got != "[]" {
			t.Errorf("--%s is still %s", flag, got)
		}
	}
	if err := options.FlagSet().Set("authorization-mode", "RBAC"); err != nil {
		t.Fatal(err)
	}
	if got := options.FlagSet().Lookup("authorization-mode").Value.String(); got != "[RBAC]" {
		t.Errorf("--authorization-mode is %s, want [RBAC]", got)
	}
}

func TestServiceAccountPluginIsOffUnlessAskedFor(t *testing.T) {
	for _, test := range []struct {
		flag string
		off  bool
	}{{"", true}, {"enable-admission-plugins", false}} {
		options := withDefaults(t)
		if test.flag != "" {
			if err := options.FlagSet().Set(test.flag, "ServiceAccount"); err != nil {
				t.Fatal(err)
			}
		}
		options.completeAdmission()
		if off := slices.Contains(options.run.Admission.GenericAdmission.DisablePlugins, "ServiceAccount"); off != test.off {
			t.Errorf("with --%s: off is %t, want %t", test.flag, off, test.off)
		}
	}
}

// A server on a loopback address advertises no endpoints; one on another does.
func TestAdvertise(t *testing.T) {
	for _, test := range []struct{ bind, advertise, reconciler string }{
		{"127.0.0.1", "127.0.0.1", "none"},
		{"::1", "::1", "none"},
		{"192.0.2.7", "", "lease"},
	} {
		options := withDefaults(t)
		options.run.SecureServing.BindAddress = net.ParseIP(test.bind)
		options.completeLoopback()
		advertise := ""
		if ip := options.run.GenericServerRunOptions.AdvertiseAddress; ip != nil {
			advertise = ip.String()
		}
		if advertise != test.advertise || options.run.EndpointReconcilerType != test.reconciler {
			t.Errorf("bound to %s: advertises %q with reconciler %s, want %q and %s",
				test.bind, advertise, options.run.EndpointReconcilerType, test.advertise, test.reconciler)
		}
	}
}

func TestServiceIP(t *testing.T) {
	for cidrs, want := range map[string]string{"10.0.0.0/24": "10.0.0.1", "10.96.0.0/16,fd00::/112": "10.96.0.1", "fd00:1::/112": "fd00:1::1"} {
		if got, err := ServiceIP(cidrs); err != nil || got.String() != want {
			t.Errorf("ServiceIP(%q) is %v (%v), want %s", cidrs, got, err, want)
		}
	}
	if _, err := ServiceIP("10.0.0.0"); fault.Code(err) != fault.CodeUsage {
		t.Errorf("a wrong range: %v, want a usage error", err)
	}
}
