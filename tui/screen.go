package tui

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/pages/kit"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Breakpoints, in cells.
const (
	leastWidth, leastHeight = 40, 12
	// compactWidth is where the tabs begin to be shown, standardWidth where they have
	// their whole names.
	compactWidth, standardWidth = 60, 100
	// tabsHeight is where a line is left for the tabs.
	tabsHeight = 16
)

// draw is the screen: head, tabs, body, panel, foot.
func (a *app) draw() string {
	paper := a.paper()
	if paper.Width <= 0 || paper.Height <= 0 {
		return ""
	}
	if paper.Width < leastWidth || paper.Height < leastHeight {
		return paper.Draw(tooSmall(paper), a.theme)
	}
	var above, below []ink.Line
	if !a.fullscreen {
		above = append(above, a.head(paper))
		if paper.Height >= tabsHeight && paper.Width >= compactWidth {
			above = append(above, a.tabs(paper))
		}
	}
	if a.panel != nil {
		below = a.panel.lines(a, paper.Sized(paper.Width, paper.Height-len(above)-4))
	}
	below = append(below, a.foot(paper)...)
	body := paper.Sized(paper.Width, paper.Height-len(above)-len(below))
	lines := slices.Concat(above, ink.Fill(a.body(body), body.Height), below)
	return paper.Draw(ink.Fill(lines, paper.Height), a.theme)
}

func tooSmall(paper ink.Paper) []ink.Line {
	lines := []ink.Line{
		ink.L(ink.Heading, "too small"),
		ink.L(ink.Text, "kapi needs 40x12"),
		ink.L(ink.Muted, "q quits"),
	}
	return ink.Fill(lines, paper.Height)
}

// body is the page, or what stands in its place.
func (a *app) body(paper ink.Paper) []ink.Line {
	v := a.top()
	if v == nil || a.session == nil {
		return a.connectingScreen(paper)
	}
	var lines []ink.Line
	if v.err == nil {
		a.guard(v, func() { lines = v.page.View(paper) })
	}
	if v.err != nil {
		return kit.Failure(paper, v.err, "it is kapi's fault, not the server's; esc leaves the page, the others go on")
	}
	return lines
}

// connectingScreen is what is seen until a server answers.
func (a *app) connectingScreen(paper ink.Paper) []ink.Line {
	name := a.connecting.name
	if name == "" {
		name = "the server"
	}
	lines := []ink.Line{nil, {ink.T(ink.Text, "  "), ink.T(ink.Muted, paper.Glyphs.Running+" "), ink.T(ink.Heading, "connecting to "+name)}, nil}
	if err := a.connecting.err; errors.Is(err, ErrStarting) {
		lines = append(lines, ink.L(ink.Muted, "    "+err.Error()))
	} else if err != nil {
		lines = append(lines, kit.Failure(paper, err, fault.Hint(err))...)
		lines = append(lines, nil)
		if next := a.connecting.next; !next.IsZero() {
			lines = append(lines, ink.Line{ink.T(ink.Muted, "  next try in "+kinds.Took(metav1.Duration{Duration: max(0, next.Sub(a.now()).Round(time.Second))})+"; "),
				ink.T(ink.Key, a.keys.keyOf("refresh")), ink.T(ink.Muted, " tries now, "), ink.T(ink.Key, ":ctx"), ink.T(ink.Muted, " another server")})
		} else {
			lines = append(lines, ink.L(ink.Muted, "  it will not get better by itself: another server with :ctx, or q"))
		}
	}
	return ink.Fill(lines, paper.Height)
}

// head is where one is at the left, and how fresh it is at the right.
func (a *app) head(paper ink.Paper) ink.Line {
	right := a.headRight(paper)
	left := ink.Line{ink.T(ink.Accent, " kapi")}
	for i, v := range a.stack {
		if len(a.stack) > 4 && i > 0 && i < len(a.stack)-2 {
			if i == 1 {
				left = append(left, ink.T(ink.Muted, " "+paper.Glyphs.Crumb+" "+paper.Glyphs.Ellipsis))
			}
			continue
		}
		token := ink.Muted
		if i == len(a.stack)-1 {
			token = ink.Title
		}
		left = append(left, ink.T(ink.Muted, " "+paper.Glyphs.Crumb+" "), ink.T(token, a.title(v)))
	}
	if status := a.status(); status != "" && paper.Width >= compactWidth {
		left = append(left, ink.T(ink.Muted, "  "+status))
	}
	room := paper.Width - right.Width() - 2
	if room < 10 {
		return left
	}
	return append(append(paper.Fit(left, room), ink.T(ink.Text, " ")), right...)
}

func (a *app) title(v *visit) string {
	title := v.at.Page
	if v.page != nil {
		a.guard(v, func() { title = v.page.Title() })
	}
	return title
}

// status is what the page says of itself in few words.
func (a *app) status() string {
	v := a.top()
	if v == nil || v.page == nil || v.err != nil {
		return ""
	}
	text := ""
	if status, ok := v.page.(interface{ Status() string }); ok {
		a.guard(v, func() { text = status.Status() })
	}
	return text
}

// headRight is the right end of the head: what may be done, which server, how fresh.
func (a *app) headRight(paper ink.Paper) ink.Line {
	var line ink.Line
	if a.options.recorder != nil && a.options.recorder.Err() == nil {
		line = append(line, ink.T(ink.Bad, paper.Glyphs.Running+" rec"), ink.T(ink.Text, "  "))
	}
	if !a.options.ReadOnly && paper.Width >= compactWidth {
		line = append(line, ink.T(ink.Warning, "changes allowed"), ink.T(ink.Text, "  "))
	}
	if paper.Width >= standardWidth && a.session != nil {
		about := a.frame.About
		line = append(line, ink.T(ink.Muted, strings.TrimSpace(a.session.target.Name+"  "+about.KubernetesVersion)))
		if about.Type == inspection.Foreign {
			line = append(line, ink.T(ink.Muted, "  not a kapi"))
		}
		line = append(line, ink.T(ink.Text, "  "))
	}
	return append(line, a.freshness(paper.Glyphs)...)
}

// freshness is how far what is seen can be relied on.
func (a *app) freshness(glyphs *ink.Glyphs) ink.Line {
	if a.session == nil {
		return ink.Line{ink.T(ink.Muted, glyphs.Running+" connecting")}
	}
	if !a.travel.IsZero() {
		ago := a.now().Sub(a.travel)
		if a.options.Replay != nil {
			ago = a.options.Replay.Clock().Sub(a.travel)
		}
		return ink.Line{ink.T(ink.Changed, glyphs.Changed+" past "+a.travel.Format(time.TimeOnly)), ink.T(ink.Muted, " "+kit.Took(ago.Round(time.Second))+" ago")}
	}
	state, at := a.freshest()
	if a.paused {
		return ink.Line{ink.T(ink.Warning, glyphs.Off+" paused"), ink.T(ink.Muted, age(a.now().Sub(at)))}
	}
	line := ink.Line{kit.StateMark(glyphs, state)}
	if !at.IsZero() && (state == data.Live || state == data.Stale) && a.options.Replay == nil {
		line = append(line, ink.T(ink.Muted, age(a.now().Sub(at))))
	}
	if a.options.Replay != nil {
		line = ink.Line{ink.T(ink.Accent, glyphs.Running+" recording"), ink.T(ink.Muted, " "+a.frame.Now.Format(time.TimeOnly))}
	}
	if next := a.frame.Retry; state == data.Stale && next.After(a.now()) {
		line = append(line, ink.T(ink.Muted, ", trying again"))
	}
	return line
}

// freshest is the state of what the page shows: that of the connection if it is
// lost, else that of its first feed; and when the server was last heard of.
func (a *app) freshest() (data.State, time.Time) {
	state := a.frame.State
	var at time.Time
	v := a.top()
	if v == nil || v.page == nil {
		return state, at
	}
	needs := []data.Key{}
	a.guard(v, func() { needs = v.page.Needs() })
	for i, key := range needs {
		view := a.frame.View(key)
		if view.At.After(at) {
			at = view.At
		}
		if i == 0 && state == data.Live {
			state = view.State
		}
	}
	if len(needs) == 0 && state == data.Live {
		at = a.frame.Now
	}
	return state, at
}

// age is a duration as it stands behind live and stale: " 0.4s", " 12s", " 3m".
func age(d time.Duration) string {
	if d < 0 {
		d = 0
	}
	if d < 10*time.Second {
		return " " + d.Truncate(100*time.Millisecond).String()
	}
	return " " + kit.Ago(time.Unix(1, 0), time.Unix(1, 0).Add(d))
}

// tabs are the pages with digits.
func (a *app) tabs(paper ink.Paper) ink.Line {
	var line ink.Line
	current := ""
	if len(a.stack) > 0 {
		current = a.stack[0].at.Page
	}
	long := paper.Width >= standardWidth
	for i, entry := range pageTable() {
		if entry.Digit == "" {
			continue
		}
		name, gap := entry.Short, " "
		if long {
			name, gap = entry.Name, "  "
		}
		if i == 0 {
			gap = " "
		}
		token := ink.Muted
		if entry.Name == current {
			token = ink.Accent
		}
		line = append(line, ink.T(ink.Text, gap), ink.T(ink.Key, entry.Digit), ink.T(token, " "+name))
	}
	return line
}

// foot is the line at the bottom: the panel's, a toast (which may take more than
// one), or what can be done here.
func (a *app) foot(paper ink.Paper) []ink.Line {
	if a.panel != nil {
		if line := a.panel.foot(a, paper); line != nil {
			return []ink.Line{line}
		}
	}
	if a.toasted.text != "" {
		return a.toastLines(paper)
	}
	if a.fullscreen {
		return nil
	}
	return []ink.Line{a.hints(paper)}
}

// mostToast is how many lines a toast may take.
const mostToast = 4

func (a *app) toastLines(paper ink.Paper) []ink.Line {
	mark, token := paper.Glyphs.Good, ink.Text
	if a.toasted.bad {
		mark, token = paper.Glyphs.Bad, ink.Bad
	}
	var lines []ink.Line
	for i, line := range paper.Wrap(token, a.toasted.text, paper.Width-4) {
		if i == mostToast {
			break
		}
		lines = append(lines, append(ink.Line{ink.T(token, " "+mark+" ")}, line...))
		mark = strings.Repeat(" ", ink.Width(mark))
	}
	return lines
}

// hints are the actions that the footer names, as many as there is room for; those
// at the end of the list are on every page and keep their places.
func (a *app) hints(paper ink.Paper) ink.Line {
	var own, fixed ink.Line
	if filter := a.filtered(); filter != "" {
		own = append(own, ink.T(ink.Text, " "), ink.T(ink.Match, "/"+filter), ink.T(ink.Text, " "))
	}
	for i := range a.keys.actions {
		act := &a.keys.actions[i]
		if act.foot == "" || len(act.keys) == 0 || !a.offered(act) {
			continue
		}
		hint := ink.Line{ink.T(ink.Text, " "), ink.T(ink.Key, shownKey(act.keys[0])), ink.T(ink.Muted, " "+act.foot+" ")}
		switch act.id {
		case actHelp, actQuit, actPalette:
			fixed = append(fixed, hint...)
		default:
			own = append(own, hint...)
		}
	}
	room := paper.Width - fixed.Width()
	return append(cutHints(paper, own, room), fixed...)
}

// cutHints leaves whole hints only.
func cutHints(paper ink.Paper, line ink.Line, room int) ink.Line {
	width, kept := 0, 0
	for i := 0; i+3 <= len(line); i += 3 {
		w := line[i : i+3].Width()
		if width+w > room {
			break
		}
		width, kept = width+w, i+3
	}
	return paper.Fit(line[:kept], room)
}

// errorText is an error and the way out, on one line.
func errorText(err error) string {
	text := err.Error()
	if hint := fault.Hint(err); hint != "" {
		text += "; " + hint
	}
	return text
}
