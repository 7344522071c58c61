package route

import (
	"context"
	"time"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/tui/components/doc"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/ask"
	"github.com/kapi-dev/kapi/tui/pages/kit"
)

// sendingTakes is how long a request that is sent may take, with the wait for its
// trace.
const sendingTakes = time.Minute

// run is the page of one dry run.
type run struct {
	env       page.Env
	spec      v1alpha1.RouteExplanationSpec
	explained ask.Question[*v1alpha1.RouteExplanation]
	sent      ask.Question[*v1alpha1.RequestTrace]
	doc       doc.Document
}

var _ interface {
	page.Page
	page.Filterer
	page.Selecter
	page.Receiver
	ask.Asker
} = &run{}

func newRun(env page.Env, spec v1alpha1.RouteExplanationSpec) *run {
	return &run{env: env, spec: spec}
}

// Title implements page.Page.
func (r *run) Title() string { return r.spec.Verb + " " + r.spec.Path }

// Needs implements page.Page.
func (r *run) Needs() []data.Key { return nil }

// Update implements page.Page.
func (r *run) Update(data.Frame) {}

// Ask implements ask.Asker.
func (r *run) Ask() page.Effect {
	if r.explained.Asked() {
		return page.Effect{}
	}
	return r.explain()
}

func (r *run) explain() page.Effect {
	client, spec := r.env.Client, r.spec
	return r.explained.Ask(0, func(ctx context.Context) (*v1alpha1.RouteExplanation, error) {
		explanation, err := client.Explain(ctx, spec)
		if ask.State(err) == data.Forbidden && fault.Hint(err) == "" {
			err = fault.WithHint(err, "ClusterRole %s allows it", v1alpha1.RoleRequests)
		}
		return explanation, err
	})
}

// send really sends the request, if it only reads.
func (r *run) send() page.Effect {
	if !reads(r.spec.Verb) {
		return page.Effect{Toast: "it would change something, so it is not sent from here", Bad: true}
	}
	if r.sent.Waiting() || r.explanation() == nil {
		return page.Effect{}
	}
	client, spec := r.env.Client, r.spec
	effect := r.sent.Ask(sendingTakes, func(ctx context.Context) (*v1alpha1.RequestTrace, error) { return client.Send(ctx, spec) })
	r.set()
	return effect
}

func (r *run) explanation() *v1alpha1.RouteExplanation {
	explanation, _ := r.explained.Value()
	return explanation
}

// Receive implements page.Receiver.
func (r *run) Receive(answer any) page.Effect {
	if r.explained.Receive(answer) || r.sent.Receive(answer) {
		r.set()
	}
	return page.Effect{}
}

// set makes the text anew.
func (r *run) set() {
	explanation := r.explanation()
	if explanation == nil {
		return
	}
	state := sending{waiting: r.sent.Waiting(), err: r.sent.Err()}
	if state.err == nil {
		state.trace, _ = r.sent.Value()
	}
	r.doc.Set(func(paper ink.Paper) []doc.Line { return text(paper, explanation, state) })
}

// Act implements page.Page.
func (r *run) Act(action page.Action) page.Effect {
	switch action.ID {
	case page.Requests:
		return r.send()
	case page.Refresh:
		r.sent = ask.Question[*v1alpha1.RequestTrace]{}
		return r.explain()
	case page.Enter:
		if line, ok := r.doc.Selected(); ok && line.Key == sendKey {
			return r.send()
		} else if ok && !line.Open.Zero() {
			return page.Effect{Open: line.Open}
		}
		fallthrough
	default:
		r.doc.Act(action)
		return r.Ask()
	}
}

// Offers implements page.Page.
func (r *run) Offers(id page.ActionID) bool {
	switch id {
	case page.Refresh:
		return true
	case page.Requests:
		return reads(r.spec.Verb) && r.explanation() != nil
	case page.Enter:
		line, ok := r.doc.Selected()
		return ok && !line.Open.Zero() || r.doc.Offers(id)
	default:
		return r.doc.Offers(id)
	}
}

// Filter implements page.Filterer: it searches.
func (r *run) Filter(text string) error { return r.doc.Filter(text) }

// Filtered implements page.Filterer.
func (r *run) Filtered() string { return r.doc.Filtered() }

// Status says in few words where one is, for the head of the screen.
func (r *run) Status() string { return r.doc.Status() }

// Selected implements page.Selecter.
func (r *run) Selected() (page.Subject, bool) {
	subject := page.Subject{Kind: "dry run", Name: r.spec.Path, Path: r.spec.Path, Commands: []string{"kapi inspect route " + typed(r.spec)}}
	if r.spec.User != "" {
		subject.Path = "" // a line made from it would ask as oneself
	}
	if reads(r.spec.Verb) {
		raw := "kubectl get --raw " + page.Quote(r.spec.Path)
		if r.spec.User != "" {
			raw += " --as " + page.Quote(r.spec.User)
		}
		for _, group := range r.spec.Groups {
			raw += " --as-group " + page.Quote(group)
		}
		subject.Commands = append(subject.Commands, raw)
	}
	if explanation := r.explanation(); explanation != nil {
		subject.Object = explanation
	}
	return subject, true
}

// View implements page.Page.
func (r *run) View(paper ink.Paper) []ink.Line {
	if r.explanation() == nil {
		if lines, blocked := kit.Blocked(r.explained.View(), paper); blocked {
			return lines
		}
	}
	notice := kit.Notices(data.View{State: ask.State(r.explained.Err()), Err: r.explained.Err()}, paper)
	body := paper.Sized(paper.Width, paper.Height-len(notice))
	return ink.Fill(append(notice, r.doc.View(body)...), paper.Height)
}
