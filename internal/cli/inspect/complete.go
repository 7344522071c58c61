package inspect

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection"
)

// Completion asks the server. Where it can't be asked nothing is offered: a
// message would be taken for a candidate.

// patienceOfShell is how long somebody waits after pressing tab.
const patienceOfShell = 3 * time.Second

type completion = func(cmd *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective)

const noFiles = cobra.ShellCompDirectiveNoFileComp

func completeFiles(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

func nothing(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, noFiles
}

// objects lists a kind for a completion.
func (s *session) objects(cmd *cobra.Command, kind kinds.Kind, query inspection.Query) []kinds.Object {
	ctx, cancel := context.WithTimeout(cmd.Context(), patienceOfShell)
	defer cancel()
	server, err := s.open(ctx, cmd.InOrStdin())
	if err != nil {
		return nil
	}
	listing, err := server.List(ctx, kind, query)
	if err != nil {
		return nil
	}
	return listing.Objects
}

// completeNames offers the names of a kind's objects that are not given yet.
func (s *session) completeNames(kind kinds.Kind) completion {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var names []string
		for _, object := range s.objects(cmd, kind, inspection.Query{}) {
			if name := object.GetName(); strings.HasPrefix(name, toComplete) && !slices.Contains(args, name) {
				names = append(names, name)
			}
		}
		return names, noFiles
	}
}

// completeReal offers the names of real objects that are not given yet.
func completeReal[O realObject, L any](s *session, kind joinedKind[O, L]) completion {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), patienceOfShell)
		defer cancel()
		server, err := s.open(ctx, cmd.InOrStdin())
		if err != nil {
			return nil, noFiles
		}
		var names []string
		for object, err := range kind.source(ctx, server) {
			if err != nil {
				break
			}
			if name := object.GetName(); strings.HasPrefix(name, toComplete) && !slices.Contains(args, name) {
				names = append(names, name)
			}
		}
		return names, noFiles
	}
}

// completeSorts offers the columns that a list of real objects is sorted by.
func completeSorts[O realObject, L any](cmd *cobra.Command, kind joinedKind[O, L]) {
	register(cmd, "sort-by", offers(slices.Sorted(maps.Keys(kind.sorts))...))
	register(cmd, "field-selector", offers("metadata.name="))
}

// completeAuditIDs offers the newest requests, with what they were.
func (s *session) completeAuditIDs(cmd *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, noFiles
	}
	const most = 30
	candidates := []cobra.Completion{cobra.CompletionWithDesc("last", "the newest")}
	traces := s.objects(cmd, mustKind(v1alpha1.ResourceRequestTraces), inspection.Query{})
	for _, object := range slices.Backward(traces) {
		trace, ok := object.(*v1alpha1.RequestTrace)
		if ok && strings.HasPrefix(trace.Spec.AuditID, toComplete) && len(candidates) < most {
			what := fmt.Sprintf("%s %s %d", trace.Spec.Verb, trace.Spec.Path, trace.Status.Code)
			candidates = append(candidates, cobra.CompletionWithDesc(trace.Spec.AuditID, what))
		}
	}
	return candidates, noFiles | cobra.ShellCompDirectiveKeepOrder
}

// completeRoute offers verbs, and then the paths of what is served.
func (s *session) completeRoute(cmd *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return []cobra.Completion{"GET", "POST", "PUT", "PATCH", "DELETE", "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}, noFiles
	case 1:
		paths := map[string]bool{"/readyz": true, "/livez": true, "/metrics": true, "/version": true}
		for _, object := range s.objects(cmd, mustKind("apiresourceregistrations"), inspection.Query{}) {
			if r, ok := object.(*v1alpha1.APIResourceRegistration); ok {
				paths[pathOf(r)] = true
			}
		}
		maps.DeleteFunc(paths, func(path string, _ bool) bool { return !strings.HasPrefix(path, toComplete) })
		return slices.Sorted(maps.Keys(paths)), noFiles | cobra.ShellCompDirectiveNoSpace
	}
	return nil, noFiles
}

func pathOf(r *v1alpha1.APIResourceRegistration) string {
	base := "/apis/" + r.Spec.Group + "/" + r.Spec.Version
	if r.Spec.Group == "" {
		base = "/api/" + r.Spec.Version
	}
	return base + "/" + r.Spec.Resource
}

// namesOf offers the names of the objects of another kind.
func (s *session) namesOf(resource string) completion {
	return func(cmd *cobra.Command, _ []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return s.completeNames(mustKind(resource))(cmd, nil, toComplete)
	}
}

// completeServerIDs offers the identities of the servers that were seen.
func (s *session) completeServerIDs(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	ids := map[string]bool{}
	for _, object := range s.objects(cmd, mustKind("bootsteps"), inspection.Query{}) {
		ids[kinds.ServerID(object)] = true
	}
	return slices.Sorted(maps.Keys(ids)), noFiles
}

// offers is a completion with fixed candidates.
func offers(values ...string) completion {
	return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return values, noFiles
	}
}

// completeColumns are the completions of flags that depend on the kind.
func completeColumns(cmd *cobra.Command, kind kinds.Kind) {
	selectors := []string{"metadata.name="}
	for _, field := range slices.Sorted(maps.Keys(kind.Fields)) {
		selectors = append(selectors, field+"=")
	}
	register(cmd, "field-selector", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return selectors, noFiles | cobra.ShellCompDirectiveNoSpace
	})
	columns := columnNames(kind)
	for i, column := range columns {
		columns[i] = strings.ToLower(column)
	}
	register(cmd, "sort-by", offers(columns...))
}

// register fails only for a flag that does not exist, or is completed already.
func register(cmd *cobra.Command, flag string, complete completion) {
	_ = cmd.RegisterFlagCompletionFunc(flag, complete)
}

// completeFlags registers completions of all flags that a command declares. A flag
// without one offers nothing, instead of the files of the working directory.
func completeFlags(s *session, cmd *cobra.Command) {
	known := map[string]completion{
		"output":     offers(formats()...),
		"for":        offers("condition=Established", "condition=Available", "condition=Healthy", "condition=Done", "condition=NamesAccepted"),
		"status":     offers(">=400", "4xx", "5xx", "403", "429", "0"),
		"verb":       offers("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"),
		"filter":     s.namesOf("filters"),
		"layer":      s.namesOf("serverlayers"),
		"server-id":  s.completeServerIDs,
		"context":    s.completeContexts,
		"filename":   completeFiles,
		"kubeconfig": completeFiles, "data-dir": completeFiles, "from": completeFiles,
		"certificate-authority": completeFiles, "client-certificate": completeFiles, "client-key": completeFiles,
	}
	if cmd.Flags().Lookup("no-headers") == nil {
		known["output"] = offers("json", "yaml")
	}
	if cmd.Name() == "bundle" {
		known["output"] = completeFiles
	}
	declared := func(flag *pflag.Flag) {
		if _, has := cmd.GetFlagCompletionFunc(flag.Name); has || flag.Value.Type() == "bool" {
			return
		}
		complete, ok := known[flag.Name]
		if !ok {
			complete = nothing
		}
		register(cmd, flag.Name, complete)
	}
	cmd.LocalNonPersistentFlags().VisitAll(declared)
	cmd.PersistentFlags().VisitAll(declared)
}

// completeContexts offers the contexts of the kubeconfig.
func (s *session) completeContexts(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return s.flags.Contexts(), noFiles
}
