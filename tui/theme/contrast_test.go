package theme

import (
	"image/color"
	"math"
	"testing"

	"github.com/kapi-dev/kapi/tui/ink"
)

// TestContrast holds themes of colours to the contrasts of WCAG 2.1: 4.5 for what
// has to be read, 3 for what can be overlooked and for figures; 7 for nearly all of
// the theme that is made for it. Lines between parts only need to be seen.
func TestContrast(t *testing.T) {
	for _, test := range []struct {
		name        string
		back, plain color.Color
		read        float64
	}{
		{"dark", color.Gray{0x1c}, color.Gray{0xd0}, 4.5},
		{"light", color.Gray{0xff}, color.Gray{0x20}, 4.5},
		{"light", color.RGBA{0xfd, 0xf6, 0xe3, 0xff}, color.Gray{0x20}, 4.5}, // of Solarized
		{"high-contrast", color.Gray{0x1c}, color.Gray{0xff}, 7},
		{"high-contrast", color.Gray{0}, color.Gray{0xff}, 7},
	} {
		p, err := resolve("", test.name)
		if err != nil {
			t.Fatal(err)
		}
		for token, own := range p.looks {
			want := test.read
			switch ink.Token(token) {
			case ink.Muted, ink.Punct, ink.Series1, ink.Series2, ink.Series3:
				want = 3
			case ink.Border:
				want = 2
			default:
			}
			for _, profile := range []Profile{TrueColor, ANSI256} {
				for i, l := range []look{own, own.selected(p.selected)} {
					fg, bg := either(profile.convert(l.fg), test.plain), either(profile.convert(l.bg), test.back)
					if l.reverse {
						fg, bg = bg, fg
					}
					if got := contrast(fg, bg); got < want {
						t.Errorf("%s in %s: %s has a contrast of %.1f on %v, want %.1f (selected: %v)",
							test.name, profile, tokenNames[token], got, test.back, want, i == 1)
					}
				}
			}
		}
	}
}

// contrast is that of WCAG 2.1, from 1 to 21.
func contrast(a, b color.Color) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(c color.Color) float64 {
	r, g, b, _ := c.RGBA()
	linear := func(v uint32) float64 {
		part := float64(v) / 0xffff
		if part <= 0.04045 {
			return part / 12.92
		}
		return math.Pow((part+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
}
