package peer

import (
	"context"
	"fmt"
	"net"
)

// EtcdArguments are those of an etcd with one member, without TLS, as
// controller-runtime's envtest gives them. Its clients use http://127.0.0.1:CLIENTPORT.
func EtcdArguments(dataDir string, clientPort, peerPort int) []string {
	url := fmt.Sprintf("http://127.0.0.1:%d", clientPort)
	peerURL := fmt.Sprintf("http://127.0.0.1:%d", peerPort)
	return []string{
		"--data-dir=" + dataDir,
		"--listen-client-urls=" + url,
		"--advertise-client-urls=" + url,
		"--listen-peer-urls=" + peerURL,
		"--initial-advertise-peer-urls=" + peerURL,
		"--initial-cluster=default=" + peerURL,
	}
}

// APIServerArguments are those of a kube-apiserver on https://127.0.0.1:PORT, as
// envtest gives them. dir is for certificates that it may make itself.
func APIServerArguments(dir string, pki *PKI, etcdURL string, port int) []string {
	return []string{
		"--etcd-servers=" + etcdURL,
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", port),
		"--cert-dir=" + dir,
		"--tls-cert-file=" + pki.Path("apiserver.crt"),
		"--tls-private-key-file=" + pki.Path("apiserver.key"),
		"--client-ca-file=" + pki.Path("ca.crt"),
		"--authorization-mode=RBAC",
		"--service-cluster-ip-range=10.0.0.0/24",
		fmt.Sprintf("--service-account-issuer=https://127.0.0.1:%d/", port),
		"--service-account-key-file=" + pki.Path("service-account.key"),
		"--service-account-signing-key-file=" + pki.Path("service-account.key"),
		"--disable-admission-plugins=ServiceAccount",
		"--allow-privileged=true",
		"--endpoint-reconciler-type=none", // it refuses loopback addresses
	}
}

// FreePort returns a TCP port of 127.0.0.1 that was free a moment ago.
func FreePort() (int, error) {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("finding a free port: %w", err)
	}
	defer listener.Close()
	address, err := net.ResolveTCPAddr("tcp", listener.Addr().String())
	if err != nil {
		return 0, fmt.Errorf("finding a free port: %w", err)
	}
	return address.Port, nil
}
