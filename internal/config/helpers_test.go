package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"

	"github.com/kapi-dev/kapi/internal/fault"
)

// kubeOptions are targets of flags with the value types that kube-apiserver uses.
type kubeOptions struct {
	featureGates  map[string][]string
	runtimeConfig cliflag.ConfigurationMap
	sniCerts      []cliflag.NamedCertKey
	plugins       []string
	keyFiles      []string
	anonymous     bool
	timeout       time.Duration
	inflight      int
	issuer        string
}

// kubeGroups is a small kube-apiserver flag set, owned names included.
func kubeGroups() (cliflag.NamedFlagSets, *kubeOptions) {
	o := &kubeOptions{runtimeConfig: cliflag.ConfigurationMap{}, featureGates: map[string][]string{}, plugins: []string{"Default"}}
	var groups cliflag.NamedFlagSets
	generic := groups.FlagSet("generic")
	generic.Var(cliflag.NewColonSeparatedMultimapStringStringAllowDefaultEmptyKey(&o.featureGates), "feature-gates", "Gates.")
	generic.DurationVar(&o.timeout, "request-timeout", time.Minute, "Timeout.")
	generic.IntVar(&o.inflight, "max-requests-inflight", 400, "Inflight.")
	generic.Var(&o.runtimeConfig, "runtime-config", "APIs.")
	serving := groups.FlagSet("secure serving")
	serving.String("bind-address", "0.0.0.0", "Owned.")
	serving.Int("secure-port", 6443, "Owned.")
	serving.Var(cliflag.NewNamedCertKeyArray(&o.sniCerts), "tls-sni-cert-key", "SNI.")
	auth := groups.FlagSet("authentication")
	auth.BoolVar(&o.anonymous, "anonymous-auth", true, "Anonymous.")
	auth.StringArrayVar(&o.keyFiles, "service-account-key-file", nil, "Keys.")
	auth.StringVar(&o.issuer, "service-account-issuer", "", "Issuer.")
	groups.FlagSet("admission").StringSliceVar(&o.plugins, "enable-admission-plugins", o.plugins, "Plugins.")
	etcd := groups.FlagSet("etcd")
	etcd.StringSlice("etcd-servers", nil, "Owned.")
	etcd.String("etcd-prefix", "/registry", "Owned.")
	logs := groups.FlagSet("logs")
	logs.IntP("v", "v", 0, "Owned.")
	logs.String("logging-format", "text", "Owned.")
	groups.FlagSet("global").BoolP("help", "h", false, "Help.")
	groups.FlagSet("global").String("version", "", "Version.")
	return groups, o
}

func flat(groups cliflag.NamedFlagSets) *pflag.FlagSet {
	fs := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	for _, name := range groups.Order {
		fs.AddFlagSet(groups.FlagSets[name])
	}
	return fs
}

func kubeFlags() *pflag.FlagSet {
	groups, _ := kubeGroups()
	return flat(groups)
}

// commandLine parses args with kapi's flags and kube-apiserver's.
func commandLine(t *testing.T, args ...string) (flags, kube *pflag.FlagSet) {
	t.Helper()
	flags = pflag.NewFlagSet("serve", pflag.ContinueOnError)
	groups, _ := kubeGroups()
	AddFlags(flags)
	KubeFlagSets(flags, groups)
	if err := flags.Parse(args); err != nil {
		t.Fatalf("parsing %q: %v", args, err)
	}
	return flags, flat(groups)
}

// write makes a configuration file and returns its path.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kapi.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func mustLoad(t *testing.T, o LoadOptions) *Loaded {
	t.Helper()
	l, err := Load(o)
	if err != nil {
		t.Fatalf("loading: %v", err)
	}
	return l
}

// wantErrors loads and demands an error of usage with all the texts, of which
// FILE stands for the path of the file.
func wantErrors(t *testing.T, o LoadOptions, texts ...string) {
	t.Helper()
	_, err := Load(o)
	if err == nil {
		t.Fatal("loading went well, want an error")
	}
	if code := fault.Code(err); code != fault.CodeUsage {
		t.Errorf("exit code %d, want %d", code, fault.CodeUsage)
	}
	for _, text := range texts {
		text = strings.ReplaceAll(text, "FILE", o.File)
		if !strings.Contains(err.Error(), text) {
			t.Errorf("error\n%v\ndoes not hold\n%s", err, text)
		}
	}
}
