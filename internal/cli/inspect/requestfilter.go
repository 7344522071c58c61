package inspect

import (
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/fault"
)

// requestFilter is what the flags of `kapi inspect requests` keep.
type requestFilter struct {
	path, user, filter, layer string
	verbs, statuses           []string
	slowerThan                time.Duration
}

func (f *requestFilter) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.path, "path", "", "Path of the URL: how it begins, or a pattern with * for any characters.")
	flags.StringVar(&f.user, "user", "", "Who asked, or a pattern with *; here it is not the user of the kubeconfig.")
	flags.StringSliceVar(&f.verbs, "verb", nil, "Verbs: get, list, watch, create, ... of resources, or methods of other requests.")
	flags.StringSliceVar(&f.statuses, "status", nil, "Status codes: 403, 4xx, >=400, !=200; several with commas: any of them.")
	flags.StringVar(&f.filter, "filter", "", "Requests that this filter, admission plugin or limit ended.")
	flags.StringVar(&f.layer, "layer", "", "Requests that this layer answered.")
	flags.DurationVar(&f.slowerThan, "slower-than", 0, "Requests that took longer.")
}

// compile returns a function that tells whether a request is kept.
func (f *requestFilter) compile() (func(*v1alpha1.RequestTrace) bool, error) {
	statuses, err := parseStatuses(f.statuses)
	if err != nil {
		return nil, err
	}
	if f.slowerThan < 0 {
		return nil, fault.Usagef("--slower-than=%s is below zero", f.slowerThan)
	}
	verbs := map[string]bool{}
	for _, verb := range f.verbs {
		verbs[strings.ToLower(verb)] = true
	}
	return func(t *v1alpha1.RequestTrace) bool {
		user := ""
		if t.Spec.User != nil {
			user = t.Spec.User.Name
		}
		ended := t.Status.TerminatedBy
		return (f.path == "" || begins(f.path, t.Spec.Path)) &&
			(f.user == "" || matches(f.user, user)) &&
			(len(verbs) == 0 || verbs[strings.ToLower(t.Spec.Verb)] || verbs[strings.ToLower(t.Spec.Method)]) &&
			statuses(t.Status.Code) &&
			(f.filter == "" || ended.Kind != v1alpha1.EndedByLayer && matches(f.filter, ended.Name)) &&
			(f.layer == "" || matches(f.layer, t.Status.AnsweredBy)) &&
			t.Status.Duration.Duration >= f.slowerThan
	}, nil
}

// begins tells whether a path begins as wanted, or matches a pattern.
func begins(wanted, path string) bool {
	if strings.Contains(wanted, "*") {
		return matches(wanted, path)
	}
	return strings.HasPrefix(path, wanted)
}

// matches compares with a pattern in which * stands for any characters, / among
// them. path.Match keeps * from a slash, so that slashes are taken away first.
func matches(pattern, value string) bool {
	const slash = "\x00"
	hide := strings.NewReplacer("/", slash, "[", `\[`, "?", `\?`, `\`, `\\`)
	ok, err := path.Match(hide.Replace(pattern), strings.ReplaceAll(value, "/", slash))
	return err == nil && ok
}

// comparisons are the operators before a status, longer ones first.
var comparisons = []struct {
	sign string
	ok   func(code, than int) bool
}{
	{">=", func(code, than int) bool { return code >= than }},
	{"<=", func(code, than int) bool { return code <= than }},
	{"!=", func(code, than int) bool { return code != than }},
	{">", func(code, than int) bool { return code > than }},
	{"<", func(code, than int) bool { return code < than }},
	{"=", func(code, than int) bool { return code == than }},
	{"", func(code, than int) bool { return code == than }},
}

// parseStatuses returns whether a code is one of those wanted; no words are all.
func parseStatuses(words []string) (func(int32) bool, error) {
	if len(words) == 0 {
		return func(int32) bool { return true }, nil
	}
	var tests []func(code int) bool
	for _, word := range words {
		test, err := parseStatus(strings.TrimSpace(word))
		if err != nil {
			return nil, err
		}
		tests = append(tests, test)
	}
	return func(code int32) bool {
		for _, test := range tests {
			if test(int(code)) {
				return true
			}
		}
		return false
	}, nil
}

func parseStatus(word string) (func(code int) bool, error) {
	if class, ok := strings.CutSuffix(strings.ToLower(word), "xx"); ok && len(class) == 1 && class >= "1" && class <= "5" {
		hundreds := int(class[0] - '0')
		return func(code int) bool { return code/100 == hundreds }, nil
	}
	for _, comparison := range comparisons {
		number, ok := strings.CutPrefix(word, comparison.sign)
		if !ok {
			continue
		}
		than, err := strconv.ParseUint(strings.TrimSpace(number), 10, 64) // without a sign
		if err != nil || than > 999 {
			break
		}
		return func(code int) bool { return comparison.ok(code, int(than)) }, nil
	}
	return nil, fault.WithHint(fault.Usagef("--status=%q is no status", word), "write 403, 4xx, '>=400' or '!=200' (0 is a request without an answer)")
}
