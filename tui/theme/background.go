package theme

import (
	"context"
	"os"
	"strconv"
	"strings"
	"time"
)

// Background is how bright the background of a terminal is.
type Background int

// The backgrounds.
const (
	// Unknown is one that could not be found out, or any.
	Unknown Background = iota
	Dark
	Light
)

// String names the background.
func (b Background) String() string {
	names := [...]string{"unknown", "dark", "light"}
	if b < 0 || int(b) >= len(names) {
		return names[Unknown]
	}
	return names[b]
}

// Detected is what DetectBackground has found out.
type Detected struct {
	Background Background
	// Typed is what came from the keyboard while the terminal was asked: it has been
	// read, and has to be put before what is read next.
	Typed []byte
	// Pending says that the terminal has been asked and has not answered all of it.
	// What it still says would look like keys; Input takes it out.
	Pending bool
	// rest is the begin of an answer whose end has not come.
	rest []byte
}

// patience is how long a terminal has for its answer: enough for one at the other
// end of the world, and little enough to be waited for by a person.
const patience = 200 * time.Millisecond

// DetectBackground finds out how bright the terminal's background is. COLORFGBG
// tells, where it is set. Otherwise the terminal is asked, if in and out are one and
// this process is in its foreground: for its background (OSC 11), and then for what
// it is (DA1), which every terminal answers, so that one that does not know the first
// question does not have to be waited for. It waits for 200 ms at most, or until ctx
// ends. The terminal is as it was afterwards, and nothing goes on reading from it.
func DetectBackground(ctx context.Context, in, out *os.File, getenv func(string) string) Detected {
	if b := fromColors(getenv("COLORFGBG")); b != Unknown {
		return Detected{Background: b}
	}
	switch getenv("TERM") {
	case "", "dumb":
		return Detected{}
	case "linux": // the console is black, and old kernels print the question
		return Detected{Background: Dark}
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return ask(ctx, in, out)
}

// fromColors reads COLORFGBG: "15;0" or "15;default;0", numbers of the 16 colours,
// the background last. As in vim, 7 and those from 9 are light.
func fromColors(s string) Background {
	fields := strings.Split(s, ";")
	number, err := strconv.Atoi(fields[len(fields)-1])
	switch {
	case err != nil || len(fields) < 2 || number < 0 || number > 15:
		return Unknown
	case number == 7 || number > 8:
		return Light
	default:
		return Dark
	}
}

// brightness reads a colour as terminals write it: rgb:RRRR/GGGG/BBBB with one to
// four hexadecimal digits each; some say rgba and add a fourth.
func brightness(s string) Background {
	space, values, _ := strings.Cut(s, ":")
	parts := strings.Split(values, "/")
	if (space != "rgb" || len(parts) != 3) && (space != "rgba" || len(parts) != 4) {
		return Unknown
	}
	luminance := 0.0
	for i, weight := range [...]float64{0.2126, 0.7152, 0.0722} { // of ITU-R BT.709
		value, err := strconv.ParseUint(parts[i], 16, 16)
		if err != nil || len(parts[i]) > 4 {
			return Unknown
		}
		luminance += weight * float64(value) / float64(uint64(1)<<(4*len(parts[i]))-1)
	}
	if luminance < 0.5 {
		return Dark
	}
	return Light
}
