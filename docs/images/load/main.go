// Command load is the life of the server in the pictures of the documentation: it
// fills a namespace with config maps, and then sends what a small cluster sends, as
// several users, until it is stopped. docs/images/make runs it.
//
// It is no benchmark: its rates are low, and the same on every machine.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

// request is something that a client sends again and again. A # in path and body is
// replaced by a number that counts up.
type request struct {
	// user is who sends it, agent with what; an empty user is the kubeconfig's own.
	user, agent string
	// every is the time between two of them, 0 sends one that stays open.
	every              time.Duration
	method, path, body string
}

const (
	namespace  = "/api/v1/namespaces/shop"
	configMaps = namespace + "/configmaps"
	widgets    = "/apis/example.com/v1/namespaces/shop/widgets"
)

// requests is the life of the server. One client asks far too often, one may not do
// what it does, one asks for what is not there.
var requests = []request{
	{"system:serviceaccount:shop:deployer", "deployer/1.4", 40 * time.Millisecond, "GET", configMaps + "?limit=50", ""},
	{"system:serviceaccount:shop:deployer", "deployer/1.4", 900 * time.Millisecond, "PUT", configMaps + "/checkout", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"checkout"},"data":{"currency":"EUR","revision":"#"}}`},
	{"system:serviceaccount:shop:operator", "widget-operator/0.9", 500 * time.Millisecond, "GET", widgets, ""},
	{"system:serviceaccount:shop:operator", "widget-operator/0.9", 0, "GET", widgets + "?watch=true", ""},
	{"system:serviceaccount:shop:operator", "widget-operator/0.9", 700 * time.Millisecond, "PATCH", widgets + "/large", `{"spec":{"size":#}}`},
	{"alice", "kubectl/v1.37.2", 1100 * time.Millisecond, "GET", namespace + "/secrets", ""},
	{"alice", "kubectl/v1.37.2", 1700 * time.Millisecond, "GET", configMaps + "/checkout", ""},
	{"bob", "ci/3.2", 2300 * time.Millisecond, "POST", "/api/v1/namespaces/kube-system/pods?dryRun=All", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"job-#"},"spec":{"containers":[{"name":"job","image":"job"}]}}`},
	{"system:anonymous", "scanner", 5300 * time.Millisecond, "GET", "/api/v1/nodes", ""},
	{"", "scraper/2.0", 3100 * time.Millisecond, "GET", "/apis/apps/v1/deployments", ""},
	{"", "scraper/2.0", 2900 * time.Millisecond, "GET", namespace + "/pods/web-0", ""},
	{"", "scraper/2.0", 6100 * time.Millisecond, "GET", "/apis/metrics.k8s.io/v1beta1/pods", ""},
	{"", "informer/1", 0, "GET", "/api/v1/configmaps?watch=true&fieldSelector=metadata.namespace%3Dshop", ""},
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("load", flag.ContinueOnError)
	kubeconfig := flags.String("kubeconfig", "", "kubeconfig of the server")
	count := flags.Int("config-maps", 2000, "how many config maps there are to be")
	slower := flags.Int("slower", 1, "how many times slower it is than it could be")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *slower < 1 {
		return fmt.Errorf("-slower %d is less than 1", *slower)
	}
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return fmt.Errorf("reading the kubeconfig: %w", err)
	}
	if err := fill(ctx, config, *count); err != nil {
		return err
	}
	fmt.Println("filled")
	var work sync.WaitGroup
	for _, r := range requests {
		client, err := clientOf(config, r)
		if err != nil {
			return err
		}
		r.every *= time.Duration(*slower)
		work.Go(func() { repeat(ctx, client, config.Host, r) })
	}
	work.Wait()
	return nil
}

// fill makes the config maps, a few at a time.
func fill(ctx context.Context, config *rest.Config, count int) error {
	r := request{user: "system:serviceaccount:shop:deployer", agent: "deployer/1.4", method: "POST", path: configMaps}
	client, err := clientOf(config, r)
	if err != nil {
		return err
	}
	const writers = 8
	failures := make([]error, writers)
	var work sync.WaitGroup
	for writer := range writers {
		work.Go(func() {
			for i := writer; i < count && failures[writer] == nil; i += writers {
				r := r
				r.body = fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"order-%05d","labels":{"app":"shop"}},"data":{"items":%q}}`, i, strings.Repeat("tea ", 40+i%200))
				failures[writer] = send(ctx, client, config.Host, r, i)
			}
		})
	}
	work.Wait()
	return errors.Join(failures...)
}

func clientOf(config *rest.Config, r request) (*http.Client, error) {
	own := rest.CopyConfig(config)
	own.UserAgent, own.Impersonate.UserName = r.agent, r.user
	if r.user == "system:anonymous" {
		own = rest.AnonymousClientConfig(own)
		own.UserAgent = r.agent
	}
	client, err := rest.HTTPClientFor(own)
	if err != nil {
		return nil, fmt.Errorf("making a client for %s: %w", r.agent, err)
	}
	return client, nil
}

// repeat sends a request until the end. What the server answers is its own affair.
func repeat(ctx context.Context, client *http.Client, host string, r request) {
	every := r.every
	if every == 0 {
		every = time.Second // until it is open again
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for i := 1; ; i++ {
		_ = send(ctx, client, host, r, i)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// send sends a request and reads the answer to its end, which a watch has only when
// the load is stopped. Only no answer, or no success, is an error.
func send(ctx context.Context, client *http.Client, host string, r request, i int) error {
	number := fmt.Sprint(i)
	body := strings.ReplaceAll(r.body, "#", number)
	q, err := http.NewRequestWithContext(ctx, r.method, host+strings.ReplaceAll(r.path, "#", number), bytes.NewReader([]byte(body)))
	if err != nil {
		return fmt.Errorf("making a request: %w", err)
	}
	q.Header.Set("Content-Type", "application/json")
	if r.method == http.MethodPatch {
		q.Header.Set("Content-Type", "application/merge-patch+json")
	}
	answer, err := client.Do(q)
	if err != nil {
		return fmt.Errorf("sending a request: %w", err)
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body) // only that it was all sent counts
	if answer.StatusCode >= 400 {
		return fmt.Errorf("%s %s: %s", r.method, r.path, answer.Status)
	}
	return nil
}
