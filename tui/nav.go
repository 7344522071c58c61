package tui

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages"
	"github.com/kapi-dev/kapi/tui/pages/ask"
)

// visit is a page on the stack. A page that panics is out of order from then on;
// the others go on.
type visit struct {
	id   int
	at   page.Location
	page page.Page
	err  error
}

// deepest is how many pages can lie on one another; the oldest go.
const deepest = 50

// top is the page that is seen; nil before there is any.
func (a *app) top() *visit {
	if len(a.stack) == 0 {
		return nil
	}
	return a.stack[len(a.stack)-1]
}

// goTo begins anew with a page, as the digits and the palette do.
func (a *app) goTo(at page.Location) tea.Cmd { return a.visit(at, true, false) }

// enter puts a page on the stack.
func (a *app) enter(at page.Location) tea.Cmd { return a.visit(at, false, false) }

// visit makes a page. root leaves all others behind, replace the one that is seen.
func (a *app) visit(at page.Location, root, replace bool) tea.Cmd {
	v, err := a.make(at)
	if err != nil {
		return a.complain(err)
	}
	if top := a.top(); top != nil {
		a.remember(top)
		if !replace {
			a.old = append(a.old, top.at)
			a.old = a.old[max(0, len(a.old)-deepest):]
		}
	}
	a.fresh = nil
	switch {
	case root:
		a.stack = []*visit{v}
	case replace && len(a.stack) > 0:
		a.stack[len(a.stack)-1] = v
	default:
		a.stack = append(a.stack, v)
		a.stack = a.stack[max(0, len(a.stack)-deepest):]
	}
	return a.seen(v)
}

// make makes a page; nothing of the screen has changed yet.
func (a *app) make(at page.Location) (*visit, error) {
	entry, ok := pages.ByName(at.Page)
	if !ok {
		// Anything else may be a resource of the server; the page of objects finds out.
		name := at.Page
		if at.Name != "" {
			name += "/" + at.Name
		}
		at.Page, at.Name = "object", name
		entry, _ = pages.ByName("object")
	}
	at.Page = entry.Name
	if a.session == nil {
		return nil, fault.Usagef("not connected yet")
	}
	a.visits++
	v := &visit{id: a.visits, at: at}
	var err error
	a.guard(v, func() { v.page, err = entry.New(a.env(), at) })
	if err != nil {
		return nil, err
	}
	if remembered, ok := v.page.(page.Remembered); ok && a.options.State != nil {
		a.guard(v, func() { remembered.Restore(a.options.State.Pages[entry.Name]) })
	}
	return v, nil
}

func (a *app) env() page.Env {
	return page.Env{Client: a.session.client, Frame: func() data.Frame { return a.frame }, ReadOnly: a.options.ReadOnly, Command: a.options.Command}
}

// remember keeps sort and columns of a page that is left.
func (a *app) remember(v *visit) {
	remembered, ok := v.page.(page.Remembered)
	if !ok || a.options.State == nil || v.err != nil || v.at.Name != "" {
		return
	}
	a.guard(v, func() { a.options.State.Remember(v.at.Page, remembered.Memory()) })
}

// seen tells the feeds and the page what there is, now that the page is on top.
func (a *app) seen(v *visit) tea.Cmd {
	a.panel = nil
	a.need()
	a.show()
	return a.ask()
}

// ask lets the page that is seen ask for something by itself.
func (a *app) ask() tea.Cmd {
	v := a.top()
	if v == nil || v.err != nil {
		return nil
	}
	asker, ok := v.page.(ask.Asker)
	if !ok {
		return nil
	}
	var effect page.Effect
	a.guard(v, func() { effect = asker.Ask() })
	return a.apply(v, effect)
}

// need tells the session which feeds are seen.
func (a *app) need() {
	v := a.top()
	if a.session == nil || v == nil || v.page == nil {
		return
	}
	a.guard(v, func() { a.session.hub.Need(v.page.Needs()...) })
}

// show hands the frame that is to be seen to the page on top.
func (a *app) show() {
	v := a.top()
	if v == nil || v.page == nil || v.err != nil {
		return
	}
	a.guard(v, func() { v.page.Update(a.shown()) })
}

// shown is the frame that is to be seen: the newest, or one of the past.
func (a *app) shown() data.Frame {
	if a.travel.IsZero() || a.session == nil {
		return a.frame
	}
	frame := a.session.hub.At(a.travel)
	if frame.Against != nil && !a.knows(*frame.Against) {
		frame.Against = nil // everything would be new
	}
	return frame
}

// knows tells whether a frame of the past has what the page shows: feeds are
// followed while somebody looks.
func (a *app) knows(frame data.Frame) bool {
	v := a.top()
	if v == nil || v.page == nil || v.err != nil {
		return false
	}
	var needs []data.Key
	a.guard(v, func() { needs = v.page.Needs() })
	if len(needs) == 0 {
		return true
	}
	view := frame.View(needs[0])
	return view.State != data.Loading || len(view.Objects) > 0
}

// guard calls into a page. A panic there is the end of that page, not of the program.
func (a *app) guard(v *visit, call func()) {
	defer func() {
		if value := recover(); value != nil {
			v.err = fmt.Errorf("this page failed: %v", value)
			a.crashed(v.at.String(), value, debug.Stack())
		}
	}()
	call()
}

func (a *app) pageOffers(id page.ActionID) bool {
	v := a.top()
	if v == nil || v.page == nil || v.err != nil {
		return false
	}
	offers := false
	a.guard(v, func() { offers = v.page.Offers(id) })
	return offers
}

func (a *app) pageAct(id page.ActionID) tea.Cmd {
	v := a.top()
	if v == nil || v.page == nil || v.err != nil {
		return nil
	}
	var effect page.Effect
	a.guard(v, func() { effect = v.page.Act(page.Action{ID: id, Count: 1}) })
	return a.apply(v, effect)
}

// workTime is how long work of a page may take, unless it says otherwise.
const workTime = 10 * time.Second

// apply does what a page has asked for.
func (a *app) apply(v *visit, effect page.Effect) tea.Cmd {
	var cmds []tea.Cmd
	if effect.Toast != "" {
		cmds = append(cmds, a.toast(effect.Bad, effect.Toast))
	}
	if effect.Copy != "" {
		cmds = append(cmds, a.copy(effect.Copy, effect.What))
	}
	if effect.Run != nil && v != nil && a.session != nil {
		cmds = append(cmds, a.work(v, effect))
	}
	if !effect.Open.Zero() {
		cmds = append(cmds, a.visit(effect.Open, false, effect.Replace))
	}
	return tea.Batch(cmds...)
}

// work runs what may wait; its answer goes to the page that has asked.
func (a *app) work(v *visit, effect page.Effect) tea.Cmd {
	timeout, id, parent := effect.Timeout, v.id, a.session.ctx
	if timeout <= 0 {
		timeout = workTime
	}
	return func() (message tea.Msg) {
		ctx, cancel := context.WithTimeout(parent, timeout)
		defer cancel()
		defer func() {
			if value := recover(); value != nil {
				message = answerMsg{id, fmt.Errorf("the work for this page failed: %v", value)}
			}
		}()
		return answerMsg{id, effect.Run(ctx)}
	}
}

// answered hands an answer to the page that has asked, if it is still there.
func (a *app) answered(m answerMsg) tea.Cmd {
	for _, v := range a.stack {
		if v.id != m.visit || v.err != nil {
			continue
		}
		receiver, ok := v.page.(page.Receiver)
		if !ok {
			return nil
		}
		var effect page.Effect
		a.guard(v, func() { effect = receiver.Receive(m.answer) })
		if v != a.top() {
			effect.Open = page.Location{} // it is not seen: nobody goes anywhere
		}
		return a.apply(v, effect)
	}
	return nil
}

func (a *app) canGoBack() bool {
	return a.filtered() != "" || !a.travel.IsZero() || len(a.stack) > 1
}

// back clears a filter, then leaves the past, then the page.
func (a *app) back() tea.Cmd {
	v := a.top()
	switch {
	case v == nil:
	case a.filtered() != "":
		_ = a.setFilter("") // everything is always right
	case !a.travel.IsZero():
		return a.toNow()
	case len(a.stack) > 1:
		return a.leave()
	}
	return nil
}

// leave goes back to the page below.
func (a *app) leave() tea.Cmd {
	v := a.top()
	a.remember(v)
	a.old, a.fresh = append(a.old, v.at), nil
	a.stack = a.stack[:len(a.stack)-1]
	return a.seen(a.top())
}

func (a *app) hasOlder() bool { return len(a.old) > 0 }
func (a *app) hasNewer() bool { return len(a.fresh) > 0 }

// older goes to where one was before, newer forward again.
func (a *app) older() tea.Cmd { return a.through(&a.old, &a.fresh) }
func (a *app) newer() tea.Cmd { return a.through(&a.fresh, &a.old) }

func (a *app) through(from, to *[]page.Location) tea.Cmd {
	at := (*from)[len(*from)-1]
	v, err := a.make(at)
	if err != nil {
		return a.complain(err)
	}
	*from = (*from)[:len(*from)-1]
	if top := a.top(); top != nil {
		a.remember(top)
		*to = append(*to, top.at)
	}
	a.stack = []*visit{v}
	return a.seen(v)
}

// backOrQuit is q: back, and quit where nothing is behind.
func (a *app) backOrQuit() tea.Cmd {
	if len(a.stack) > 1 {
		return a.leave()
	}
	return a.quit()
}

// interruptTime is how soon the second ctrl-c must come.
const interruptTime = 2 * time.Second

// interrupt quits when it comes twice.
func (a *app) interrupt() tea.Cmd {
	if now := a.now(); a.interruptedAt.IsZero() || now.Sub(a.interruptedAt) > interruptTime {
		a.interruptedAt = now
		a.panel = nil
		return a.say("once more to quit")
	}
	return a.finish(Outcome{})
}
