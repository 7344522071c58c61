package page

// ActionID names something that can be done. The application's registry has a
// row for each: keys, help, when.
type ActionID string

// Action is one that is done.
type Action struct {
	ID ActionID
	// Count is how often; 1 where it was not said.
	Count int
}

// What pages are told. The application does the others itself.
const (
	Down     ActionID = "down"
	Up       ActionID = "up"
	Left     ActionID = "left"
	Right    ActionID = "right"
	Top      ActionID = "top"
	Bottom   ActionID = "bottom"
	PageDown ActionID = "page-down"
	PageUp   ActionID = "page-up"
	HalfDown ActionID = "half-page-down"
	HalfUp   ActionID = "half-page-up"
	// NextPart goes to the next part of a page that has several.
	NextPart     ActionID = "next-part"
	PreviousPart ActionID = "previous-part"
	// Enter goes into what is selected, or folds it.
	Enter ActionID = "enter"
	// Fold folds and unfolds.
	Fold      ActionID = "fold"
	FoldAll   ActionID = "fold-all"
	UnfoldAll ActionID = "unfold-all"
	NextMatch ActionID = "next-match"
	PrevMatch ActionID = "previous-match"
	Sort      ActionID = "sort"
	Reverse   ActionID = "reverse"
	Wide      ActionID = "wide"
	Unhealthy ActionID = "unhealthy"
	// Follow keeps the newest in view.
	Follow ActionID = "follow"
	// Refresh asks again for what was asked once.
	Refresh ActionID = "refresh"
	// Requests shows the requests of what is selected.
	Requests ActionID = "requests"
	// Yaml, Describe and EtcdKey show what is selected in another way.
	Yaml     ActionID = "yaml"
	Describe ActionID = "describe"
	EtcdKey  ActionID = "etcd-key"
)
