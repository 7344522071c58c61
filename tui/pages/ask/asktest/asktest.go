// Package asktest is a client for tests of pages that ask, and what the application
// does with what they ask. Only tests import it.
package asktest

import (
	"context"
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/ask"
)

// Client answers with what the test puts into it; what is nil fails. Deletes counts
// changes, of which no page here may ask for any.
type Client struct {
	Found         []data.Resource
	OnResources   func() ([]data.Resource, error)
	OnDescribe    func(name string) (string, error)
	OnStored      func(spec v1alpha1.StoredKeyQuerySpec) (*v1alpha1.StoredKeyQuery, error)
	OnExplain     func(spec v1alpha1.RouteExplanationSpec) (*v1alpha1.RouteExplanation, error)
	OnSend        func(spec v1alpha1.RouteExplanationSpec) (*v1alpha1.RequestTrace, error)
	Asked, Writes int
}

var _ data.Client = &Client{}

// errNone is the answer of what the test did not expect.
var errNone = errors.New("the test did not expect this to be asked")

// Server implements data.Client.
func (c *Client) Server() inspection.Server { return nil }

// Resources implements data.Client.
func (c *Client) Resources(context.Context) ([]data.Resource, error) {
	c.Asked++
	if c.OnResources != nil {
		return c.OnResources()
	}
	return c.Found, nil
}

// Get implements data.Client.
func (c *Client) Get(context.Context, schema.GroupVersionResource, string, string) (*unstructured.Unstructured, error) {
	c.Asked++
	return nil, errNone
}

// Describe implements data.Client.
func (c *Client) Describe(_ context.Context, _ schema.GroupVersionResource, _, name string) (string, error) {
	c.Asked++
	if c.OnDescribe == nil {
		return "", errNone
	}
	return c.OnDescribe(name)
}

// Stored implements data.Client.
func (c *Client) Stored(_ context.Context, spec v1alpha1.StoredKeyQuerySpec) (*v1alpha1.StoredKeyQuery, error) {
	c.Asked++
	if c.OnStored == nil {
		return nil, errNone
	}
	return c.OnStored(spec)
}

// Explain implements data.Client.
func (c *Client) Explain(_ context.Context, spec v1alpha1.RouteExplanationSpec) (*v1alpha1.RouteExplanation, error) {
	c.Asked++
	if c.OnExplain == nil {
		return nil, errNone
	}
	return c.OnExplain(spec)
}

// Send implements data.Client.
func (c *Client) Send(_ context.Context, spec v1alpha1.RouteExplanationSpec) (*v1alpha1.RequestTrace, error) {
	c.Asked++
	if c.OnSend == nil {
		return nil, errNone
	}
	return c.OnSend(spec)
}

// Delete implements data.Client.
func (c *Client) Delete(context.Context, schema.GroupVersionResource, string, string, types.UID) error {
	c.Writes++
	return errNone
}

// Run does what an effect asks for, and gives the page the answers, until it asks
// for nothing more. It returns the last effect.
func Run(t testing.TB, p page.Page, effect page.Effect) page.Effect {
	t.Helper()
	for range 20 {
		if effect.Run == nil {
			return effect
		}
		receiver, ok := p.(page.Receiver)
		if !ok {
			t.Fatalf("%s asks and does not receive", p.Title())
		}
		effect = receiver.Receive(effect.Run(t.Context()))
	}
	t.Fatalf("%s never stops asking", p.Title())
	return page.Effect{}
}

// Opened does to a page what the application does when it is opened: it gets the
// frame, and answers to what it asks.
func Opened(t testing.TB, p page.Page, frame data.Frame) page.Effect {
	t.Helper()
	p.Update(frame)
	if asker, ok := p.(ask.Asker); ok {
		return Run(t, p, asker.Ask())
	}
	return page.Effect{}
}
