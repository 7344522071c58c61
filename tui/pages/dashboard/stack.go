package dashboard

import (
	"cmp"
	"slices"

	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
)

// item is a line. It can be selected if it leads somewhere.
type item struct {
	// key is what it is known by from frame to frame.
	key  string
	line ink.Line
	open page.Location
	// more lists everything instead of leading elsewhere.
	more bool
	// command is what shows the same on a command line.
	command string
}

// block is a group of lines that belong together.
type block struct {
	items []item
	// short is the same in fewer lines; nil where that can't be.
	short []item
	// least is how many lines must stay of those, the first ones.
	least int
	// enough is how many are enough where there would be no air otherwise; 0 is all.
	enough int
	// rank is how important it is; 0 is the most.
	rank int
	// apart is how much it should have an empty line above; lower is more.
	apart int
	// rest makes the last line that stays where some are left out; nil is nothing.
	rest func(hidden int) item
}

// plenty is how many lines are enough, so many times.
func (b block) plenty(times int) int {
	if b.enough == 0 {
		return len(b.items)
	}
	return b.enough * times
}

// stack puts blocks below each other in at most height lines. Where there is not
// room for all with an empty line between them, lists become shorter, blocks take
// their short forms, then there is no air, then fewer lines, and at last the blocks
// that matter least go.
func stack(blocks []block, height int) []item {
	blocks = slices.DeleteFunc(slices.Clone(blocks), func(b block) bool { return len(b.items) == 0 })
	order := make([]int, len(blocks)) // the least important first
	shown := make([]int, len(blocks))
	for i, b := range blocks {
		order[i], shown[i] = i, len(b.items)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(blocks[b].rank, blocks[a].rank) })
	over := func() int {
		lines := 0
		for _, n := range shown {
			lines += n
		}
		return lines - height
	}
	spaces := len(blocks) - 1
	reduce := func(wanted int, to func(block) int) {
		for _, i := range order {
			shown[i] -= max(0, min(over()+wanted, shown[i]-to(blocks[i])))
		}
	}
	reduce(spaces, func(b block) int { return b.plenty(2) })
	for _, i := range order {
		if over() > -spaces && blocks[i].short != nil {
			blocks[i].items = blocks[i].short
			shown[i] = len(blocks[i].items)
		}
	}
	reduce(spaces, func(b block) int { return b.plenty(1) })
	reduce(0, func(b block) int { return b.least })
	reduce(0, func(block) int { return 0 })
	return laid(blocks, shown, max(0, -over()))
}

// laid are the lines that are shown, with at most so many empty ones between blocks.
func laid(blocks []block, shown []int, empty int) []item {
	var apart []int
	for i := range blocks {
		if shown[i] > 0 && i > 0 {
			apart = append(apart, i)
		}
	}
	slices.SortStableFunc(apart, func(a, b int) int { return cmp.Compare(blocks[a].apart, blocks[b].apart) })
	apart = apart[:min(empty, len(apart))]
	var items []item
	for i, b := range blocks {
		if shown[i] <= 0 {
			continue
		}
		if slices.Contains(apart, i) && len(items) > 0 {
			items = append(items, item{})
		}
		hidden := len(b.items) - shown[i]
		items = append(items, b.items[:shown[i]]...)
		if hidden > 0 && b.rest != nil && shown[i] > 1 {
			items[len(items)-1] = b.rest(hidden + 1)
		}
	}
	return items
}
