// Command guarded links Bubble Tea behind the terminal guard. The test of
// package termguard runs it on a terminal that never answers: it must write its
// own lines and nothing else. It is not part of kapi.
package main

import (
	"fmt"
	"os"

	_ "github.com/charmbracelet/bubbletea"

	"github.com/kapi-dev/kapi/internal/termguard"
)

func main() {
	show("before")
	termguard.Restore()
	show("after")
}

func show(when string) {
	term, ok := os.LookupEnv("TERM")
	fmt.Printf("%s: TERM=%q set=%t NO_COLOR=%q COLORTERM=%q\n",
		when, term, ok, os.Getenv("NO_COLOR"), os.Getenv("COLORTERM"))
}
