// Package theme is how tokens look: themes from files, in what colours a terminal
// has, as escape sequences that are made once. It implements ink.Style, and finds
// out what the terminal is: its colours and signs from the environment, its
// background by asking it.
//
// A theme is a file of YAML; its format is described at the head of
// ui-assets/themes/dark.yaml. A look is a colour of text, one of its background, and
// attributes. Where a terminal has fewer colours than the theme wants, each becomes
// the nearest that there is. Where it has none, tokens look as in the theme mono,
// whatever the theme is: what was told apart by colours only would be lost, the
// selected row first of all. For the same reason the sequences are written here
// with x/ansi and not by lipgloss, which leaves out bold and reverse as well when
// it may not use colours.
//
// It knows nothing of what is drawn. It may import tui/ink, ui-assets, x/ansi, the
// terminal packages of golang.org/x, and kapi's fault and text.
package theme
