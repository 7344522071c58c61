package data

import (
	"iter"
	"maps"
)

// Views are all that the frame has, in no order.
func (f Frame) Views() iter.Seq[View] { return maps.Values(f.views) }
