package connect

import (
	"os"
	"path/filepath"
)

// Again are the flags with which another command, kubectl too, talks to the same
// server as the same user; none where it does so by itself. Credentials are not
// among them: those of flags have to be given again.
func (c *Connection) Again() []string {
	var flags []string
	add := func(name, value string) {
		if value != "" {
			flags = append(flags, name, value)
		}
	}
	if len(c.Source.Paths) == 1 && !kubectlsOwn(c.Source.Paths[0]) {
		path, err := filepath.Abs(c.Source.Paths[0])
		if err != nil {
			path = c.Source.Paths[0]
		}
		add("--kubeconfig", path)
	}
	o := c.overrides
	add("--context", o.CurrentContext)
	add("--cluster", o.Context.Cluster)
	add("--user", o.Context.AuthInfo)
	add("--server", o.ClusterInfo.Server)
	add("--certificate-authority", o.ClusterInfo.CertificateAuthority)
	add("--tls-server-name", o.ClusterInfo.TLSServerName)
	if o.ClusterInfo.InsecureSkipTLSVerify {
		flags = append(flags, "--insecure-skip-tls-verify")
	}
	add("--as", o.AuthInfo.Impersonate)
	for _, group := range o.AuthInfo.ImpersonateGroups {
		add("--as-group", group)
	}
	return flags
}

// kubectlsOwn tells whether kubectl takes a kubeconfig without being told.
func kubectlsOwn(path string) bool {
	if list := os.Getenv("KUBECONFIG"); list != "" {
		return list == path
	}
	home, err := os.UserHomeDir()
	return err == nil && path == filepath.Join(home, ".kube", "config")
}
