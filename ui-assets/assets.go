// Package uiassets holds the files that the terminal UI is drawn with: themes,
// signs, the logo. They are data; what they mean is tui/theme's. It imports
// nothing but embed.
package uiassets

import "embed"

// FS holds themes/NAME.yaml, glyphs/NAME.yaml and logo.txt. The format of a theme
// is described at the head of themes/dark.yaml.
//
//go:embed themes/*.yaml glyphs/*.yaml logo.txt
var FS embed.FS
