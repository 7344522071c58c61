package recorded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
)

const (
	partTimeout = 30 * time.Second
	// partBytes is how much of an answer is kept.
	partBytes = 64 << 20
)

const (
	anyText       = "text/plain, */*"
	anyJSON       = "application/json, */*"
	aggregatedAPI = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
)

// endpoint is a path of every API server whose answer is part of a bundle.
type endpoint struct {
	name, about, path, accept string
	query                     map[string]string
}

func endpoints() []endpoint {
	verbose := map[string]string{"verbose": "true"}
	const dump = "/debug/api_priority_and_fairness/dump_"
	return []endpoint{
		{"version.json", "/version", "/version", anyJSON, nil},
		{"readyz.txt", "/readyz, check by check", "/readyz", anyText, verbose},
		{"livez.txt", "/livez, check by check", "/livez", anyText, verbose},
		{"metrics.txt", "/metrics", "/metrics", anyText, nil},
		{"discovery-core.json", "resources of /api", "/api", aggregatedAPI, nil},
		{"discovery.json", "resources of /apis", "/apis", aggregatedAPI, nil},
		{"openapi-v3-root.json", "the list of OpenAPI v3 documents", "/openapi/v3", anyJSON, nil},
		// dump_requests is left out: it names users and what they ask for, now.
		{"flowcontrol-levels.txt", "priority levels of flow control", dump + "priority_levels", anyText, nil},
		{"flowcontrol-queues.txt", "queues of flow control", dump + "queues", anyText, nil},
	}
}

// ServerParts are the answers that every API server gives about itself. A check
// that fails has an answer, too: its text is kept.
func ServerParts(client rest.Interface) []Part {
	var parts []Part
	for _, from := range endpoints() {
		parts = append(parts, Part{
			Name: from.name, About: from.about, Timeout: partTimeout,
			Write: func(ctx context.Context, w io.Writer) error { return from.copy(ctx, client, w) },
		})
	}
	return parts
}

func (e endpoint) copy(ctx context.Context, client rest.Interface, w io.Writer) error {
	request := client.Get().AbsPath(e.path).SetHeader("Accept", e.accept).MaxRetries(0)
	for name, value := range e.query {
		request.Param(name, value)
	}
	if e.query != nil {
		return e.answer(ctx, request, w)
	}
	body, err := request.Stream(ctx)
	if err != nil {
		return err
	}
	defer body.Close()
	switch copied, err := io.Copy(w, io.LimitReader(body, partBytes)); {
	case err != nil:
		return fmt.Errorf("reading %s: %w", e.path, err)
	case copied == partBytes:
		return fmt.Errorf("only the first %d MiB of it are here", partBytes>>20)
	}
	return nil
}

// answer keeps the body whatever the status is: of a failing check it is the list
// of all checks. DoRaw has it then, too; Do loses it with its type.
func (e endpoint) answer(ctx context.Context, request *rest.Request, w io.Writer) error {
	body, err := request.DoRaw(ctx)
	var status apierrors.APIStatus
	failing := errors.As(err, &status) && status.Status().Code >= http.StatusInternalServerError
	if len(body) > 0 && (err == nil || failing) {
		_, err = w.Write(body)
	}
	return err
}
