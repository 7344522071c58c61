package pki

import (
	"fmt"
	"os"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kapi-dev/kapi/internal/datadir"
)

// Names in the admin kubeconfig.
const (
	ClusterName = "kapi"
	UserName    = "kapi-admin"
	ContextName = "kapi"
)

// Kubeconfig returns the kubeconfig, as YAML, with which kapi-admin reaches the
// server at url (https://host:port). The certificates and the key are embedded:
// it holds a secret.
func (m *Material) Kubeconfig(url string) ([]byte, error) {
	var files [3][]byte
	for i, path := range []string{m.ClusterCA.Cert, m.Admin.Cert, m.Admin.Key} {
		var err error
		if files[i], err = os.ReadFile(path); err != nil {
			return nil, fmt.Errorf("building the kubeconfig: %w", err)
		}
	}
	c := clientcmdapi.NewConfig()
	c.Clusters[ClusterName] = &clientcmdapi.Cluster{Server: url, CertificateAuthorityData: files[0]}
	c.AuthInfos[UserName] = &clientcmdapi.AuthInfo{ClientCertificateData: files[1], ClientKeyData: files[2]}
	c.Contexts[ContextName] = &clientcmdapi.Context{Cluster: ClusterName, AuthInfo: UserName}
	c.CurrentContext = ContextName
	data, err := clientcmd.Write(*c)
	if err != nil {
		return nil, fmt.Errorf("building the kubeconfig: %w", err)
	}
	return data, nil
}

// WriteKubeconfig writes Kubeconfig(url) to path, atomically and with mode 0600.
func (m *Material) WriteKubeconfig(path, url string) error {
	data, err := m.Kubeconfig(url)
	if err != nil {
		return err
	}
	return datadir.WriteFileAtomic(path, data, 0o600)
}
