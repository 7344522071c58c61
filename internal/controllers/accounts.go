package controllers

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
	bootstrapapi "k8s.io/cluster-bootstrap/token/api"
	"k8s.io/component-base/featuregate"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/bootstrap"
	"k8s.io/kubernetes/pkg/controller/certificates/approver"
	"k8s.io/kubernetes/pkg/controller/certificates/cleaner"
	"k8s.io/kubernetes/pkg/controller/certificates/clustertrustbundlepublisher"
	"k8s.io/kubernetes/pkg/controller/certificates/rootcacertpublisher"
	"k8s.io/kubernetes/pkg/controller/certificates/signer"
	accounts "k8s.io/kubernetes/pkg/controller/serviceaccount"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/serviceaccount"
	"k8s.io/utils/clock"

	"github.com/kapi-dev/kapi/internal/controllers/catalog"
)

// Defaults of kube-controller-manager; see api.go.
const (
	tokenWorkers       = 5
	tokenCleanUp       = 365 * 24 * time.Hour
	certificateWorkers = 5
	certificateLife    = 365 * 24 * time.Hour
	podRequestLife     = 15 * time.Minute
	podRequestCheck    = 5 * time.Minute
)

// accountConstructors are those of the controllers that make and take back what
// somebody identifies himself with.
func accountConstructors() map[string]constructor {
	requests := []schema.GroupVersionResource{resource("certificates.k8s.io", "v1", "certificatesigningrequests")}
	return map[string]constructor{
		catalog.ServiceAccount:                 {make: with(makeServiceAccounts)},
		catalog.ServiceAccountToken:            {off: foreignKey, make: with(makeTokens)},
		"legacy-service-account-token-cleaner": {make: with(makeTokenCleaner)},
		"root-ca-cert-publisher":               {make: with(makeRootCAPublisher)},
		"csrapproving":                         {resources: requests, make: with(makeApprover)},
		catalog.CSRSigning:                     {resources: requests, off: func(cfg Config) string { return cfg.WhyNotSigning }, make: with(makeSigners)},
		"csrcleaner":                           {resources: requests, make: with(makeRequestCleaner)},
		"podcertificaterequest-cleaner": {gates: []featuregate.Feature{features.PodCertificateRequest},
			resources: []schema.GroupVersionResource{resource("certificates.k8s.io", "v1", "podcertificaterequests")}, make: with(makePodRequestCleaner)},
		"clustertrustbundle-publisher": {gates: []featuregate.Feature{features.ClusterTrustBundle}, anyOf: trustBundles(), off: noAuthority, make: with(makeTrustBundlePublisher)},
		"bootstrapsigner":              {make: with(makeBootstrapSigner)},
		"tokencleaner":                 {make: with(makeBootstrapTokenCleaner)},
	}
}

// secrets are those of a type: all that a controller of tokens looks at, and on many
// servers few of very many.
func (t *term) secrets(kind corev1.SecretType) coreinformers.SecretInformer {
	return t.informers.Selected("type=" + string(kind)).Core().V1().Secrets()
}

// configMaps are those of a name, in all namespaces.
func (t *term) configMaps(name string) coreinformers.ConfigMapInformer {
	return t.informers.Selected("metadata.name=" + name).Core().V1().ConfigMaps()
}

func makeServiceAccounts(ctx context.Context, t *term, client kubernetes.Interface) (loop, error) {
	core := t.informers.Typed.Core().V1()
	made, err := accounts.NewServiceAccountsController(klog.FromContext(ctx), core.ServiceAccounts(), core.Namespaces(), client,
		accounts.DefaultServiceAccountsControllerOptions())
	if err != nil {
		return nil, err
	}
	return workers(made.Run, 1), nil
}

// foreignKey says why there are no tokens to be made.
func foreignKey(cfg Config) string {
	if cfg.ServiceAccountKey == "" {
		return "The key that signs tokens is not kapi's to use; see --service-account-signing-endpoint."
	}
	return ""
}

func makeTokens(ctx context.Context, t *term, client kubernetes.Interface) (loop, error) {
	key, err := keyutil.PrivateKeyFromFile(t.cfg.ServiceAccountKey)
	if err != nil {
		return nil, fmt.Errorf("reading the key that signs tokens: %w", err)
	}
	generator, err := serviceaccount.JWTTokenGenerator(serviceaccount.LegacyIssuer, key)
	if err != nil {
		return nil, fmt.Errorf("using the key that signs tokens: %w", err)
	}
	tokens, err := accounts.NewTokensController(klog.FromContext(ctx), t.informers.Typed.Core().V1().ServiceAccounts(), t.secrets(corev1.SecretTypeServiceAccountToken), client,
		accounts.TokensControllerOptions{TokenGenerator: generator, RootCA: t.cfg.RootCA})
	if err != nil {
		return nil, err
	}
	return workers(tokens.Run, tokenWorkers), nil
}

func makeTokenCleaner(_ context.Context, t *term, client kubernetes.Interface) (loop, error) {
	core := t.informers.Typed.Core().V1()
	tokens, err := accounts.NewLegacySATokenCleaner(core.ServiceAccounts(), t.secrets(corev1.SecretTypeServiceAccountToken), core.Pods(), client, clock.RealClock{},
		accounts.LegacySATokenCleanerOptions{CleanUpPeriod: tokenCleanUp, SyncInterval: accounts.DefaultCleanerSyncInterval})
	if err != nil {
		return nil, err
	}
	return tokens.Run, nil
}

func makeRootCAPublisher(_ context.Context, t *term, client kubernetes.Interface) (loop, error) {
	publisher, err := rootcacertpublisher.NewPublisher(t.configMaps(rootcacertpublisher.RootCACertConfigMapName),
		t.informers.Typed.Core().V1().Namespaces(), client, t.cfg.RootCA)
	if err != nil {
		return nil, err
	}
	return workers(publisher.Run, 1), nil
}

func makeApprover(ctx context.Context, t *term, client kubernetes.Interface) (loop, error) {
	return workers(approver.NewCSRApprovingController(ctx, client, t.informers.Typed.Certificates().V1().CertificateSigningRequests()).Run,
		certificateWorkers), nil
}

// makeSigners makes one signer for each of the names that Kubernetes signs for.
func makeSigners(ctx context.Context, t *term, client kubernetes.Interface) (loop, error) {
	requests := t.informers.Typed.Certificates().V1().CertificateSigningRequests()
	var loops []loop
	for name, construct := range map[string]func() (*signer.CSRSigningController, error){
		"kubelet-serving": func() (*signer.CSRSigningController, error) {
			return signer.NewKubeletServingCSRSigningController(ctx, client, requests, t.cfg.SigningCert, t.cfg.SigningKey, certificateLife)
		},
		"kube-apiserver-client-kubelet": func() (*signer.CSRSigningController, error) {
			return signer.NewKubeletClientCSRSigningController(ctx, client, requests, t.cfg.SigningCert, t.cfg.SigningKey, certificateLife)
		},
		"kube-apiserver-client": func() (*signer.CSRSigningController, error) {
			return signer.NewKubeAPIServerClientCSRSigningController(ctx, client, requests, t.cfg.SigningCert, t.cfg.SigningKey, certificateLife)
		},
		"legacy-unknown": func() (*signer.CSRSigningController, error) {
			return signer.NewLegacyUnknownCSRSigningController(ctx, client, requests, t.cfg.SigningCert, t.cfg.SigningKey, certificateLife)
		},
	} {
		signs, err := construct()
		if err != nil {
			return nil, fmt.Errorf("making the signer kubernetes.io/%s: %w", name, err)
		}
		loops = append(loops, workers(signs.Run, certificateWorkers))
	}
	return together(loops...), nil
}

func makeRequestCleaner(_ context.Context, t *term, client kubernetes.Interface) (loop, error) {
	return workers(cleaner.NewCSRCleanerController(client.CertificatesV1().CertificateSigningRequests(),
		t.informers.Typed.Certificates().V1().CertificateSigningRequests()).Run, 1), nil
}

func makePodRequestCleaner(_ context.Context, t *term, client kubernetes.Interface) (loop, error) {
	return workers(cleaner.NewPCRCleanerController(client, t.informers.Typed.Certificates().V1().PodCertificateRequests(),
		clock.RealClock{}, podRequestLife, podRequestCheck).Run, 1), nil
}

// trustBundles are the versions of the resource, the newest first.
func trustBundles() []schema.GroupVersionResource {
	const group, name = "certificates.k8s.io", "clustertrustbundles"
	return []schema.GroupVersionResource{resource(group, "v1", name), resource(group, "v1beta1", name), resource(group, "v1alpha1", name)}
}

// authorities are the certificates of authorities among those that verify the server:
// a trust bundle holds no others.
func authorities(certificates []byte) []byte {
	all, err := cert.ParseCertsPEM(certificates)
	if err != nil {
		return nil
	}
	found, err := cert.EncodeCertificates(slices.DeleteFunc(all, func(c *x509.Certificate) bool { return !c.IsCA })...)
	if err != nil {
		return nil
	}
	return found
}

func noAuthority(cfg Config) string {
	if len(authorities(cfg.RootCA)) == 0 {
		return "The authority of the server's certificate is not known; put it behind the certificate in --tls-cert-file."
	}
	return ""
}

// makeTrustBundlePublisher makes the publisher for the newest version of the API
// that is served.
func makeTrustBundlePublisher(_ context.Context, t *term, client kubernetes.Interface) (loop, error) {
	authority, err := dynamiccertificates.NewStaticCAContent("kube-apiserver-serving", authorities(t.cfg.RootCA))
	if err != nil {
		return nil, fmt.Errorf("reading the certificates that verify the server: %w", err)
	}
	constructs := map[string]func(string, dynamiccertificates.CAContentProvider, kubernetes.Interface) (clustertrustbundlepublisher.PublisherRunner, error){
		"v1":       clustertrustbundlepublisher.NewGAClusterTrustBundlePublisher,
		"v1beta1":  clustertrustbundlepublisher.NewBetaClusterTrustBundlePublisher,
		"v1alpha1": clustertrustbundlepublisher.NewAlphaClusterTrustBundlePublisher,
	}
	for _, r := range trustBundles() {
		if !t.served.Has(r) {
			continue
		}
		publisher, err := constructs[r.Version]("kubernetes.io/kube-apiserver-serving", authority, client)
		if err != nil {
			return nil, err
		}
		return publisher.Run, nil
	}
	return nil, errors.New("clustertrustbundles.certificates.k8s.io are not served any more")
}

func makeBootstrapSigner(_ context.Context, t *term, client kubernetes.Interface) (loop, error) {
	signs, err := bootstrap.NewSigner(client, t.secrets(corev1.SecretTypeBootstrapToken), t.configMaps(bootstrapapi.ConfigMapClusterInfo), bootstrap.DefaultSignerOptions())
	if err != nil {
		return nil, err
	}
	return signs.Run, nil
}

func makeBootstrapTokenCleaner(_ context.Context, t *term, client kubernetes.Interface) (loop, error) {
	cleans, err := bootstrap.NewTokenCleaner(client, t.secrets(corev1.SecretTypeBootstrapToken), bootstrap.DefaultTokenCleanerOptions())
	if err != nil {
		return nil, err
	}
	return cleans.Run, nil
}
