package chain

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apiserver/pkg/server/flagz"
	cliflag "k8s.io/component-base/cli/flag"
	kubeoptions "k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	"k8s.io/kubernetes/pkg/controlplane/reconcilers"
	serviceaccountadmission "k8s.io/kubernetes/plugin/pkg/admission/serviceaccount"

	"github.com/kapi-dev/kapi/internal/fault"
)

// Options are the options of kube-apiserver with kapi's defaults: flags can be
// set until Complete is called.
type Options struct {
	run   *kubeoptions.ServerRunOptions
	flags cliflag.NamedFlagSets
	all   *pflag.FlagSet
}

// Paths are the files and addresses in kapi's defaults.
type Paths struct {
	ClusterCA, FrontProxyCA string
	ServingCert, ServingKey string
	ProxyCert, ProxyKey     string
	// ServiceAccountKey signs tokens, ServiceAccountPub verifies them.
	ServiceAccountKey, ServiceAccountPub string
	// EtcdServers are the URLs of etcd; of the embedded one, its socket.
	EtcdServers []string
	// Loopback says that only this machine can reach the server.
	Loopback bool
}

// NewOptions returns kube-apiserver's options, still with upstream's defaults.
// Feature gates and emulated versions are process-wide: their flags act on the
// process when package globals applies them, not on this value.
func NewOptions() *Options {
	o := &Options{run: kubeoptions.NewServerRunOptions()}
	o.flags = o.run.Flags()
	o.run.Flagz = flagz.NamedFlagSetsReader{FlagSets: o.flags}
	o.all = pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	for _, name := range o.flags.Order {
		o.all.AddFlagSet(o.flags.FlagSets[name])
	}
	return o
}

// Flags returns kube-apiserver's flags in upstream's named groups.
func (o *Options) Flags() cliflag.NamedFlagSets { return o.flags }

// FlagSet returns the same flags in one set: setting one sets the option.
func (o *Options) FlagSet() *pflag.FlagSet { return o.all }

// flagDefault is a default of kapi that differs from upstream's.
type flagDefault struct {
	flag, value string
	// unless names flags that, when given, speak for this one too: the other
	// half of a pair, or a file that holds the same setting.
	unless []string
	reason string
}

func defaults(p Paths) []flagDefault {
	var gates string
	if p.Loopback {
		gates = "APIResponseCompression=false"
	}
	servingPair := []string{"tls-cert-file", "tls-private-key-file", "cert-dir"}
	proxyPair := []string{"proxy-client-cert-file", "proxy-client-key-file"}
	tokenKeys := []string{"service-account-key-file", "service-account-signing-key-file", "service-account-signing-endpoint"}
	requestHeader := []string{"requestheader-client-ca-file"}
	return []flagDefault{
		{"client-ca-file", p.ClusterCA, nil, "kapi's own authority"},
		{"tls-cert-file", p.ServingCert, servingPair, "kapi's own certificate"},
		{"tls-private-key-file", p.ServingKey, servingPair, "its key"},
		{"requestheader-client-ca-file", p.FrontProxyCA, nil, "aggregated servers trust this authority"},
		{"requestheader-allowed-names", "front-proxy-client", requestHeader, "the one name that it signs"},
		{"requestheader-extra-headers-prefix", "X-Remote-Extra-", requestHeader, "the customary header"},
		{"requestheader-group-headers", "X-Remote-Group", requestHeader, "the customary header"},
		{"requestheader-username-headers", "X-Remote-User", requestHeader, "the customary header"},
		{"proxy-client-cert-file", p.ProxyCert, proxyPair, "the aggregator shows it to aggregated servers"},
		{"proxy-client-key-file", p.ProxyKey, proxyPair, "its key"},
		{"service-account-key-file", p.ServiceAccountPub, tokenKeys, "verifies tokens"},
		{"service-account-signing-key-file", p.ServiceAccountKey, tokenKeys, "signs tokens"},
		{"service-account-issuer", "https://kubernetes.default.svc.cluster.local", nil, "the customary issuer"},
		{"service-cluster-ip-range", DefaultServiceCIDR, nil, "upstream's own default, which it wants to be said"},
		{"etcd-servers", strings.Join(p.EtcdServers, ","), nil, "the embedded etcd, or the external one"},
		{"authorization-mode", "Node,RBAC", []string{"authorization-config"}, "upstream's is AlwaysAllow"},
		{"enable-admission-plugins", "NodeRestriction", nil, "a node may change only what is its own"},
		{"enable-aggregator-routing", "true", nil, "without kube-proxy a cluster IP leads nowhere"},
		{"allow-privileged", "true", nil, "whether a pod may be privileged is for admission to say"},
		{"profiling", "false", nil, "CIS benchmark: not without being asked for"},
		{"feature-gates", gates, nil, "over loopback gzip costs two thirds of a large list, and saves nothing"},
		{"shutdown-watch-termination-grace-period", "2s", nil, "watches end with a clean close"},
	}
}

// Default sets kapi's defaults, except those of flags that are given. It must
// come before the given flags are set: most lists grow with each Set, so that a
// default can't be replaced afterwards.
func (o *Options) Default(p Paths, given func(flag string) bool) error {
	for _, d := range defaults(p) {
		// Gates are by name, and a later one wins: given ones come on top.
		replaced := d.flag != "feature-gates" && given(d.flag)
		if d.value == "" || replaced || slices.ContainsFunc(d.unless, given) {
			continue
		}
		if err := o.all.Set(d.flag, d.value); err != nil {
			return fmt.Errorf("setting the default of --%s: %w", d.flag, err)
		}
	}
	return nil
}

// Completed are options that a chain can be built from.
type Completed = kubeoptions.CompletedOptions

// Around says what else runs in the process beside the chain.
type Around struct {
	// Etcd says that the store is kapi's own.
	Etcd bool
	// ServiceAccounts says that a controller makes the service accounts of namespaces.
	ServiceAccounts bool
}

// Complete derives what was not set, and validates. The options serve on listener.
func (o *Options) Complete(ctx context.Context, listener net.Listener, around Around) (Completed, error) {
	o.run.SecureServing.Listener = listener
	if address, ok := listener.Addr().(*net.TCPAddr); ok {
		o.run.SecureServing.BindPort, o.run.SecureServing.BindAddress = address.Port, address.IP
	}
	o.completeLoopback()
	if !around.ServiceAccounts {
		o.completeAdmission()
	}
	if around.Etcd {
		// The backend compacts, once for all stores.
		o.run.Etcd.StorageConfig.CompactionInterval = 0
	}
	completed, err := o.run.Complete(ctx)
	if err != nil {
		return Completed{}, fault.Usage(fmt.Errorf("completing options of kube-apiserver: %w", err))
	}
	if errs := completed.Validate(); len(errs) > 0 {
		return Completed{}, fault.Usage(fmt.Errorf("validating options of kube-apiserver: %w", utilerrors.NewAggregate(errs)))
	}
	return completed, nil
}

// completeLoopback settles what is advertised by a server that only this
// machine can reach: itself, and no endpoint for others. Endpoints refuse
// loopback addresses, and any other address would be a lie.
func (o *Options) completeLoopback() {
	if !o.run.SecureServing.BindAddress.IsLoopback() || len(o.run.GenericServerRunOptions.AdvertiseAddress) > 0 {
		return
	}
	o.run.GenericServerRunOptions.AdvertiseAddress = o.run.SecureServing.BindAddress
	if o.run.EndpointReconcilerType == string(reconcilers.LeaseEndpointReconcilerType) {
		o.run.EndpointReconcilerType = string(reconcilers.NoneEndpointReconcilerType)
	}
}

// completeAdmission turns the ServiceAccount plugin off unless it was asked
// for: it wants a service account in each namespace, and no controller makes
// them; with it no pod could be created.
func (o *Options) completeAdmission() {
	if len(o.run.Admission.PluginNames) > 0 {
		return // --admission-control, which is deprecated, says it all
	}
	plugins := o.run.Admission.GenericAdmission
	if slices.Contains(plugins.EnablePlugins, serviceaccountadmission.PluginName) ||
		slices.Contains(plugins.DisablePlugins, serviceaccountadmission.PluginName) {
		return
	}
	plugins.DisablePlugins = append(plugins.DisablePlugins, serviceaccountadmission.PluginName)
}

// DefaultServiceCIDR is the range of cluster IPs when none is given.
const DefaultServiceCIDR = "10.0.0.0/24"

// ServiceIP returns the cluster IP of Service default/kubernetes, which stands
// in the serving certificate, for a value of --service-cluster-ip-range.
func ServiceIP(cidrs string) (net.IP, error) {
	first, _, _ := strings.Cut(cidrs, ",")
	_, network, err := net.ParseCIDR(first)
	if err != nil {
		return nil, fault.Usage(fmt.Errorf("reading --service-cluster-ip-range: %w", err))
	}
	ip := slices.Clone(network.IP)
	ip[len(ip)-1]++
	return ip, nil
}

// StorageTimes returns how often the embedded etcd is to be compacted (0 never)
// and the timeouts of its health and readiness checks. Ask before Complete.
func (o *Options) StorageTimes() (compaction, health, ready time.Duration) {
	cfg := o.run.Etcd.StorageConfig
	return cfg.CompactionInterval, cfg.HealthcheckTimeout, cfg.ReadycheckTimeout
}
