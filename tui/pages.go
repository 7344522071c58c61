package tui

import "github.com/kapi-dev/kapi/tui/pages"

// pageTable is the table of pages.
func pageTable() []pages.Entry { return pages.All() }
