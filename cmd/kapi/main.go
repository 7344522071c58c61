// Command kapi is the Kubernetes API server in one binary.
package main

import (
	"context"
	"os"

	"github.com/kapi-dev/kapi/internal/cli"
	"github.com/kapi-dev/kapi/internal/termguard"
)

func main() {
	termguard.Restore()
	os.Exit(cli.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
