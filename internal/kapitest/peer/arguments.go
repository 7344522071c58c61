package peer

import (
	"context"
	"fmt"
	"math/rand/v2"
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

// FreePort returns a TCP port of 127.0.0.1 that was free a moment ago. It is below
// those that a system chooses by itself: nobody who takes any port, to listen or to
// connect, gets it before the server that it is for.
func FreePort() (int, error) {
	const lowest, ports, tries = 10_000, 20_000, 100
	var err error
	for range tries {
		port := lowest + rand.IntN(ports)
		var listener net.Listener
		if listener, err = new(net.ListenConfig).Listen(context.Background(), "tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			return port, listener.Close()
		}
	}
	return 0, fmt.Errorf("finding a free port: %w", err)
}
