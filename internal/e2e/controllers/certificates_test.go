package controllers_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"slices"
	"testing"

	certificatesv1 "k8s.io/api/certificates/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kapi-dev/kapi/internal/kapitest"
)

// signingRequest is somebody's request for a certificate.
type signingRequest struct {
	signer string
	name   string   // common name
	groups []string // organizations
	hosts  []string // alternative names
	usages []certificatesv1.KeyUsage

	key []byte // PEM, of object
	is  string // name of the object, of submit
}

// object makes a key, and the object to be created.
func (r *signingRequest) object(t testing.TB) *certificatesv1.CertificateSigningRequest {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	r.key = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	request, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject: pkix.Name{CommonName: r.name, Organization: r.groups}, DNSNames: r.hosts,
	}, key)
	if err != nil {
		t.Fatal(err)
	}
	return &certificatesv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-"},
		Spec: certificatesv1.CertificateSigningRequestSpec{
			Request:    pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: request}),
			SignerName: r.signer, Usages: append(slices.Clone(r.usages), certificatesv1.UsageDigitalSignature),
		},
	}
}

// submit creates the object as somebody whose role may be in force a moment later.
func (r *signingRequest) submit(t testing.TB, config *rest.Config) {
	t.Helper()
	requests, csr := clientOf(t, config).CertificatesV1().CertificateSigningRequests(), r.object(t)
	eventually(t, func(ctx context.Context) error {
		created, err := requests.Create(ctx, csr, metav1.CreateOptions{})
		if err == nil {
			r.is = created.Name
		}
		return err
	})
}

func clientOf(t testing.TB, config *rest.Config) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// await waits for the certificate, and returns it as PEM.
func (r *signingRequest) await(t testing.TB, client kubernetes.Interface) []byte {
	t.Helper()
	var certificate []byte
	eventually(t, func(ctx context.Context) error {
		current, err := client.CertificatesV1().CertificateSigningRequests().Get(ctx, r.is, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if certificate = current.Status.Certificate; len(certificate) == 0 {
			return fmt.Errorf("the request for %s of %s is not signed: %+v", r.signer, r.name, current.Status.Conditions)
		}
		return nil
	})
	return certificate
}

// config is that of a client with the certificate.
func (r *signingRequest) config(t testing.TB, server *kapitest.Server, certificate []byte) *rest.Config {
	t.Helper()
	config := rest.AnonymousClientConfig(server.Config(t))
	config.CertData, config.KeyData = certificate, r.key
	return config
}

// TestClientCertificate is a certificate as people get one: a request, kubectl's
// approval, and it says who they are.
func TestClientCertificate(t *testing.T) {
	t.Parallel()
	server := kapitest.Shared(t)
	client := server.Client(t)
	request := &signingRequest{
		signer: certificatesv1.KubeAPIServerClientSignerName, name: "jane", groups: []string{"developers"},
		usages: []certificatesv1.KeyUsage{certificatesv1.UsageClientAuth},
	}
	request.submit(t, server.Config(t))
	server.Run(t, "kubectl", "certificate", "approve", request.is)
	user, err := whoAmI(t, request.config(t, server, request.await(t, client)))
	if err != nil || user.Username != "jane" || !slices.Contains(user.Groups, "developers") {
		t.Errorf("with the certificate: %v %+v", err, user)
	}
}

// TestDeniedCertificate: what is denied or has a signer of somebody else's is not
// signed, while another request is.
func TestDeniedCertificate(t *testing.T) {
	t.Parallel()
	server := kapitest.Shared(t)
	client := server.Client(t)
	requests := client.CertificatesV1().CertificateSigningRequests()
	usages := []certificatesv1.KeyUsage{certificatesv1.UsageClientAuth}
	denied := &signingRequest{signer: certificatesv1.KubeAPIServerClientSignerName, name: "mallory", usages: usages}
	denied.submit(t, server.Config(t))
	server.Run(t, "kubectl", "certificate", "deny", denied.is)
	foreign := &signingRequest{signer: "e2e.test/signer", name: "mallory", usages: usages}
	foreign.submit(t, server.Config(t))
	server.Run(t, "kubectl", "certificate", "approve", foreign.is)
	master := &signingRequest{signer: certificatesv1.KubeAPIServerClientSignerName, name: "mallory", groups: []string{"system:masters"}, usages: usages}
	if _, err := requests.Create(t.Context(), master.object(t), metav1.CreateOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("a request for system:masters: %v", err)
	}

	good := &signingRequest{signer: certificatesv1.KubeAPIServerClientSignerName, name: "jane", usages: usages}
	good.submit(t, server.Config(t))
	server.Run(t, "kubectl", "certificate", "approve", good.is)
	good.await(t, client)
	for _, r := range []*signingRequest{denied, foreign} {
		csr, err := requests.Get(t.Context(), r.is, metav1.GetOptions{})
		if err != nil || len(csr.Status.Certificate) > 0 {
			t.Errorf("the request of %s, signer %s: %v, certificate %q", r.name, r.signer, err, csr.Status.Certificate)
		}
	}
}

// TestNodeCertificates is the life of a node's certificates: bootstrap, renewal,
// and one to serve with, which a person approves.
func TestNodeCertificates(t *testing.T) {
	t.Parallel()
	server := kapitest.Shared(t)
	client := server.Client(t)
	for role, group := range map[string]string{
		"system:node-bootstrapper": "system:bootstrappers",
		"system:certificates.k8s.io:certificatesigningrequests:nodeclient":     "system:bootstrappers",
		"system:certificates.k8s.io:certificatesigningrequests:selfnodeclient": "system:nodes",
	} {
		if _, err := client.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: group}},
		}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	node := signingRequest{
		signer: certificatesv1.KubeAPIServerClientKubeletSignerName, name: "system:node:e2e-certified", groups: []string{"system:nodes"},
		usages: []certificatesv1.KeyUsage{certificatesv1.UsageClientAuth},
	}
	bootstrap := server.Config(t)
	bootstrap.Impersonate = rest.ImpersonationConfig{UserName: "system:bootstrap:e2e000", Groups: []string{"system:bootstrappers", "system:authenticated"}}
	first := node
	first.submit(t, bootstrap)
	config := first.config(t, server, first.await(t, client))
	user, err := whoAmI(t, config)
	if err != nil || user.Username != node.name || !slices.Contains(user.Groups, "system:nodes") {
		t.Errorf("with the node's first certificate: %v %+v", err, user)
	}

	renewed := node
	renewed.submit(t, config)
	renewed.await(t, client)

	serving := signingRequest{
		signer: certificatesv1.KubeletServingSignerName, name: node.name, groups: node.groups, hosts: []string{"e2e-certified"},
		usages: []certificatesv1.KeyUsage{certificatesv1.UsageServerAuth},
	}
	serving.submit(t, config)
	server.Run(t, "kubectl", "certificate", "approve", serving.is)
	block, _ := pem.Decode(serving.await(t, client))
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil || !slices.Equal(certificate.DNSNames, []string{"e2e-certified"}) || !slices.Equal(certificate.ExtKeyUsage, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}) {
		t.Errorf("the certificate to serve with: %v %+v", err, certificate)
	}
}
