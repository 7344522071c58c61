package screen_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

// sent is a request that a client sends again and again.
type sent struct {
	user, agent string
	every       time.Duration
	path        string
}

// life is what goes on in the server: one client asks far more often than the others,
// one may not do what it does, one asks a server that is not there.
var life = []sent{
	{"", "scraper/2.0", 300 * time.Millisecond, "/apis/example.com/v1/namespaces/shop/widgets"},
	{"system:serviceaccount:shop:deployer", "deployer/1.4", 50 * time.Millisecond, "/api/v1/namespaces/shop/configmaps?limit=50"},
	{"alice", "kubectl/v1.37", 400 * time.Millisecond, "/api/v1/namespaces/shop/secrets"},
	{"", "scraper/2.0", 700 * time.Millisecond, "/apis/metrics.k8s.io/v1beta1/pods"},
}

// startLoad sends them until ctx ends.
func startLoad(ctx context.Context, work *sync.WaitGroup, config *rest.Config) error {
	for _, each := range life {
		own := rest.CopyConfig(config)
		own.UserAgent, own.Impersonate.UserName = each.agent, each.user
		client, err := rest.HTTPClientFor(own)
		if err != nil {
			return err
		}
		work.Go(func() {
			ticker := time.NewTicker(each.every)
			defer ticker.Stop()
			for {
				each.send(ctx, client, config.Host)
				select {
				case <-ctx.Done():
					return
				case <-ticker.C:
				}
			}
		})
	}
	return nil
}

// send asks once. What the server answers is its own affair.
func (s sent) send(ctx context.Context, client *http.Client, host string) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(host, "/")+s.path, http.NoBody)
	if err != nil {
		return
	}
	answer, err := client.Do(request)
	if err != nil {
		return
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body) // only that it was all sent counts
}
