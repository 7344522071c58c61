package inspect

import (
	"cmp"
	"context"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined"
	"github.com/kapi-dev/kapi/internal/client/inspection/objects"
	"github.com/kapi-dev/kapi/internal/text"
	"github.com/kapi-dev/kapi/internal/view"
)

type crd = *apiextensionsv1.CustomResourceDefinition

// onlyDefinitions is a server with other definitions.
type onlyDefinitions struct {
	inspection.Server
	some iter.Seq2[crd, error]
}

// Definitions implements inspection.Server.
func (s onlyDefinitions) Definitions(context.Context) iter.Seq2[crd, error] { return s.some }

// definitions is `kapi inspect crds`.
func definitions() joinedKind[crd, joined.DefinitionLine] {
	type line = joined.DefinitionLine
	return joinedKind[crd, line]{
		plural: "customresourcedefinitions", path: objects.DefinitionsPath,
		all: func(ctx context.Context, r *objects.Reader, version *string) iter.Seq2[crd, error] {
			return r.Definitions(ctx, version)
		},
		source: func(ctx context.Context, server inspection.Server) iter.Seq2[crd, error] {
			return server.Definitions(ctx)
		},
		only: func(server inspection.Server, some iter.Seq2[crd, error]) inspection.Server {
			return onlyDefinitions{server, some}
		},
		slim: func(object crd) crd {
			for i := range object.Spec.Versions {
				// That there is one counts; what it says does not.
				if schema := object.Spec.Versions[i].Schema; schema != nil && schema.OpenAPIV3Schema != nil {
					schema.OpenAPIV3Schema = &apiextensionsv1.JSONSchemaProps{Type: schema.OpenAPIV3Schema.Type}
				}
			}
			object.ManagedFields, object.Annotations = nil, nil
			return object
		},
		lines: joined.Definitions,
		table: view.Definitions, follow: view.FollowDefinitions,
		page: func(ctx context.Context, server inspection.Server, name string, w io.Writer, s text.Screen) error {
			definition, err := joined.LoadDefinition(ctx, server, name, readAt(server))
			if err != nil {
				return err
			}
			return view.Definition(w, s, definition, readAt(server))
		},
		from: map[string]string{
			"resourcestorages": "Objects", "resourcestorages.Objects": "Objects", "conditiontransitions": "To-Established",
		},
		severity: func(l line) joined.Severity { return l.State.Severity },
		sorts: map[string]func(a, b line) int{
			"name":           func(a, b line) int { return strings.Compare(a.Name, b.Name) },
			"state":          func(a, b line) int { return cmp.Compare(a.State.Severity, b.State.Severity) },
			"since":          func(a, b line) int { return b.State.Since.Compare(a.State.Since) },
			"objects":        func(a, b line) int { return cmp.Compare(a.Objects, b.Objects) },
			"size":           func(a, b line) int { return cmp.Compare(a.Bytes, b.Bytes) },
			"changed":        func(a, b line) int { return b.LastChange.Compare(a.LastChange) },
			"to-established": func(a, b line) int { return compareElapsed(a.TimeToEstablished, b.TimeToEstablished) },
			"to-served":      func(a, b line) int { return compareElapsed(a.TimeToServed, b.TimeToServed) },
		},
	}
}

func compareElapsed(a, b *joined.Elapsed) int {
	var x, y time.Duration
	if a != nil {
		x = a.Duration.Duration
	}
	if b != nil {
		y = b.Duration.Duration
	}
	return cmp.Compare(x, y)
}

func newDefinitionsCmd(s *session) *cobra.Command {
	opts, kind := &listOptions{}, definitions()
	cmd := &cobra.Command{
		Use:     "crds [NAME...]",
		Aliases: []string{"crd", "customresourcedefinitions", "customresourcedefinition", "definitions"},
		GroupID: "api",
		Short:   "Show CRDs with their conditions, history and objects",
		Long: `Show CustomResourceDefinitions, a line each: the state and its conditions, since
when, how long it took until each was established, and how many objects there are.
With a name, everything about one: versions, stored versions that are still to be
migrated, problems of the schema, conditions and their history.

-o json and the like print the objects themselves.`,
		Example: examples([]example{
			{"All of them", "kapi inspect crds"},
			{"Everything about one", "kapi inspect crds widgets.example.com"},
			{"Wait until it can be used, in a script", "kapi inspect crds widgets.example.com --for=condition=Established --timeout=30s"},
		}),
		ValidArgsFunction: completeReal(s, kind),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runJoined(cmd, s, kind, opts, args)
		},
	}
	opts.add(cmd)
	completeSorts(cmd, kind)
	return cmd
}
