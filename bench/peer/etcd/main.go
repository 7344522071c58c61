// Command etcd is the peer's etcd: upstream's own main, built from the etcd
// modules of kapi's module graph so that both sides of a benchmark run the same
// etcd. It is not part of kapi and never shipped. It may import
// go.etcd.io/etcd/server, which otherwise only internal/etcd may.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
