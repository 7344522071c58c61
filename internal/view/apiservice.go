package view

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined"
	"github.com/kapi-dev/kapi/internal/text"
)

// APIServices prints a line for each APIService, as it is at the time now. PROBES are
// how many of the last ones succeeded. The error is the writer's.
func APIServices(w io.Writer, s text.Screen, lines []joined.APIServiceLine, options TableOptions, now time.Time) error {
	return list(w, s, serviceColumns(now), lines, options)
}

func serviceColumns(now time.Time) []listColumn[joined.APIServiceLine] {
	type line = joined.APIServiceLine
	return []listColumn[line]{
		{text.Column{Name: "Name", Middle: true}, everywhere, func(l line) text.Cell { return plain(l.Name) }},
		{text.Column{Name: "Service", Middle: true}, roomyOnly, func(l line) text.Cell { return plain(serviceText(l.Service)) }},
		{text.Column{Name: "State"}, everywhere, func(l line) text.Cell { return stateCell(l.State) }},
		{text.Column{Name: "Available"}, roomyOnly, func(l line) text.Cell {
			return conditionCell(joined.Condition{Type: "Available", Status: l.Available})
		}},
		{text.Column{Name: "Reason"}, roomyOnly, func(l line) text.Cell { return plain(l.Reason) }},
		{text.Column{Name: "Fails-At"}, everywhere, func(l line) text.Cell {
			if l.FailingStep == "" {
				return plain("-")
			}
			return text.Cell{Text: string(l.FailingStep), Tone: text.Bad}
		}},
		{text.Column{Name: "Since", Right: true}, everywhere, func(l line) text.Cell { return plain(age(l.State.Since, now)) }},
		{text.Column{Name: "Probes", Right: true}, everywhere, func(l line) text.Cell { return plain(probesCount(l)) }},
		{text.Column{Name: "503s", Right: true}, everywhere, func(l line) text.Cell { return plain(countText(l.UnavailableAnswers)) }},
		{text.Column{Name: "Changed", Right: true}, roomyOnly, func(l line) text.Cell { return plain(age(l.LastChange, now)) }},
		{text.Column{Name: "Priority", Right: true}, wideOnly, func(l line) text.Cell {
			return plain(fmt.Sprintf("%d/%d", l.GroupPriority, l.VersionPriority))
		}},
		{text.Column{Name: "Why", Shrink: true}, wideOnly, func(l line) text.Cell { return plain(l.State.Why) }},
	}
}

// probesCount is how many of the last probes succeeded: "18/20".
func probesCount(l joined.APIServiceLine) string {
	switch {
	case l.Service == "":
		return "local"
	case l.Probed == 0:
		return "-"
	default:
		return fmt.Sprintf("%d/%d", l.Succeeded, l.Probed)
	}
}

func serviceText(service string) string {
	if service == "" {
		return "Local"
	}
	return service
}

// APIService prints everything about one APIService, as it is at the time now: for an
// aggregated one the way to its server, step by step. The error is the writer's.
func APIService(w io.Writer, s text.Screen, a joined.APIService, now time.Time) error {
	page := text.NewPage(w, s)
	state := a.State
	if a.FailingStep != "" {
		state.Why = "" // the way to the server says it where it happens
	}
	title(page, a.Name, state, now)
	page.Pairs(
		text.Pair{Key: "Answers for", Value: strings.TrimPrefix(a.Group+"/"+a.Version, "/")},
		text.Pair{Key: "Answered by", Value: answererText(a)},
		text.Pair{Key: "Certificate", Value: certificateText(a)},
		text.Pair{Key: "Priority", Value: fmt.Sprintf("group %d, version %d", a.GroupPriority, a.VersionPriority)},
		text.Pair{Key: "Created", Value: second(a.CreatedAt, now)},
		text.Pair{Key: "Discovery", Value: freshnessText(a), Tone: freshnessTone(a)},
		text.Pair{Key: "Resources", Value: resourcesText(a.Resources)},
		text.Pair{Key: "Probes", Value: probesText(a)},
		text.Pair{Key: "503s", Value: unavailableText(a)},
		text.Pair{Key: "Keeps", Value: keepsText(a.Namespaces), Tone: text.Bad},
	)
	wayBlock(page, a, now)
	hintBlock(page, a.Hint)
	conditionsBlock(page, a.Conditions, now)
	historyBlock(page, a.Transitions, a.Earlier, now)
	missingBlock(page, a.Missing)
	return page.Close()
}

func answererText(a joined.APIService) string {
	if a.Service != "" {
		return "the aggregated server behind Service " + a.Service
	}
	if len(a.Resources) > 0 {
		return join(", in layer ", "this server", a.Resources[0].Layer)
	}
	return "this server"
}

func certificateText(a joined.APIService) string {
	switch {
	case a.Service == "":
		return ""
	case a.InsecureSkipTLSVerify:
		return "not verified (insecureSkipTLSVerify)"
	case a.CABundle:
		return "verified with the caBundle"
	default:
		return "verified with the authorities of this machine, as there is no caBundle"
	}
}

func freshnessText(a joined.APIService) string {
	switch {
	case a.Discovery == nil:
		return ""
	case a.State.Severity == joined.Bad: // discovery follows, and its error is the same
		return string(a.Discovery.Freshness)
	default:
		return join(": ", string(a.Discovery.Freshness), a.Discovery.Error)
	}
}

func freshnessTone(a joined.APIService) text.Tone {
	if a.Discovery == nil {
		return text.Plain
	}
	return discoveryCell(a.Discovery.Freshness).Tone
}

func resourcesText(resources []joined.Resource) string {
	names := make([]string, 0, len(resources))
	for _, r := range resources {
		name := r.Name
		if !r.Served {
			name += " (off)"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// probesText sums up the last probes, and draws them with the newest first.
func probesText(a joined.APIService) string {
	if len(a.Probes) == 0 {
		return ""
	}
	var marks strings.Builder
	for _, try := range a.Probes {
		if try.OK {
			marks.WriteString("+")
		} else {
			marks.WriteString("x")
		}
	}
	return fmt.Sprintf("%d of the last %d succeeded, newest first: %s", a.Succeeded, len(a.Probes), marks.String())
}

func unavailableText(a joined.APIService) string {
	switch {
	case a.Service == "", a.UnavailableAnswers < 0:
		return ""
	case a.UnavailableAnswers == 0:
		return "none: no client was refused for want of it"
	case a.UnavailableAnswers == 1:
		return "1 request of a client was answered 503 in its place"
	default:
		return fmt.Sprintf("%d requests of clients were answered 503 in its place", a.UnavailableAnswers)
	}
}

// keepsText says which namespaces can't go without it.
func keepsText(namespaces []string) string {
	const most = 5
	switch n := len(namespaces); {
	case n == 0:
		return ""
	case n == 1:
		return "namespace " + namespaces[0] + ", whose deletion waits until it is available or deleted"
	case n > most:
		return fmt.Sprintf("%d namespaces, whose deletion waits until it is available or deleted: %s and others", n, strings.Join(namespaces[:most], ", "))
	default:
		return "namespaces " + strings.Join(namespaces, ", ") + ", whose deletion waits until it is available or deleted"
	}
}

// wayBlock draws the steps to the aggregated server beneath each other, with the
// error at the one that has failed.
func wayBlock(page *text.Page, a joined.APIService, now time.Time) {
	if len(a.Steps) == 0 {
		return
	}
	page.Heading("Way to the server")
	page.Line(plain("kapi"), text.Cell{Text: "  probed " + age(a.Probes[0].At, now) + " ago", Tone: text.Dim})
	signs := [...]string{"├─ ", "└─ ", "│  ", "   "}
	if page.Screen.ASCII {
		signs = [...]string{"|- ", "`- ", "|  ", "   "}
	}
	for i, step := range a.Steps {
		head, beneath := signs[0], signs[2]
		if i == len(a.Steps)-1 {
			head, beneath = signs[1], signs[3]
		}
		wayStep(page, step, head, beneath)
	}
}

// wayStep prints one step: name, outcome, time, what was found, and the error beneath.
func wayStep(page *text.Page, step joined.Step, head, beneath string) {
	outcome, tone, spent := "ok", text.Good, kinds.Took(step.Duration)
	switch {
	case !step.Tried:
		outcome, tone, spent = "not tried", text.Dim, ""
	case !step.OK:
		outcome, tone = "FAILED", text.Bad
	}
	cells := []text.Cell{
		{Text: head, Tone: text.Dim}, {Text: text.Pad(string(step.Name), 10)},
		{Text: text.Pad(outcome, 11), Tone: tone}, {Text: text.Pad(spent, 9)},
	}
	const indent = 3 + 10 + 11 + 9
	room := 0
	if page.Screen.Width > 0 {
		room = max(1, page.Screen.Width-indent)
	}
	details := text.Wrap(page.Screen.Clean(step.Detail), room)
	if len(details) == 0 {
		details = []string{""}
	}
	for i, detail := range details {
		if i > 0 {
			cells = []text.Cell{{Text: beneath, Tone: text.Dim}, plain(strings.Repeat(" ", indent-3))}
		}
		page.Line(append(cells, plain(detail))...)
	}
	if page.Screen.Width > 0 {
		room = max(1, page.Screen.Width-3-10)
	}
	for _, line := range text.Wrap(page.Screen.Clean(step.Error), room) {
		page.Line(text.Cell{Text: beneath, Tone: text.Dim}, plain(strings.Repeat(" ", 10)), text.Cell{Text: line, Tone: text.Bad})
	}
}
