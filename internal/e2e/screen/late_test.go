package screen_test

import (
	"io"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/kapi-dev/kapi/internal/kapitest/peer"
)

// late is an address at which nobody listens until open.
type late struct {
	kubeconfig string
	address    string
	target     string
}

// lateServer leads to the server of a kubeconfig.
func lateServer(t testing.TB, kubeconfig, host string) *late {
	t.Helper()
	port, err := peer.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	l := &late{
		kubeconfig: filepath.Join(t.TempDir(), "kubeconfig"), target: strings.TrimPrefix(host, "https://"),
		address: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)),
	}
	config, err := clientcmd.LoadFromFile(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	for _, cluster := range config.Clusters {
		cluster.Server = "https://" + l.address
	}
	if err := clientcmd.WriteToFile(*config, l.kubeconfig); err != nil {
		t.Fatal(err)
	}
	return l
}

// open lets connections through from now on.
func (l *late) open(t testing.TB) {
	t.Helper()
	listener, err := net.Listen("tcp", l.address)
	if err != nil {
		t.Fatal(err)
	}
	var work sync.WaitGroup
	t.Cleanup(func() {
		_ = listener.Close() // it ends the loop below
		work.Wait()
	})
	work.Go(func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", l.target)
			if err != nil {
				_ = from.Close() // the client sees it, and tries again
				continue
			}
			work.Go(func() { pipe(from, to) })
			work.Go(func() { pipe(to, from) })
		}
	})
}

// pipe copies until one of the two ends, and ends the other.
func pipe(from, to net.Conn) {
	_, _ = io.Copy(to, from) // its end is what was waited for
	_ = to.Close()
	_ = from.Close()
}
