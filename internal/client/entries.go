package client

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"slices"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kapi-dev/kapi/internal/fault"
)

// entries are what Merge puts into a kubeconfig: a cluster and a context called
// name, and a user.
type entries struct {
	name, user string
	cluster    *clientcmdapi.Cluster
	authInfo   *clientcmdapi.AuthInfo
	namespace  string
}

// mergeTo changes config, or returns an error and leaves it as it is.
func (e *entries) mergeTo(config *clientcmdapi.Config) error {
	oldCluster, oldUser, oldContext := config.Clusters[e.name], config.AuthInfos[e.user], config.Contexts[e.name]
	if oldCluster != nil && !e.isOurCluster(oldCluster) {
		return e.clash("cluster", e.name, "leads to "+oldCluster.Server)
	}
	if oldContext != nil && (oldContext.Cluster != e.name || oldCluster == nil) {
		return e.clash("context", e.name, "is of cluster "+oldContext.Cluster)
	}
	if oldUser != nil && !e.isOurUser(oldUser, oldCluster, oldContext) {
		return e.clash("user", e.user, "has other credentials")
	}

	cluster := clientcmdapi.NewCluster()
	if oldCluster != nil {
		cluster = oldCluster.DeepCopy() // the user may have set a proxy
	}
	cluster.Server = e.cluster.Server
	cluster.TLSServerName = e.cluster.TLSServerName
	cluster.CertificateAuthority, cluster.CertificateAuthorityData = "", e.cluster.CertificateAuthorityData
	cluster.InsecureSkipTLSVerify = e.cluster.InsecureSkipTLSVerify
	config.Clusters[e.name] = cluster

	user := e.authInfo.DeepCopy()
	if oldUser != nil {
		user.Extensions = oldUser.Extensions
	}
	config.AuthInfos[e.user] = user

	context := clientcmdapi.NewContext()
	context.Namespace = e.namespace
	if oldContext != nil {
		context = oldContext.DeepCopy() // the user may have chosen a namespace
	}
	context.Cluster, context.AuthInfo = e.name, e.user
	config.Contexts[e.name] = context
	return nil
}

func (e *entries) clash(kind, name, what string) error {
	return fault.WithHint(fault.Usagef("it has a %s %q already, which %s and is not of this kapi", kind, name, what),
		"choose another name with --context-name")
}

// isOurCluster recognizes this kapi by its address or, as the port may have
// changed since, by an authority that both trust.
func (e *entries) isOurCluster(c *clientcmdapi.Cluster) bool {
	return c.Server == e.cluster.Server || commonCert(c.CertificateAuthorityData, e.cluster.CertificateAuthorityData)
}

// isOurUser accepts the user of our context, and one whose certificate was
// signed by this kapi, now or at the last merge.
func (e *entries) isOurUser(u *clientcmdapi.AuthInfo, cluster *clientcmdapi.Cluster, context *clientcmdapi.Context) bool {
	if context != nil && context.AuthInfo == e.user {
		return true // the context was found to be ours
	}
	authorities := certs(e.cluster.CertificateAuthorityData)
	if cluster != nil {
		authorities = append(authorities, certs(cluster.CertificateAuthorityData)...)
	}
	chain := certs(u.ClientCertificateData)
	return len(chain) > 0 && slices.ContainsFunc(authorities, func(ca *x509.Certificate) bool {
		return bytes.Equal(chain[0].RawIssuer, ca.RawSubject) && chain[0].CheckSignatureFrom(ca) == nil
	})
}

func commonCert(a, b []byte) bool {
	for _, x := range certs(a) {
		for _, y := range certs(b) {
			if x.Equal(y) {
				return true
			}
		}
	}
	return false
}

// certs returns the certificates in PEM data that can be read.
func certs(data []byte) []*x509.Certificate {
	var found []*x509.Certificate
	for {
		var block *pem.Block
		if block, data = pem.Decode(data); block == nil {
			return found
		}
		if c, err := x509.ParseCertificate(block.Bytes); err == nil {
			found = append(found, c)
		}
	}
}
