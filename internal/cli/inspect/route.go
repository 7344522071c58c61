package inspect

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/internal/view"
)

// routeOptions are the flags of `kapi inspect route`.
type routeOptions struct {
	output
	user       string
	groups     []string
	body       string
	live       bool
	exitStatus bool
}

func newRouteCmd(s *session) *cobra.Command {
	opts := &routeOptions{}
	cmd := &cobra.Command{
		Use:     "route VERB PATH",
		GroupID: "request",
		Short:   "Show what would happen to a request, without sending it",
		Long: `Show what would happen to a request: who it would be from, which filters it would
come through and where it would end, what the authorizers would say and why, which
layer would answer, which admission plugins would look at it, and where in etcd it
leads. Nothing is sent.

With --live the request is sent as well, and what did happen stands next to what
was foretold. A request that changes something then does change it.

VERB is a method (GET) or a verb (list); PATH is the URL's path, with a query if it
matters. --as and --as-group say who would ask.`,
		Example: examples([]example{
			{"Who answers for deployments, and why you may", "kapi inspect route GET /apis/apps/v1/deployments"},
			{"May alice delete it, and who says so", "kapi inspect route delete /api/v1/namespaces/default/configmaps/a --as alice --as-group dev"},
			{"Foretold and done", "kapi inspect route GET /api/v1/namespaces/default --live"},
		}),
		Args:              exactly(2, "a verb and a path, such as GET /api/v1/namespaces"),
		ValidArgsFunction: s.completeRoute,
		RunE: func(cmd *cobra.Command, args []string) error {
			return routeRun(cmd, s, opts, args)
		},
	}
	opts.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&opts.user, "as", "", "User who would ask; default is you.")
	flags.StringArrayVar(&opts.groups, "as-group", nil, "Group of that user; can be repeated.")
	flags.StringVarP(&opts.body, "filename", "f", "", "File with the body of a --live request (\"-\" is stdin).")
	flags.BoolVar(&opts.live, "live", false, "Send the request, and compare.")
	flags.BoolVar(&opts.exitStatus, "exit-status", false, "Exit with 3 if the request would be refused.")
	return cmd
}

func (o *routeOptions) check() error {
	switch {
	case o.body != "" && !o.live:
		return fault.WithHint(fault.Usagef("-f gives the body of a request that is sent"), "add --live, or leave -f out: a dry run looks at no body")
	case strings.EqualFold(o.format, "name"):
		return fault.WithHint(fault.Usagef("-o name: an explanation has no name"), "take -o json or -o yaml")
	case len(o.groups) > 0 && o.user == "":
		return fault.WithHint(fault.Usagef("--as-group needs --as"), "name the user whose groups these are")
	}
	return o.output.check()
}

func routeRun(cmd *cobra.Command, s *session, opts *routeOptions, args []string) error {
	if err := opts.check(); err != nil {
		return err
	}
	spec := v1alpha1.RouteExplanationSpec{Verb: args[0], Path: args[1], User: opts.user, Groups: opts.groups}
	if !strings.HasPrefix(spec.Path, "/") {
		return fault.WithHint(fault.Usagef("path %q does not begin with a slash", spec.Path), "write it as in a URL: /api/v1/namespaces/default/pods")
	}
	server, err := s.open(cmd.Context(), cmd.InOrStdin())
	if err != nil {
		return err
	}
	explanation, err := server.Explain(cmd.Context(), spec)
	if err != nil {
		return asArgument(err)
	}
	var happened *v1alpha1.RequestTrace
	if opts.live {
		if happened, err = sendAndTrace(cmd, s, server, opts, explanation); err != nil {
			return err
		}
	}
	if err := printRoute(cmd, opts, explanation, happened); err != nil {
		return err
	}
	if opts.exitStatus && refuses(explanation) {
		return fault.WithCode(fault.Silent(errUnwell), fault.CodeUnhealthy)
	}
	return nil
}

func printRoute(cmd *cobra.Command, opts *routeOptions, explanation *v1alpha1.RouteExplanation, happened *v1alpha1.RequestTrace) error {
	w := cmd.OutOrStdout()
	switch {
	case opts.table():
		return view.Route(w, opts.screen(w), explanation, happened)
	case happened == nil:
		return opts.one(w, explanation)
	}
	return opts.all(w, sequence([]runtime.Object{explanation, happened}))
}

// refuses tells whether a request would end without having done its work.
func refuses(explanation *v1alpha1.RouteExplanation) bool {
	denied := explanation.Status.Authorization != nil && !explanation.Status.Authorization.Allowed
	return denied || explanation.Status.Code >= 400
}

// sendAndTrace sends what was explained, and returns what happened to it.
func sendAndTrace(cmd *cobra.Command, s *session, server inspection.Server, opts *routeOptions, explanation *v1alpha1.RouteExplanation) (*v1alpha1.RequestTrace, error) {
	connection, err := s.connect()
	if err != nil {
		return nil, err
	}
	body, err := readBody(cmd.InOrStdin(), opts.body)
	if err != nil {
		return nil, err
	}
	sent, err := send(cmd.Context(), connection.Config, explanation.Spec, body)
	if err != nil {
		return nil, err
	}
	trace, err := traceOf(cmd.Context(), server, sent)
	if err != nil {
		return nil, err
	}
	return trace, context.Cause(cmd.Context())
}

// asArgument names the arguments in an error that speaks of fields.
func asArgument(err error) error {
	if !apierrors.IsBadRequest(err) {
		return err
	}
	return fault.Usagef("%s", strings.NewReplacer("spec.verb", "VERB", "spec.path", "PATH", "spec.user", "--as", "spec.groups", "--as-group").Replace(err.Error()))
}
