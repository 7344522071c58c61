package main

import (
	"fmt"
	"net"
	"net/http"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const protobufType = "application/vnd.kubernetes.protobuf"

// loadClient is one of the clients of the load. It has one HTTP/2 connection,
// that no other client uses.
type loadClient struct {
	json    *kubernetes.Clientset
	proto   *kubernetes.Clientset // the same connection, protobuf
	plain   *kubernetes.Clientset // protobuf, a connection that asks for no compression
	dynamic *dynamic.DynamicClient
	http    []*http.Client
}

// newLoadClients returns n clients of the same user, without a rate limit.
func newLoadClients(config *rest.Config, n int) ([]*loadClient, error) {
	clients := make([]*loadClient, n)
	for i := range clients {
		c, err := newLoadClient(config)
		if err != nil {
			closeAll(clients[:i])
			return nil, fmt.Errorf("making a client: %w", err)
		}
		clients[i] = c
	}
	return clients, nil
}

func newLoadClient(config *rest.Config) (c *loadClient, err error) {
	base := rest.CopyConfig(config)
	base.QPS = -1
	base.UserAgent = "kapi-bench"
	base.ContentType, base.AcceptContentTypes = "application/json", "application/json"
	proto := rest.CopyConfig(base)
	proto.ContentType, proto.AcceptContentTypes = protobufType, protobufType
	plain := rest.CopyConfig(proto)
	plain.DisableCompression = true

	c = &loadClient{}
	shared, err := c.connection(base)
	if err != nil {
		return nil, err
	}
	if c.json, err = kubernetes.NewForConfigAndClient(base, shared); err != nil {
		return nil, err
	}
	if c.proto, err = kubernetes.NewForConfigAndClient(proto, shared); err != nil {
		return nil, err
	}
	if c.dynamic, err = dynamic.NewForConfigAndClient(base, shared); err != nil {
		return nil, err
	}
	uncompressed, err := c.connection(plain)
	if err != nil {
		return nil, err
	}
	c.plain, err = kubernetes.NewForConfigAndClient(plain, uncompressed)
	return c, err
}

// connection returns a client with a transport of its own. client-go shares
// transports between configs that look alike; a dial function of its own, which
// every call with Dial set has, makes them differ. Nothing is dialled yet.
func (c *loadClient) connection(config *rest.Config) (*http.Client, error) {
	own := rest.CopyConfig(config)
	own.Dial = (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	client, err := rest.HTTPClientFor(own)
	if err != nil {
		return nil, err
	}
	c.http = append(c.http, client)
	return client, nil
}

func closeAll(clients []*loadClient) {
	for _, c := range clients {
		for _, h := range c.http {
			utilnet.CloseIdleConnectionsFor(h.Transport)
		}
	}
}
