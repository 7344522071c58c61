package tui

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/kapi-dev/kapi/tui/page"
)

// action is something that a key can do. The registry makes from it the keys, the
// footer, the help, the names in the palette and the reference in docs/tui.md.
type action struct {
	id page.ActionID
	// keys are the defaults, as Bubble Tea names them; the first is shown.
	keys []string
	// group is the heading in the help; help says what it does.
	group, help string
	// foot is what the footer calls it; empty keeps it out. The order of the registry
	// is that of the footer.
	foot string
	// danger is something that changes the server: it is refused unless changes are
	// allowed, here and in the client.
	danger bool
	// when tells whether it does something now; nil asks the page.
	when func(*app) bool
	// run does it; nil hands it to the page.
	run func(*app) tea.Cmd
}

// Groups of actions, in the order of the help.
const (
	groupMove   = "Move"
	groupFind   = "Find"
	groupObject = "Object"
	groupTable  = "Table"
	groupView   = "View"
)

// What the application does itself.
const (
	actBack       page.ActionID = "back"
	actQuit       page.ActionID = "quit"
	actInterrupt  page.ActionID = "interrupt"
	actHistoryOld page.ActionID = "history-back"
	actHistoryNew page.ActionID = "history-forward"
	actFilter     page.ActionID = "filter"
	actPalette    page.ActionID = "command"
	actHelp       page.ActionID = "help"
	actCopyName   page.ActionID = "copy-name"
	actCopyAs     page.ActionID = "copy-as"
	actDelete     page.ActionID = "delete"
	actFullscreen page.ActionID = "fullscreen"
	actPause      page.ActionID = "pause"
	actMouse      page.ActionID = "mouse"
	actTheme      page.ActionID = "theme"
	actEarlier    page.ActionID = "earlier"
	actLater      page.ActionID = "later"
	actSuspend    page.ActionID = "suspend"
)

// actions is the registry.
func actions() []action {
	always := func(*app) bool { return true }
	list := []action{
		{id: page.Enter, keys: []string{"enter"}, group: groupMove, help: "go into what is selected", foot: "open"},
		{id: actBack, keys: []string{"esc"}, group: groupMove, help: "back; clears a filter first, then leaves the past", foot: "back", when: (*app).canGoBack, run: (*app).back},
		{id: page.Down, keys: []string{"j", "down"}, group: groupMove, help: "down"},
		{id: page.Up, keys: []string{"k", "up"}, group: groupMove, help: "up"},
		{id: page.Left, keys: []string{"h", "left"}, group: groupMove, help: "left: fold, or what is cut at the left"},
		{id: page.Right, keys: []string{"l", "right"}, group: groupMove, help: "right: unfold, or what is cut at the right"},
		{id: page.Top, keys: []string{"g", "home"}, group: groupMove, help: "to the first line"},
		{id: page.Bottom, keys: []string{"G", "end"}, group: groupMove, help: "to the last line"},
		{id: page.HalfDown, keys: []string{"ctrl+d"}, group: groupMove, help: "half a page down"},
		{id: page.HalfUp, keys: []string{"ctrl+u"}, group: groupMove, help: "half a page up"},
		{id: page.PageDown, keys: []string{"ctrl+f", "pgdown"}, group: groupMove, help: "a page down"},
		{id: page.PageUp, keys: []string{"ctrl+b", "pgup"}, group: groupMove, help: "a page up"},
		{id: page.NextPart, keys: []string{"tab"}, group: groupMove, help: "to the next part of the page", foot: "next part"},
		{id: page.PreviousPart, keys: []string{"shift+tab"}, group: groupMove, help: "to the part before it"},
		{id: actHistoryOld, keys: []string{"["}, group: groupMove, help: "where one was before", when: (*app).hasOlder, run: (*app).older},
		{id: actHistoryNew, keys: []string{"]"}, group: groupMove, help: "and forward again", when: (*app).hasNewer, run: (*app).newer},

		{id: actFilter, keys: []string{"/"}, group: groupFind, help: "filter, or search in a text: text, !not, field:value, -l label=value", foot: "filter", when: (*app).filterable, run: (*app).openFilter},
		{id: page.NextMatch, keys: []string{"n"}, group: groupFind, help: "next match"},
		{id: page.PrevMatch, keys: []string{"N"}, group: groupFind, help: "match before"},
		{id: actPalette, keys: []string{":"}, group: groupFind, help: "command: a page, a resource, route GET /path, ctx NAME", foot: "go to", when: always, run: (*app).openPalette},

		{id: page.Yaml, keys: []string{"y"}, group: groupObject, help: "YAML of what is selected", foot: "yaml", when: (*app).hasYAML, run: (*app).showYAML},
		{id: page.Describe, keys: []string{"d"}, group: groupObject, help: "describe it, as kubectl does", foot: "describe", when: (*app).isReal, run: (*app).showDescription},
		{id: page.EtcdKey, keys: []string{"E"}, group: groupObject, help: "its key in etcd, and what is stored there", when: (*app).isReal, run: (*app).showStored},
		{id: page.Requests, keys: []string{"t"}, group: groupObject, help: "requests that are about it", foot: "requests"},
		{id: actCopyName, keys: []string{"c"}, group: groupObject, help: "copy its name", when: (*app).hasSubject, run: (*app).copyName},
		{id: actCopyAs, keys: []string{"Y"}, group: groupObject, help: "copy it as a command line: kapi inspect, kubectl, curl, etcdctl", when: (*app).hasSubject, run: (*app).openCopyAs},
		{id: actDelete, keys: []string{"ctrl+x"}, group: groupObject, help: "delete it (needs --allow-changes, and its name typed)", danger: true, when: (*app).isReal, run: (*app).askDelete},

		{id: page.Sort, keys: []string{"s"}, group: groupTable, help: "sort by the next column", foot: "sort"},
		{id: page.Reverse, keys: []string{"S"}, group: groupTable, help: "sort the other way round"},
		{id: page.Wide, keys: []string{"w"}, group: groupTable, help: "more columns"},
		{id: page.Unhealthy, keys: []string{"e"}, group: groupTable, help: "only what is not well", foot: "unhealthy"},
		{id: page.Follow, keys: []string{"F"}, group: groupTable, help: "follow the newest"},
		{id: page.Fold, keys: []string{"z"}, group: groupTable, help: "fold and unfold"},
		{id: page.FoldAll, keys: []string{"Z"}, group: groupTable, help: "fold everything"},
		{id: page.UnfoldAll, keys: []string{"A"}, group: groupTable, help: "unfold everything"},

		{id: actFullscreen, keys: []string{"f"}, group: groupView, help: "the page alone on the screen", when: always, run: (*app).toggleFullscreen},
		{id: actPause, keys: []string{" "}, group: groupView, help: "pause: the screen stays as it is", when: (*app).connected, run: (*app).togglePause},
		{id: actEarlier, keys: []string{"<"}, group: groupView, help: "back in time, up to 15 minutes; what changed is marked", when: (*app).hasEarlier, run: (*app).earlier},
		{id: actLater, keys: []string{">"}, group: groupView, help: "forward in time, to now", when: (*app).inPast, run: (*app).later},
		{id: page.Refresh, keys: []string{"r"}, group: groupView, help: "ask the server again", when: always, run: (*app).refresh},
		{id: actTheme, keys: []string{"T"}, group: groupView, help: "next theme", when: always, run: (*app).nextTheme},
		{id: actMouse, keys: []string{"m"}, group: groupView, help: "mouse on or off (off: the terminal selects text)", when: always, run: (*app).toggleMouse},
		{id: actSuspend, keys: []string{"ctrl+z"}, group: groupView, help: "to the shell; fg comes back", when: always, run: (*app).suspend},
		{id: actHelp, keys: []string{"?"}, group: groupView, help: "this help", foot: "help", when: always, run: (*app).openHelp},
		{id: actQuit, keys: []string{"q"}, group: groupView, help: "back, and quit where there is nothing behind", foot: "quit", when: always, run: (*app).backOrQuit},
		{id: actInterrupt, keys: []string{"ctrl+c"}, group: groupView, help: "twice: quit from anywhere", when: always, run: (*app).interrupt},
	}
	return slices.Concat(list, pageActions())
}

// pageActions are the digits of the pages.
func pageActions() []action {
	var list []action
	for _, p := range pageTable() {
		if p.Digit == "" {
			continue
		}
		list = append(list, action{
			id: page.ActionID("page-" + p.Name), keys: []string{p.Digit}, group: groupMove, help: "page " + p.Name + ": " + p.Help,
			when: func(*app) bool { return true },
			run:  func(a *app) tea.Cmd { return a.goTo(page.At(p.Name, "")) },
		})
	}
	return list
}

// offered tells whether an action does something here and now.
func (a *app) offered(act *action) bool {
	if act.danger && a.options.ReadOnly {
		return false
	}
	if act.when != nil && !act.when(a) {
		return false
	}
	if act.run != nil {
		return true
	}
	return a.pageOffers(act.id)
}

// dispatch does an action, if it may be done.
func (a *app) dispatch(act *action) tea.Cmd {
	if act.danger && a.options.ReadOnly {
		return a.toast(true, readOnlyText(string(act.id)))
	}
	if act.when != nil && !act.when(a) {
		return nil
	}
	if act.run != nil {
		return act.run(a)
	}
	return a.pageAct(act.id)
}

func readOnlyText(what string) string {
	return what + " would change the server, and this is read-only: start with --allow-changes"
}
