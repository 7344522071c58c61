package tui

import (
	"bufio"
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"golang.org/x/term"

	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/ink"
	"github.com/kapi-dev/kapi/tui/page"
	"github.com/kapi-dev/kapi/tui/pages"
	"github.com/kapi-dev/kapi/tui/pages/kit"
	"github.com/kapi-dev/kapi/tui/theme"
)

// plainHeight is how long a page can be in lines: a reader of lines has no end of
// the screen.
const (
	plainHeight = 20_000
	// plainWidth is the most, so that nothing stands beside a table: lines are read one
	// after the other.
	plainWidth = kit.SideAt - 1
	// plainPause is how often a page is said again at most: whoever listens to it needs
	// time.
	plainPause = 2 * time.Second
)

// runPlain prints the page in lines: as a whole at first, then what is new in it.
// Nothing is drawn over, so that it can be read aloud, logged, and piped.
func runPlain(ctx context.Context, options Options) error {
	if options.Refresh < plainPause {
		options.Refresh = plainPause
	}
	now := options.Now
	if now == nil {
		now = time.Now
	}
	bounded, cancel := context.WithTimeout(ctx, connectTime)
	_, s, err := open(bounded, options, "", now)
	cancel()
	if err != nil {
		return err
	}
	defer s.close()
	a := newApp(options, nil, nil, nil)
	a.session = s
	v, err := a.make(a.firstPage())
	if err != nil {
		return err
	}
	a.stack = []*visit{v}
	a.need()
	p, err := newPlainPrinter(options, a)
	if err != nil {
		return err
	}
	return p.run(ctx)
}

// plainPrinter says what is new.
type plainPrinter struct {
	app   *app
	out   *bufio.Writer
	paper ink.Paper
	said  map[string]int
	state data.State
	any   bool
}

func newPlainPrinter(options Options, a *app) (*plainPrinter, error) {
	set, err := theme.Glyphs(glyphs(options))
	if err != nil {
		return nil, err
	}
	width := plainWidth
	if w, _, err := term.GetSize(int(options.Out.Fd())); err == nil && w > 0 {
		width = min(w, plainWidth)
	}
	return &plainPrinter{app: a, out: bufio.NewWriter(options.Out), paper: ink.Paper{Width: max(leastWidth, width), Height: plainHeight, Glyphs: set}}, nil
}

func (p *plainPrinter) run(ctx context.Context) error {
	p.settle(p.app.ask())
	for {
		frame, ok := p.app.session.hub.Next(ctx)
		if !ok {
			return nil
		}
		p.settle(p.app.take(frame))
		v := p.app.top() // a page can have been replaced by another one
		if v.err != nil {
			return v.err
		}
		if p.waiting(v) {
			continue
		}
		if !p.say(frame, p.lines(v, frame)) || p.over() {
			return nil
		}
	}
}

// settle does what the page has asked for, one after the other, and waits for it:
// nobody presses keys meanwhile.
func (p *plainPrinter) settle(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch m := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, each := range m {
			p.settle(each)
		}
	default:
		p.settle(p.app.update(m))
	}
}

// over tells whether nothing will come: a snapshot does not change.
func (p *plainPrinter) over() bool {
	replay := p.app.options.Replay
	return replay != nil && replay.Length() == 0
}

// waiting tells whether what the page needs has not come yet.
func (p *plainPrinter) waiting(v *visit) bool {
	for _, key := range v.page.Needs() {
		if p.app.frame.View(key).State == data.Loading && !p.any {
			return true
		}
	}
	return false
}

// lines are the page's, without what only means something on a screen.
func (p *plainPrinter) lines(v *visit, frame data.Frame) []string {
	paper := p.paper
	paper.Now = frame.Now
	var drawn []ink.Line
	p.app.guard(v, func() { drawn = v.page.View(paper) })
	var lines []string
	for _, line := range drawn {
		text := paper.Fit(line, paper.Width).String()
		if len(line) > 0 && line[0].Selected { // the cursor is of no use here
			text = strings.Replace(text, paper.Glyphs.Cursor, " ", 1)
		}
		lines = append(lines, strings.TrimRight(text, " "))
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// figures are numbers with their units: they change all the time, and a line that
// differs in nothing else is no news.
var figures = regexp.MustCompile(`<?\d[\d.,:]*(Ki|Mi|Gi|Ti|µs|us|ms|s|m|h|d|y|%|/s)*|\s+`)

// gist is a line without its figures and without its alignment.
func gist(line string) string { return figures.ReplaceAllString(line, "#") }

// say prints all lines at first, later those that say something new; false where
// whoever read them has gone.
func (p *plainPrinter) say(frame data.Frame, lines []string) bool {
	now := map[string]int{}
	var fresh []string
	for _, line := range lines {
		key := gist(line)
		now[key]++
		if line != "" && now[key] > p.said[key] {
			fresh = append(fresh, line)
		}
	}
	state, _ := p.app.freshest()
	switch {
	case !p.any:
		fmt.Fprintf(p.out, "%s, %s\n", p.app.title(p.app.top()), kit.StateMark(p.paper.Glyphs, state).Text)
		fresh = lines
	case len(fresh) == 0 && state == p.state:
		return true
	default:
		fmt.Fprintf(p.out, "\n%s, %s\n", frame.Now.Format(time.TimeOnly), kit.StateMark(p.paper.Glyphs, state).Text)
		if err := frame.Err; err != nil {
			fmt.Fprintln(p.out, errorText(err))
		}
	}
	for _, line := range fresh {
		fmt.Fprintln(p.out, line)
	}
	p.said, p.state, p.any = now, state, true
	return p.out.Flush() == nil
}

// ParsePlace reads where to begin, as it is typed after `kapi tui`: PAGE[/NAME], or
// a resource of the server, which may be in a namespace.
func ParsePlace(text, namespace string) (page.Location, error) {
	at, err := page.Parse(text)
	if err != nil || at.Page == "" {
		return page.Location{}, fault.WithHint(fault.Usagef("%q is no page", text), "%s", pageNames())
	}
	entry, isPage := pages.ByName(at.Page)
	switch {
	case isPage && namespace != "":
		return page.Location{}, fault.Usagef("page %s has no namespaces: --namespace=%s is for resources of the server", entry.Name, namespace)
	case isPage:
		at.Page = entry.Name
	case namespace != "":
		if at.Query == nil {
			at.Query = url.Values{}
		}
		at.Query.Set("namespace", namespace)
	}
	return at, nil
}

// PageNames are the names of all pages that can be opened by their names.
func PageNames() []string {
	var names []string
	for _, entry := range pageTable() {
		if entry.Name != "object" && entry.Name != "route" {
			names = append(names, entry.Name)
		}
	}
	return names
}

func pageNames() string {
	return "pages are " + strings.Join(PageNames(), ", ") + ", and any resource of the server"
}
