package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

// shellExamples are how each shell reads its completion: for this session, for
// all of them, and a look at it.
var shellExamples = map[string][2]string{
	"bash":       {"source <(kapi completion bash)", "kapi completion bash > ~/.kapi.bash && echo 'source ~/.kapi.bash' >> ~/.bashrc"},
	"zsh":        {"source <(kapi completion zsh)", "kapi completion zsh > ~/_kapi && echo 'fpath+=~' >> ~/.zshrc"},
	"fish":       {"kapi completion fish | source", "mkdir -p ~/.config/fish/completions && kapi completion fish > ~/.config/fish/completions/kapi.fish"},
	"powershell": {"kapi completion powershell | Out-String | Invoke-Expression", "kapi completion powershell >> $PROFILE"},
}

// addCompletion adds cobra's command with the scripts for shells, which cobra
// itself would add while it executes, and gives it examples.
func addCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	cmd, _, err := root.Find([]string{"completion"})
	if err != nil || cmd == root {
		return
	}
	cmd.Example = `  # In bash, for this session
  source <(kapi completion bash)

  # In zsh
  source <(kapi completion zsh)

  # In fish
  kapi completion fish | source`
	for _, shell := range cmd.Commands() {
		lines, ok := shellExamples[shell.Name()]
		if !ok {
			continue
		}
		shell.Example = fmt.Sprintf("  # For this session\n  %s\n\n  # For all sessions\n  %s\n\n  # Without descriptions\n  kapi completion %s --no-descriptions",
			lines[0], lines[1], shell.Name())
	}
}
