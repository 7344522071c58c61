package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/kapi-dev/kapi/internal/controllers/catalog"
)

// completeControllers proposes what can stand at the end of a value of
// --controllers, with what each does.
func completeControllers(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	start := strings.LastIndexByte(typed, ',') + 1
	head, word := typed[:start], typed[start:]
	sign := ""
	if strings.HasPrefix(word, "+") || strings.HasPrefix(word, "-") {
		sign, word = word[:1], word[1:]
	}
	var proposals []string
	for _, name := range catalog.Words() {
		if !strings.HasPrefix(name, word) || sign != "" && name == catalog.None {
			continue
		}
		proposal := head + sign + name
		if c, ok := catalog.Find(name); ok {
			proposal += "\t" + c.Doc
		}
		proposals = append(proposals, proposal)
	}
	return proposals, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
