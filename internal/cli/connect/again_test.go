package connect

import (
	"path/filepath"
	"slices"
	"testing"
)

func TestAgain(t *testing.T) {
	home := isolate(t)
	file := kubeconfig(t, filepath.Join(home, "config"), "https://127.0.0.1:1")
	for name, test := range map[string]struct {
		args []string
		env  string
		want []string
	}{
		"a file":             {[]string{"--kubeconfig", file}, "", []string{"--kubeconfig", file}},
		"the environment":    {nil, file, nil},
		"as somebody else":   {[]string{"--kubeconfig", file, "--as", "bob", "--as-group", "dev"}, file, []string{"--as", "bob", "--as-group", "dev"}},
		"a server":           {[]string{"--server", "https://127.0.0.1:2", "--insecure-skip-tls-verify"}, "", []string{"--server", "https://127.0.0.1:2", "--insecure-skip-tls-verify"}},
		"a token is no flag": {[]string{"--server", "https://127.0.0.1:2", "--token", "geheim"}, "", []string{"--server", "https://127.0.0.1:2"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KUBECONFIG", test.env)
			if got := connect(t, test.args...).Again(); !slices.Equal(got, test.want) {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}
