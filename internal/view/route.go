package view

import (
	"fmt"
	"io"
	"strings"

	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/text"
)

// Route prints an explanation as a tree: what would happen to a request, in the
// order in which it would. live is the trace of that request, if it was sent; then
// each fact says whether it came true, and a verdict follows. A code that was not
// foretold (0) cannot be wrong. The error is the writer's.
func Route(w io.Writer, s text.Screen, explanation *v1alpha1.RouteExplanation, live *v1alpha1.RequestTrace) error {
	page := text.NewPage(w, s)
	facts := routeFacts(explanation.Status, live)
	root := text.Node{Name: strings.ToUpper(explanation.Spec.Verb) + " " + explanation.Spec.Path}
	for _, f := range facts {
		root.Children = append(root.Children, f.node(live != nil))
	}
	page.Tree(root)
	page.Blank()
	if live == nil {
		page.Text(0, text.Plain, explanation.Status.Outcome)
		return page.Close()
	}
	page.Pairs(
		text.Pair{Key: "Foretold", Value: explanation.Status.Outcome},
		text.Pair{Key: "What was", Value: wasText(live), Tone: codeTone(live.Status.Code)},
		text.Pair{Key: "Audit ID", Value: live.Spec.AuditID},
	)
	page.Blank()
	routeVerdict(page, facts)
	return page.Close()
}

// wasText is what did happen. A client that sent the request to a server without
// traces knows only the answer.
func wasText(live *v1alpha1.RequestTrace) string {
	said := codeText(live.Status.Code) + " after " + took(live.Status.Duration.Duration)
	if by := live.Status.TerminatedBy; by.Kind != "" {
		said += ", ended by " + endText(by, 0, live.Status.Panicked)
	}
	return said
}

// fact is something that an explanation foretells.
type fact struct {
	name string
	// foretold is what would happen; empty if that is not certain.
	foretold string
	// was is what did happen; empty if a trace does not show it.
	was string
	// wrong says that the two are not the same thing.
	wrong bool

	tone     text.Tone
	notes    []string
	children []text.Node
}

// checked says that the fact could be wrong.
func (f fact) checked() bool { return f.foretold != "" && f.was != "" }

func (f fact) node(sent bool) text.Node {
	node := text.Node{Name: f.name + ":", Label: f.foretold, Tone: f.tone, Notes: f.notes, Children: f.children}
	switch {
	case !sent:
	case f.foretold == "":
		node.Label = "not certain beforehand; was " + f.was
	case f.was == "":
	case f.wrong:
		node.Children = append([]text.Node{{Name: "but was:", Label: f.was, Tone: text.Bad}}, f.children...)
	case f.was == f.foretold:
		node.Label += " (so it was)"
	default:
		node.Label += " (was " + f.was + ")"
	}
	return node
}

// routeVerdict lists what was not as foretold, and sums up.
func routeVerdict(page *text.Page, facts []fact) {
	checked, wrong := 0, 0
	for _, f := range facts {
		if !f.checked() {
			continue
		}
		checked++
		if f.wrong {
			wrong++
			page.Text(0, text.Bad, fmt.Sprintf("%s: foretold %s, was %s", f.name, f.foretold, f.was))
		}
	}
	if checked == 0 {
		page.Text(0, text.Dim, "Nothing was foretold that could be compared.")
		return
	}
	if wrong == 0 {
		page.Text(0, text.Good, "As foretold: "+counted(checked, "fact")+" compared, none differs.")
		return
	}
	page.Text(0, text.Bad, fmt.Sprintf("Not as foretold: of %s compared, %d differ.", counted(checked, "fact"), wrong))
}
