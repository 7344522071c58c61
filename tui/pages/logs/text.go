package logs

import (
	"fmt"
	"strings"

	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/tui/components/doc"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages/kit"
)

// head is a line about what is wrong in the lines that are kept.
func (l *logs) head(_ data.Frame, paper ink.Paper) []ink.Line {
	line := ink.Line{ink.T(ink.Text, "  "+plural(l.all, "line"))}
	if l.errors > 0 {
		line = append(line, ink.T(ink.Text, "  "), ink.T(ink.Bad, paper.Glyphs.Bad+" "+plural(l.errors, "error")))
	}
	if l.warnings > 0 {
		line = append(line, ink.T(ink.Text, "  "), ink.T(ink.Warning, paper.Glyphs.Warning+" "+plural(l.warnings, "warning")))
	}
	if l.errors == 0 && l.warnings == 0 && l.all > 0 {
		line = append(line, ink.T(ink.Text, "  "), ink.T(ink.Good, paper.Glyphs.Good+" no errors"))
	}
	return []ink.Line{line}
}

func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// elsewhere says where the log of a server in another process is.
func elsewhere(paper ink.Paper, frame data.Frame, command string) []ink.Line {
	lines := []ink.Line{nil, {ink.T(ink.Text, "  "), ink.T(ink.Muted, paper.Glyphs.Off+" the log is elsewhere")}, nil}
	say := func(token ink.Token, text string) {
		for _, line := range paper.Wrap(token, text, min(100, paper.Width-4)) {
			lines = append(lines, append(ink.Line{ink.T(ink.Text, "  ")}, line...))
		}
	}
	switch {
	case frame.About.RecordedFrom != "":
		say(ink.Text, "A recording has no log.")
		return ink.Fill(lines, paper.Height)
	case frame.About.Type == inspection.Foreign:
		say(ink.Text, "No API server gives its log through its API. This one writes it where it was started: its terminal, its unit (journalctl), or its pod (kubectl logs).")
	default:
		say(ink.Text, "The server runs in another process and writes its log there: on the terminal of "+command+" serve, or where that was sent to.")
	}
	lines = append(lines, nil)
	say(ink.Text, "A server that is started with its console shows its log here:")
	lines = append(lines, nil, ink.Line{ink.T(ink.Text, "    "), ink.T(ink.Accent, command+" serve --tui")}, nil)
	say(ink.Muted, "What the server did to requests that failed is on page requests, what hangs at its start on page hooks.")
	return ink.Fill(lines, paper.Height)
}

// newLine is the page of one line, in full.
func newLine(name, command string) page.Page {
	return kit.NewText(kit.TextConfig{
		Title: "line",
		Needs: []data.Key{data.Logs},
		Render: func(frame data.Frame) doc.Render {
			if line, ok := data.Find[*data.LogLine](frame, data.Logs, name); ok && line != nil {
				return render(line)
			}
			return nil
		},
		Gone: "the line is no longer kept; only the newest are (" + command + " serve writes all)",
		Subject: func(frame data.Frame) (page.Subject, bool) {
			line, ok := data.Find[*data.LogLine](frame, data.Logs, name)
			if !ok || line == nil {
				return page.Subject{}, false
			}
			return subject(line), true
		},
	})
}

// render is a line as a document: when, how bad, and all of its text.
func render(line *data.LogLine) doc.Render {
	return func(paper ink.Paper) []doc.Line {
		var out []doc.Line
		first := ink.Line{levelOf(line).span(), ink.T(ink.Muted, "  "+line.At.Format("2006-01-02 15:04:05.000000"))}
		out = append(out, doc.Line{Line: first, Key: "when"}, doc.Line{})
		for _, part := range strings.Split(strings.TrimRight(line.Text, "\n"), "\n") {
			part = strings.ReplaceAll(part, "\t", "    ")
			said := strings.TrimLeft(part, " ")
			before := ink.T(ink.Text, strings.Repeat(" ", min(len(part)-len(said), paper.Width/2)))
			for _, wrapped := range paper.Wrap(ink.Text, said, max(1, paper.Width-1-len(before.Text))) {
				out = append(out, doc.Line{Line: append(ink.Line{before}, wrapped...), Copy: line.Text})
			}
		}
		return out
	}
}
