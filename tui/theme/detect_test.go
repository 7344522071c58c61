package theme

import "testing"

func TestDetectProfile(t *testing.T) {
	for _, test := range []struct {
		env  env
		want Profile
	}{
		{env{"TERM": "xterm-256color", "COLORTERM": "truecolor"}, TrueColor},
		{env{"TERM": "xterm-256color", "COLORTERM": "24bit"}, TrueColor},
		{env{"TERM": "xterm-256color"}, ANSI256},
		{env{"TERM": "xterm-kitty"}, TrueColor},
		{env{"TERM": "xterm-direct"}, TrueColor},
		{env{"TERM": "xterm"}, ANSI16},
		{env{"TERM": "linux"}, ANSI16},
		{env{"TERM": "vt100"}, None},
		{env{"TERM": "dumb"}, None},
		{env{"TERM": "dumb", "COLORTERM": "truecolor"}, None},
		{env{}, None},
		{env{"TERM": "screen-256color", "COLORTERM": "truecolor"}, ANSI256},
		{env{"TERM": "screen-256color", "COLORTERM": "truecolor", "TERM_PROGRAM": "tmux"}, TrueColor},
		{env{"TERM": "tmux-256color", "COLORTERM": "truecolor"}, TrueColor},
		{env{"TERM": "xterm-256color", "NO_COLOR": "1"}, None},
		{env{"TERM": "xterm-256color", "NO_COLOR": "1", "CLICOLOR_FORCE": "1"}, None},
		{env{"TERM": "xterm-256color", "CLICOLOR": "0"}, None},
		{env{"TERM": "xterm-256color", "CLICOLOR": "0", "CLICOLOR_FORCE": "1"}, ANSI256},
		{env{"TERM": "dumb", "CLICOLOR_FORCE": "1"}, ANSI16},
		{env{"TERM": "dumb", "CLICOLOR_FORCE": "0"}, None},
	} {
		if got := DetectProfile(test.env.get); got != test.want {
			t.Errorf("%v: %v, want %v", test.env, got, test.want)
		}
	}
}

func TestDetectGlyphs(t *testing.T) {
	for _, test := range []struct {
		env  env
		want string
	}{
		{env{}, "unicode"},
		{env{"LANG": "de_DE.UTF-8"}, "unicode"},
		{env{"LANG": "de_DE.UTF-8", "TERM": "linux"}, "ascii"},
		{env{"LANG": "C"}, "ascii"},
		{env{"LANG": "C", "LC_ALL": "C.utf8"}, "unicode"},
		{env{"LANG": "de_DE.UTF-8", "LC_CTYPE": "POSIX"}, "ascii"},
	} {
		if got := DetectGlyphs(test.env.get); got != test.want {
			t.Errorf("%v: %v, want %v", test.env, got, test.want)
		}
	}
}

// TestBackgroundWithoutAsking is told by the environment.
func TestBackgroundWithoutAsking(t *testing.T) {
	for _, test := range []struct {
		env  env
		want Background
	}{
		{env{"COLORFGBG": "15;0"}, Dark},
		{env{"COLORFGBG": "0;15"}, Light},
		{env{"COLORFGBG": "0;default;7"}, Light},
		{env{"COLORFGBG": "7;8"}, Dark},
		{env{"COLORFGBG": "15;default"}, Unknown},
		{env{"COLORFGBG": "0"}, Unknown},
		{env{"COLORFGBG": "0;99"}, Unknown},
		{env{"TERM": "linux"}, Dark},
		{env{"TERM": "dumb"}, Unknown},
		{env{}, Unknown},
	} {
		if got := DetectBackground(t.Context(), nil, nil, test.env.get).Background; got != test.want {
			t.Errorf("%v: %v, want %v", test.env, got, test.want)
		}
	}
}

func TestBrightness(t *testing.T) {
	for s, want := range map[string]Background{
		"rgb:0000/0000/0000": Dark, "rgb:ffff/ffff/ffff": Light, "rgb:f/f/f": Light, "rgb:0/8/0": Dark,
		"rgb:00/ff/00": Light, "rgb:00/00/ff": Dark, "rgba:ff/ff/ff/00": Light,
		"": Unknown, "rgb:": Unknown, "rgb:1/2": Unknown, "rgb:1/2/3/4": Unknown, "rgb:fffff/0/0": Unknown,
		"rgb:x/0/0": Unknown, "rgb://": Unknown, "#ffffff": Unknown, "hsl:1/2/3": Unknown, "rgb:-1/0/0": Unknown,
	} {
		if got := brightness(s); got != want {
			t.Errorf("%q: %v, want %v", s, got, want)
		}
	}
}

// env is an environment.
type env map[string]string

func (e env) get(name string) string { return e[name] }
