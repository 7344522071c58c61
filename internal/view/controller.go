package view

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined"
	"github.com/kapi-dev/kapi/internal/text"
)

// Controller prints everything about one controller, as it is at the time now. The
// error is the writer's.
func Controller(w io.Writer, s text.Screen, c *v1alpha1.Controller, now time.Time) error {
	page := text.NewPage(w, s)
	word := kinds.ControllerState(c)
	page.Line(text.Cell{Text: c.Name + "  ", Tone: text.Heading}, text.Cell{Text: word, Tone: controllerTone(c)})
	if why := kinds.ControllerWhy(c); why != "" {
		page.Text(0, controllerTone(c), why)
	}
	queue, retries, errors, requests := "", "", "", ""
	if word != kinds.ControllerOff && word != kinds.ControllerStandby { // elsewhere they are nothing, or another's
		queue, retries, errors = queueText(c), fmt.Sprint(c.Status.Retries), errorsText(c, now)
		requests = join(" ", "kapi inspect requests --user", c.Spec.Identity)
	}
	page.Pairs(
		text.Pair{Key: "Does", Value: c.Spec.Doc},
		text.Pair{Key: "Set", Value: strings.Join(c.Spec.Sets, ", ")},
		text.Pair{Key: "Acts as", Value: c.Spec.Identity},
		text.Pair{Key: "Runs in", Value: kinds.ControllerHolder(c)},
		text.Pair{Key: "Since", Value: second(kinds.TimeOf(c.Status.StartedAt), now)},
		text.Pair{Key: "Queue", Value: queue},
		text.Pair{Key: "Retries", Value: retries},
		text.Pair{Key: "Errors", Value: errors},
		text.Pair{Key: "Last error", Value: c.Status.LastError, Tone: text.Bad},
		text.Pair{Key: "Requests", Value: requests, Tone: text.Heading},
	)
	conditionsBlock(page, joined.ControllerConditions(c), now)
	return page.Close()
}

func controllerTone(c *v1alpha1.Controller) text.Tone {
	switch kinds.ControllerState(c) {
	case kinds.ControllerFailed, kinds.ControllerStuck:
		return text.Bad
	case kinds.ControllerRunning:
		return text.Good
	default:
		return text.Dim
	}
}

func queueText(c *v1alpha1.Controller) string {
	waits := fmt.Sprintf("%d keys wait", c.Status.QueueDepth)
	switch c.Status.QueueDepth {
	case 0:
		waits = "nothing waits"
	case 1:
		waits = "1 key waits"
	}
	if len(c.Spec.Queues) == 0 {
		return waits
	}
	return fmt.Sprintf("%s (%s)", waits, strings.Join(c.Spec.Queues, ", "))
}

func errorsText(c *v1alpha1.Controller, now time.Time) string {
	said := fmt.Sprint(c.Status.Errors)
	if at := kinds.TimeOf(c.Status.LastErrorAt); !at.IsZero() {
		said += ", the last " + second(at, now)
	}
	return said
}
