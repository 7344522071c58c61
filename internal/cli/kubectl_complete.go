package cli

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// completeKubectl asks kubectl's own completion, which prints one candidate a
// line and then its directive as ":N".
func completeKubectl(cmd *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
	root := newKubectl(cmd, append(append([]string{cobra.ShellCompRequestCmd}, args...), toComplete))
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&bytes.Buffer{})
	if err := root.ExecuteContext(cmd.Context()); err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return parseCompletion(out.String())
}

func parseCompletion(out string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var found []cobra.Completion
	directive := cobra.ShellCompDirectiveDefault
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\n")
		if number, ok := strings.CutPrefix(line, ":"); ok {
			if n, err := strconv.Atoi(number); err == nil {
				directive = cobra.ShellCompDirective(n)
				continue
			}
		}
		if line != "" {
			found = append(found, line)
		}
	}
	return found, directive
}
