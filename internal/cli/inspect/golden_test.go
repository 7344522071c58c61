package inspect

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kapi-dev/kapi/internal/text"
)

// golden is a file with what one command prints: a section for each command line.
type golden struct {
	b strings.Builder
}

// widths are the screens that people have.
var widths = []int{80, 160}

// sequence of an SGR escape, the only one that is written.
var escape = regexp.MustCompile("\x1b\\[[0-9;]*m")

// section runs a command for screens of each width, and checks that what it prints
// for people fits. Without widths there is no screen: a program reads it.
func (g *golden) section(t *testing.T, widths []int, env string, args ...string) {
	t.Helper()
	if len(widths) == 0 {
		g.write(0, env, args, inEnvironment(t, 0, env, args))
	}
	for _, width := range widths {
		r := inEnvironment(t, width, env, args)
		if err := fits(r.stdout, room(width, args)); err != nil {
			t.Errorf("%s: %v", title(width, env, args), err)
		}
		g.write(width, env, args, r)
	}
}

func (g *golden) write(width int, env string, args []string, r result) {
	fmt.Fprintf(&g.b, "=== %s\n%s\n", title(width, env, args), strings.ReplaceAll(r.String(), "\x1b", "^["))
}

func title(width int, env string, args []string) string {
	words := []string{"kapi inspect"}
	for _, arg := range args {
		if arg == "" || strings.ContainsAny(arg, " *<>{}$'\"") {
			arg = strconv.Quote(arg)
		}
		words = append(words, arg)
	}
	if env != "" {
		words = slices.Insert(words, 0, env)
	}
	if width > 0 {
		words = slices.Insert(words, 0, fmt.Sprintf("COLUMNS=%d", width))
	}
	return strings.Join(words, " ")
}

// inEnvironment runs a command with variables that are taken back afterwards.
func inEnvironment(t *testing.T, width int, env string, args []string) (r result) {
	t.Helper()
	t.Run("run", func(t *testing.T) {
		t.Setenv("COLUMNS", strconv.Itoa(width))
		for _, each := range strings.Fields(env) {
			name, value, _ := strings.Cut(each, "=")
			t.Setenv(name, value)
		}
		r = run(t, args...)
	})
	return r
}

// room is how wide a line may be: -o wide is not made to fit.
func room(width int, args []string) int {
	if slices.Contains(args, "wide") {
		return 0
	}
	return width
}

// fits tells whether a text can be shown in so many columns.
func fits(printed string, width int) error {
	for line := range strings.Lines(printed) {
		plain := escape.ReplaceAllString(strings.TrimSuffix(line, "\n"), "")
		switch {
		case strings.HasSuffix(plain, " "):
			return fmt.Errorf("blanks at the end of %q", plain)
		case text.Clean(plain) != plain:
			return fmt.Errorf("controls in %q", plain)
		case width > 0 && text.Width(plain) > width:
			return fmt.Errorf("%d columns: %q", text.Width(plain), plain)
		}
	}
	return nil
}

// compare compares with testdata/golden/NAME.txt, or writes it.
func (g *golden) compare(t *testing.T, dir, name string) {
	t.Helper()
	file := filepath.Join(dir, "testdata", "golden", name+".txt")
	got := g.b.String()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test -update writes it): %s", file, firstDifference(got, string(want)))
	}
}

func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(a), len(b)) {
		x, y := "(nothing)", "(nothing)"
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			return fmt.Sprintf("line %d\n got %q\nwant %q", i+1, x, y)
		}
	}
	return "not at all"
}

// shown is what the golden file of a command shows.
type shown struct {
	// name is an object for the forms that take one.
	name string
	// more are further command lines, for people.
	more []string
	// single says that there is nothing to list: only more is run, and documents
	// for programs.
	single    bool
	documents []string
}

// requestIDs are audit IDs of requests in the recording of kapi.
var requestIDs = map[string]string{
	"refused":      "4e763817-1b89-4d27-abf3-8bc07b4132ca",
	"proxied":      "67fbe89d",
	"unreachable":  "4a79bae0",
	"plugin":       "94431be3",
	"unknown user": "4800fa6a",
	"combining":    "abff8c3d",
}

// commands are all commands that read a recording. A command that is not here must
// be in elsewhere: TestEveryCommandHasGoldens.
var commands = map[string]shown{
	"inspect":        {single: true, more: []string{"", "-o table", "--exit-status"}, documents: []string{"-o json", "-o yaml"}},
	"layers":         {name: "apiextensions", more: []string{"--sort-by=answered", "--no-headers aggregator inspect"}},
	"filters":        {name: "authorization", more: []string{"--field-selector spec.enabled=false", "--sort-by terminated"}},
	"authenticators": {name: "client-certificate"},
	"authorizers":    {name: "rbac"},
	"admission":      {name: "LimitRanger", more: []string{"--field-selector=spec.enabled=true"}},
	"flow":           {name: "exempt", more: []string{"--sort-by dispatched"}},
	"health":         {name: "etcd", more: []string{"--exit-status"}},
	"hooks":          {name: "rbac-bootstrap-roles", more: []string{"-o table", "-o table --sort-by=duration", "--exit-status -o table"}},
	"boot":           {name: "boot1-etcd", more: []string{"-o table"}},
	"etcd":           {name: "kapi"},
	"controllers":    {name: "resourcequota", more: []string{"csrsigning", "job", "namespace job", "-o wide --sort-by queue", "controller-of-nothing"}},
	"resources":      {name: "widgets.v1.example.com", more: []string{"--field-selector spec.served=false"}},
	"storage":        {name: "widgets.example.com", more: []string{"--sort-by=size", "pods configmaps", "--sort-by=.status.objects"}},
	"discovery":      {name: "example.com.v1", more: []string{"--sort-by age"}},
	"transitions":    {name: "gadgets.example.com.namesaccepted.26"},
	"probes":         {name: "v1.broken.example.com", more: []string{"--field-selector status.available=False --exit-status"}},
	"crds": {name: "widgets.example.com", more: []string{
		"gadgets.example.com", "stucks.example.com trials.things.k8s.io", "--sort-by state", "--sort-by=name --exit-status",
		"-o table widgets.example.com", "-l a=b", "nothing.example.com", "--no-headers",
	}},
	"apiservices": {name: "v1.broken.example.com", more: []string{
		"v1.weather.example.com", "v1.apps", "--sort-by=priority", "--exit-status", "-o table v1.broken.example.com --exit-status", "--field-selector metadata.name=v1.apps",
	}},
	"requests": {name: "mx2wvw5t-353", more: []string{
		"--status >=500", "--status 4xx --user *太郎", "--path /apis/ --verb list -n 2", "--filter LimitRanger", "--layer not-found", "--slower-than 1s --sort-by=duration",
		"--field-selector status.failed=true", "--no-headers --tail 1",
	}},
	"request": {single: true, more: []string{
		requestIDs["refused"], requestIDs["proxied"], requestIDs["plugin"], requestIDs["unknown user"], requestIDs["combining"], "last", "0123",
	}, documents: []string{"last -o name", requestIDs["combining"] + " -o yaml", requestIDs["refused"] + " -o jsonpath={.spec.user.name}"}},
}

// elsewhere are commands whose golden files have a test of their own.
var elsewhere = []string{"route", "diff", "snapshot", "bundle"}

func TestEveryCommandHasGoldens(t *testing.T) {
	root := NewCmd(nil)
	all := map[string]bool{}
	for _, cmd := range append(root.Commands(), root) {
		all[cmd.Name()] = true
		if _, ok := commands[cmd.Name()]; !ok && !slices.Contains(elsewhere, cmd.Name()) {
			t.Errorf("%q has no golden file: add it to commands", cmd.CommandPath())
		}
	}
	for name := range commands {
		if !all[name] {
			t.Errorf("%q has golden files, and there is no such command", name)
		}
	}
}

func TestGolden(t *testing.T) {
	wd := intoTestdata(t)
	for name, c := range commands {
		t.Run(name, func(t *testing.T) {
			g := &golden{}
			words := func(more string) []string {
				args := []string{"--from", "kapi.json"}
				if name != "inspect" {
					args = append([]string{name}, args...)
				}
				return append(args, strings.Fields(more)...)
			}
			if !c.single {
				list(t, g, c, words)
			}
			for _, more := range c.more {
				g.section(t, widths, "", words(more)...)
			}
			for _, document := range c.documents {
				g.section(t, nil, "", words(document)...)
			}
			first := ""
			if c.single && len(c.more) > 0 {
				first = c.more[0]
			}
			g.section(t, widths[:1], "CLICOLOR_FORCE=1", words(first)...)
			g.compare(t, wd, name)
		})
	}
}

// list are the forms of every command that lists something.
func list(t *testing.T, g *golden, c shown, words func(string) []string) {
	t.Helper()
	g.section(t, widths, "", words("")...)
	g.section(t, widths[:1], "", words("-o wide")...)
	g.section(t, nil, "", words("-o name")...)
	if c.name == "" {
		return
	}
	g.section(t, widths, "", words(c.name)...)
	g.section(t, nil, "", words(c.name+" -o json")...)
	g.section(t, nil, "", words(c.name+" -o yaml")...)
}

// TestForeignGolden is what a server that is not kapi shows: a list of each command.
func TestForeignGolden(t *testing.T) {
	wd := intoTestdata(t)
	for name := range commands {
		t.Run(name, func(t *testing.T) {
			g := &golden{}
			args := []string{"--from", "foreign.json"}
			switch name {
			case "inspect":
			case "request":
				args = append([]string{name, "last"}, args...)
			default:
				args = append([]string{name}, args...)
			}
			g.section(t, widths, "", args...)
			switch name {
			case "inspect", "request":
			case "crds":
				g.section(t, widths, "", append(args, "gadgets.example.com")...)
			case "apiservices":
				g.section(t, widths, "", append(args, "v1.broken.example.com")...)
			default:
				g.section(t, widths[1:], "", append(args, "-o", "wide")...)
			}
			g.compare(t, wd, "foreign-"+name)
		})
	}
}

// TestColor: only colours make the difference, and NO_COLOR is the strongest.
func TestColor(t *testing.T) {
	intoTestdata(t)
	for name := range commands {
		args := []string{name, "--from", "kapi.json"}
		switch name {
		case "inspect":
			args = args[1:]
		case "request":
			args = append(args, "last")
		}
		plain := inEnvironment(t, 80, "", args).stdout
		for _, env := range []string{"CLICOLOR_FORCE=1", "FORCE_COLOR=1"} {
			colored := inEnvironment(t, 80, env, args).stdout
			if got := escape.ReplaceAllString(colored, ""); got != plain {
				t.Errorf("%s: %s changes more than colours:\n%s\n%s", name, env, got, plain)
			}
			if plain != "" && colored == plain {
				t.Errorf("%s: %s changes nothing", name, env)
			}
			if got := inEnvironment(t, 80, "NO_COLOR=1 "+env, args).stdout; got != plain {
				t.Errorf("%s: NO_COLOR does not win over %s:\n%s", name, env, got)
			}
		}
	}
}

// TestWidths: what people read fits on every screen, also in ASCII; a wide table is
// as wide as it must be, and the same on all of them.
func TestWidths(t *testing.T) {
	intoTestdata(t)
	for name, c := range commands {
		for _, more := range append(slices.Clone(c.more), "", c.name) {
			if strings.Contains(more, "-o wide") {
				continue
			}
			args := append([]string{name, "--from", "kapi.json"}, strings.Fields(more)...)
			if name == "inspect" {
				args = args[1:]
			}
			for width, env := range map[int]string{20: "", 60: "LANG=C", 132: ""} {
				if err := fits(inEnvironment(t, width, env, args).stdout, room(width, args)); err != nil {
					t.Errorf("%s: %v", title(width, env, args), err)
				}
			}
		}
	}
}

// TestWide: a wide table is the same on every screen.
func TestWide(t *testing.T) {
	intoTestdata(t)
	for name, c := range commands {
		if c.single {
			continue
		}
		args := []string{name, "--from", "kapi.json", "-o", "wide"}
		narrow, broad := inEnvironment(t, 40, "", args), inEnvironment(t, 300, "", args)
		if narrow.String() != broad.String() {
			t.Errorf("%s: on a narrow screen it prints\n%s\non a broad one\n%s", name, narrow, broad)
		}
	}
}

// intoTestdata makes testdata the working directory, so that messages name files
// without it, and returns the one before.
func intoTestdata(t *testing.T) string {
	t.Helper()
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("testdata")
	return wd
}
