// Command unguarded links Bubble Tea without the terminal guard. The test of
// package termguard runs it to see the query that the guard prevents: without
// it, a library that no longer asks would leave the guard untested. It is not
// part of kapi.
package main

import (
	"fmt"

	_ "github.com/charmbracelet/bubbletea"
)

func main() {
	fmt.Println("done")
}
