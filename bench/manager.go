package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kapi-dev/kapi/internal/controllers/catalog"
	"github.com/kapi-dev/kapi/internal/kapitest/peer"
)

// managerPackage is the third process of the peer where controllers run.
const managerPackage = "k8s.io/kubernetes/cmd/kube-controller-manager"

// startManager starts a kube-controller-manager beside the processes of inst and
// adds it to them. It does not wait for anything.
func (l *lab) startManager(s *side, so startOptions, inst *instance) error {
	port, err := peer.FreePort()
	if err != nil {
		return err
	}
	kubeconfig := filepath.Join(so.Dir, "manager.kubeconfig")
	if err := writeKubeconfig(kubeconfig, inst.config); err != nil {
		return err
	}
	p, err := l.startProcess(s, "kube-controller-manager of "+s.Label, l.bins.Manager,
		managerArguments(kubeconfig, l.peer, port, so.Manager))
	if err != nil {
		return err
	}
	inst.procs = append(inst.procs, p)
	inst.urls = append(inst.urls, fmt.Sprintf("https://127.0.0.1:%d", port))
	return nil
}

// managerArguments are those that kubeadm gives (a service account for each
// controller, the keys for tokens and certificates), without the election that one
// process does not need.
func managerArguments(kubeconfig string, pki *peer.PKI, port int, controllers string) []string {
	return []string{
		"--kubeconfig=" + kubeconfig,
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
		"--client-ca-file=" + pki.Path("ca.crt"),
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", port),
		"--tls-cert-file=" + pki.Path("apiserver.crt"),
		"--tls-private-key-file=" + pki.Path("apiserver.key"),
		"--root-ca-file=" + pki.Path("ca.crt"),
		"--cluster-signing-cert-file=" + pki.Path("ca.crt"),
		"--cluster-signing-key-file=" + pki.Path("ca.key"),
		"--service-account-private-key-file=" + pki.Path("service-account.key"),
		"--use-service-account-credentials=true",
		"--leader-elect=false",
		"--controllers=" + controllers,
	}
}

// managerNames is the value of kube-controller-manager's --controllers for
// controllers of kapi.
func managerNames(sets ...catalog.Set) string {
	var names []string
	for _, set := range sets {
		for _, name := range catalog.In(set) {
			names = append(names, managerName(name))
		}
	}
	return strings.Join(names, ",")
}

// managerName is the first alias; a short name is not known to
// kube-controller-manager where the controller is younger than its long names.
func managerName(name string) string {
	c, ok := catalog.Find(name)
	if !ok || len(c.Aliases) == 0 {
		return name
	}
	return c.Aliases[0]
}

func writeKubeconfig(file string, config *rest.Config) error {
	const name = "bench"
	err := clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{name: {Server: config.Host, CertificateAuthority: config.CAFile}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{
			name: {ClientCertificate: config.CertFile, ClientKey: config.KeyFile},
		},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name}},
		CurrentContext: name,
	}, file)
	if err != nil {
		return fmt.Errorf("writing the kubeconfig of kube-controller-manager: %w", err)
	}
	return nil
}
