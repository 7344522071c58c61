package e2e_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kapi-dev/kapi/internal/kapitest"
)

// completers are how each shell is made to complete lines, its arguments, and to
// print what it offers for each, with the script that kapi gives it. Each line
// goes before what is offered, behind a mark.
var completers = map[string][]string{
	// Without the package bash-completion two functions are missing, which the
	// shell has only while a key is being pressed.
	"bash": {"--norc", "-c", `
source <(kapi completion bash)
_get_comp_words_by_ref() { words=("${COMP_WORDS[@]}"); cword=$COMP_CWORD; cur=${words[cword]}; prev=${words[cword-1]}; }
compopt() { :; }
for line in "$@"; do
	COMP_WORDS=($line) COMP_LINE=$line COMP_POINT=${#line} COMP_TYPE=9 COMPREPLY=()
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	__start_kapi
	printf '%s\n' "> $line" "${COMPREPLY[@]}"
done`, "bash"},
	"zsh": {"-f", "-c", `
autoload -U compinit && compinit -u -d "$HOME/dump"
source <(kapi completion zsh)
_describe() { while [[ $1 == -* ]] shift; print -rl -- ${(M)${(P)2}:#${words[CURRENT]}*} }
for line in "$@"; do
	words=(${=line}) CURRENT=${#words}
	print -r "> $line"
	_kapi
done`, "zsh"},
	"fish": {"--no-config", "-c", `
kapi completion fish | source
for line in $argv
	echo "> $line"
	complete -C $line
end`},
}

// completed are lines, and the one thing that each can go on with.
var completed = map[string]string{
	"kapi insp":                                      "inspect",
	"kapi inspect lay":                               "layers",
	"kapi inspect layers kube":                       "kube-apiserver",
	"kapi inspect layers inspect kube":               "kube-apiserver",
	"kapi inspect filter authori":                    "authorization",
	"kapi inspect crds things.completed":             "things.completed.e2e.test",
	"kapi inspect apiservices v1.completed":          "v1.completed.e2e.test",
	"kapi inspect hooks rbac":                        "rbac-bootstrap-roles",
	"kapi inspect layers --sort":                     "--sort-by",
	"kapi inspect layers --sort-by recei":            "received",
	"kapi inspect crds --sort-by obj":                "objects",
	"kapi inspect layers -o ya":                      "yaml",
	"kapi inspect -o ya":                             "yaml",
	"kapi inspect requests --layer kube":             "kube-apiserver",
	"kapi inspect requests --filter authori":         "authorization",
	"kapi inspect request la":                        "last",
	"kapi inspect route GET /api/v1/configm":         "/api/v1/configmaps",
	"kapi inspect filters --field-selector spec.ena": "spec.enabled=",
	"kapi inspect layers --context ka":               "kapi",
	"kapi inspect layers nothing-like":               "", // and no files either
}

// TestInspectCompletion presses tab in real shells.
func TestInspectCompletion(t *testing.T) {
	t.Parallel()
	server := kapitest.Shared(t)
	defineThings(t, server, "completed.e2e.test")
	for shell, start := range completers {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			cmd := inShell(t, server, shell, slices.Concat(start, slices.Sorted(maps.Keys(completed)))...)
			cmd.Dir = t.TempDir()
			if err := os.WriteFile(filepath.Join(cmd.Dir, "nothing-like-a-layer"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			end := runToEnd(t, cmd)
			got := offered(end.stdout)
			for line, want := range completed {
				if candidates, asked := got[line]; !asked || strings.Join(candidates, " ") != want {
					t.Errorf("%s: %q offers %q, want %q", shell, line, candidates, want)
				}
			}
			if t.Failed() {
				t.Logf("exits with %d\n%s%s", end.code, end.stdout, end.stderr)
			}
		})
	}
}

// offered are the candidates of each line, without what is shown beside them.
func offered(printed string) map[string][]string {
	all := map[string][]string{}
	current := ""
	for line := range strings.Lines(printed) {
		line = strings.TrimSpace(line)
		if asked, ok := strings.CutPrefix(line, "> "); ok {
			current = asked
			all[current] = nil
			continue
		}
		candidate, _, _ := strings.Cut(line, "\t")    // of fish
		candidate, _, _ = strings.Cut(candidate, ":") // of zsh
		// fish adds no blank where there are two: its script makes a second one.
		if slices.Contains(all[current], strings.TrimSuffix(candidate, ".")) || candidate == "" {
			continue
		}
		all[current] = append(all[current], candidate)
	}
	return all
}
