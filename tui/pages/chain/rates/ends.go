package rates

import (
	"strconv"
	"strings"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/apis/inspect/v1alpha1"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
)

// End is a place where requests end: a filter that has ended some, or a layer.
type End struct {
	Name  string
	Layer bool
	// Total have ended there since the start, Rate do now.
	Total int64
	Rate  Rate
	// Codes are those of a filter: of the requests that it has ended lately, or since
	// the start where it has ended none lately.
	Codes []v1alpha1.StatusCount
	// LastError is that of a layer.
	LastError *v1alpha1.LayerError
}

// Ends are all places where requests end, outermost first.
func Ends(frame data.Frame) []End {
	var ends []End
	for _, f := range Filters(frame) {
		if f.Ended() == 0 {
			continue
		}
		end := End{Name: f.Name, Total: f.Ended(), Rate: f.Ends, Codes: f.Lately}
		if len(end.Codes) == 0 {
			end.Codes = f.Status.Terminated
		}
		ends = append(ends, end)
	}
	for _, l := range Layers(frame) {
		if l.Status.RequestsAnswered > 0 {
			ends = append(ends, End{Name: l.Name, Layer: true, Total: l.Status.RequestsAnswered, Rate: l.Answers, LastError: l.Status.LastError})
		}
	}
	return ends
}

// Open is the page of the place.
func (e End) Open() page.Location {
	if e.Layer {
		return page.At("chain", "layer/"+e.Name)
	}
	return page.At("chain", e.Name)
}

// Token is how bad it is that requests end there now: nothing is wrong with a layer
// that answers.
func (e End) Token() ink.Token {
	switch {
	case e.Layer:
		return ink.Text
	case e.Rate.Known && e.Rate.PerSecond == 0:
		return ink.Muted
	}
	for _, count := range e.Codes {
		if count.Code >= 500 || count.Code == 0 {
			return ink.Bad
		}
	}
	return ink.Warning
}

// Text is how many end there: "0.2/s (403)"; since the start ("403:12") while it is not
// known how many do now.
func (e End) Text() string {
	codes := kinds.Codes(e.Codes)
	switch {
	case !e.Rate.Known && codes != "":
		return codes
	case !e.Rate.Known:
		return strconv.FormatInt(e.Total, 10)
	case codes == "":
		return PerSecond(e.Rate.PerSecond)
	case len(e.Codes) == 1:
		codes = strconv.Itoa(int(e.Codes[0].Code))
	}
	return PerSecond(e.Rate.PerSecond) + " (" + codes + ")"
}

// PerSecond writes a rate: "0/s", "0.2/s", "12/s", "1.2k/s".
func PerSecond(rate float64) string {
	switch {
	case rate <= 0:
		return "0/s"
	case rate < 0.1:
		return "<0.1/s"
	case rate < 9.95:
		return strconv.FormatFloat(rate, 'f', 1, 64) + "/s"
	case rate < 1000:
		return strconv.FormatFloat(rate, 'f', 0, 64) + "/s"
	}
	return strconv.FormatFloat(rate/1000, 'f', 1, 64) + "k/s"
}

// String writes a rate; empty while it is not known.
func (r Rate) String() string {
	if !r.Known {
		return ""
	}
	return PerSecond(r.PerSecond)
}

// Strip draws places on lines, in the order in which a request meets them, with
// arrows between them, as many lines as they need, at most most.
func Strip(paper ink.Paper, ends []End, width, most int) []ink.Line {
	var (
		lines []ink.Line
		line  ink.Line
	)
	for i, end := range ends {
		item := ink.Line{ink.T(ink.Name, paper.Clean(end.Name)+" "), ink.T(end.Token(), end.Text())}
		arrow := ink.T(ink.Muted, " "+paper.Glyphs.Arrow+" ")
		if i == 0 {
			line = item
			continue
		}
		line = append(line, arrow)
		if line.Width()+item.Width() > width {
			lines = append(lines, line)
			line = nil
		}
		line = append(line, item...)
	}
	if len(line) > 0 {
		lines = append(lines, line)
	}
	if most > 0 && len(lines) > most {
		lines = lines[:most]
		last := lines[most-1]
		lines[most-1] = append(last[:len(last):len(last)], ink.T(ink.Muted, paper.Glyphs.Ellipsis))
	}
	for i := range lines {
		lines[i] = trim(lines[i])
	}
	return lines
}

// trim takes blanks from the end of a line.
func trim(line ink.Line) ink.Line {
	if n := len(line); n > 0 {
		line[n-1].Text = strings.TrimRight(line[n-1].Text, " ")
	}
	return line
}
