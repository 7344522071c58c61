package tui

import (
	"context"
	"errors"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/client/inspection/dial"
	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/page"
)

// session is a server that is connected to. Its feeds reconnect by themselves.
type session struct {
	target Target
	client data.Client
	hub    *data.Hub
	// ctx ends with the session.
	ctx    context.Context
	cancel context.CancelFunc
	// resources are those of discovery, for completion; nil until they are known.
	resources []data.Resource
}

// close ends everything that the session has started, and waits for it.
func (s *session) close() {
	s.cancel()
	s.hub.Close()
}

// attempt is the state of connecting.
type attempt struct {
	context string
	name    string
	tries   int
	// err is why the last try failed; next is when the next one is made.
	err  error
	next time.Time
}

type (
	// connectedMsg is the end of a try.
	connectedMsg struct {
		attempt int
		session *session
		name    string
		err     error
	}
	// retryMsg is the time for another one.
	retryMsg struct{ attempt int }
	// resourcesMsg are the resources of a session.
	resourcesMsg struct {
		session   *session
		resources []data.Resource
	}
)

func (a *app) connected() bool { return a.session != nil }

// connectTime is how long one try may take.
const connectTime = 15 * time.Second

// connect begins to connect to a context; what was there goes on until it succeeds.
func (a *app) connect(name string) tea.Cmd {
	a.attempt++
	a.arrived = nil
	a.connecting = attempt{context: name, name: name}
	return a.try()
}

func (a *app) try() tea.Cmd {
	id, options, name, now := a.attempt, a.options, a.connecting.context, a.now
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), connectTime)
		defer cancel()
		target, s, err := open(ctx, options, name, now)
		return connectedMsg{id, s, target, err}
	}
}

// open connects once. It makes one request, to see what kind of server answers.
func open(ctx context.Context, options Options, name string, now func() time.Time) (string, *session, error) {
	hubOptions := data.HubOptions{Now: now, Interval: options.Refresh, Recorder: options.recorder}
	if options.Logs != nil {
		hubOptions.Logs = options.Logs
	}
	if replay := options.Replay; replay != nil {
		hubOptions.Source, hubOptions.Now, hubOptions.Base = replay, replay.Clock, base(inspection.Kapi)
		client := data.NewClient(data.ClientOptions{ReadOnly: true})
		return options.ReplayName, start(Target{Name: options.ReplayName}, client, hubOptions), nil
	}
	target, err := options.Connect(name)
	if err != nil {
		return name, nil, err
	}
	if options.ReadOnly {
		target.Config = data.ReadOnly(target.Config)
	}
	server, err := dial.Dial(ctx, target.Config)
	if err != nil {
		return target.Name, nil, target.Explain(err)
	}
	about, err := server.About(ctx)
	if err != nil {
		return target.Name, nil, target.Explain(err)
	}
	client := newRenewable(options, target, server)
	hubOptions.Source, hubOptions.Explain, hubOptions.Base = data.NewServerSource(server, target.Config), target.Explain, base(about.Type)
	hubOptions.Redial = func(ctx context.Context) (data.Source, error) {
		again, err := options.Connect(name)
		if err != nil {
			return nil, err
		}
		if options.ReadOnly {
			again.Config = data.ReadOnly(again.Config)
		}
		server, err := dial.Dial(ctx, again.Config)
		if err != nil {
			return nil, err
		}
		client.renew(options, again, server)
		return data.NewServerSource(server, again.Config), nil
	}
	return target.Name, start(target, client, hubOptions), nil
}

func start(target Target, client data.Client, options data.HubOptions) *session {
	ctx, cancel := context.WithCancel(context.Background())
	return &session{target: target, client: client, hub: data.NewHub(options), ctx: ctx, cancel: cancel}
}

// base are the feeds that are followed whatever page is seen: of a kapi what changes
// seldom and is looked for in the past. Everything else is followed while a page
// shows it, since each costs the server, and this program, something: the counters of
// the filters change with every request.
func base(kind inspection.Type) []data.Key {
	if kind != inspection.Kapi {
		return nil
	}
	var keys []data.Key
	for _, resource := range []string{"poststarthooks", "healthchecks", "conditiontransitions", "apiserviceprobes"} {
		keys = append(keys, data.Of(resource))
	}
	return append(keys, data.APIServices)
}

// connectedTo goes on with a new session, or waits and tries again. Input that
// can't become right by waiting is not tried again.
func (a *app) connectedTo(m connectedMsg) tea.Cmd {
	if m.attempt != a.attempt {
		if m.session != nil {
			return func() tea.Msg { m.session.close(); return nil }
		}
		return nil
	}
	if a.panel != nil && a.session != nil { // whoever types is not interrupted
		a.arrived = &m
		return nil
	}
	a.connecting.name = m.name
	if m.err != nil {
		return a.failedToConnect(m.err)
	}
	var closing tea.Cmd
	if before := a.session; before != nil {
		closing = func() tea.Msg { before.close(); return nil }
	}
	first := a.session == nil && len(a.stack) == 0
	a.session, a.connecting = m.session, attempt{}
	a.frame, a.travel, a.paused, a.held, a.waiting = data.Frame{}, time.Time{}, false, nil, false
	cmds := []tea.Cmd{closing, a.learnResources()}
	if first {
		cmds = append(cmds, a.goTo(a.firstPage()))
		if len(a.stack) == 0 {
			cmds = append(cmds, a.goTo(page.At("dashboard", "")))
		}
	} else {
		cmds = append(cmds, a.reopen(), a.say("connected to %s", m.name))
	}
	return tea.Batch(append(cmds, a.wait())...)
}

// firstPage is the one that was asked for, else the one of the last time.
func (a *app) firstPage() page.Location {
	if !a.options.Start.Zero() {
		return a.options.Start
	}
	if a.options.State != nil {
		if at, err := page.Parse(a.options.State.Page); err == nil && !at.Zero() && at.Page != "object" {
			return at
		}
	}
	return page.At("dashboard", "")
}

// reopen makes the page that is seen again, for another server.
func (a *app) reopen() tea.Cmd {
	at := page.At("dashboard", "")
	if len(a.stack) > 0 {
		at = page.At(a.stack[0].at.Page, "")
		if at.Page == "object" {
			at = page.Location{Page: "object", Name: a.stack[0].at.Name, Query: a.stack[0].at.Query}
		}
	}
	a.stack, a.old, a.fresh = nil, nil, nil
	return a.goTo(at)
}

func (a *app) failedToConnect(err error) tea.Cmd {
	a.connecting.tries++
	a.connecting.err = err
	if a.session != nil { // the one before stays
		name := a.connecting.context
		a.connecting = attempt{}
		return a.toast(true, "ctx "+name+": "+errorText(err))
	}
	if fault.Code(err) == fault.CodeUsage {
		a.connecting.next = time.Time{}
		return nil
	}
	pause := min(5*time.Second, 250*time.Millisecond<<min(a.connecting.tries, 5))
	if errors.Is(err, ErrStarting) {
		pause = 250 * time.Millisecond
	}
	a.connecting.next = a.now().Add(pause)
	id := a.attempt
	return tea.Tick(pause, func(time.Time) tea.Msg { return retryMsg{id} })
}

func (a *app) retry(m retryMsg) tea.Cmd {
	if m.attempt != a.attempt || a.session != nil {
		return nil
	}
	a.connecting.next = time.Time{}
	return a.try()
}

// wait waits for the next frame, if nobody does yet.
func (a *app) wait() tea.Cmd {
	if a.session == nil || a.waiting {
		return nil
	}
	a.waiting = true
	s := a.session
	return func() tea.Msg {
		frame, ok := s.hub.Next(s.ctx)
		return frameMsg{s, frame, ok}
	}
}

// framed takes a frame.
func (a *app) framed(m frameMsg) tea.Cmd {
	if m.session != a.session {
		return nil
	}
	a.waiting = false
	if !m.ok {
		return nil
	}
	if a.paused { // the screen is held; what happens meanwhile is kept as the past
		a.held = &m.frame
		return a.wait()
	}
	return tea.Batch(a.take(m.frame), a.wait())
}

// take makes a frame the newest.
func (a *app) take(frame data.Frame) tea.Cmd {
	a.frame = frame
	if !a.travel.IsZero() {
		return nil
	}
	a.show()
	return a.ask()
}

func (a *app) learnResources() tea.Cmd {
	s := a.session
	if a.options.Replay != nil {
		return nil
	}
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(s.ctx, workTime)
		defer cancel()
		resources, err := s.client.Resources(ctx)
		if err != nil {
			return nil
		}
		return resourcesMsg{s, resources}
	}
}

func (a *app) resourcesKnown(m resourcesMsg) {
	m.session.resources = m.resources
}
