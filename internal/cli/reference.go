package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/tui"
)

//go:generate go run ../../cmd/kapi reference --man ../../docs/man --markdown ../../docs/reference/cli.md --tui ../../docs/reference/tui.md --tui-settings ../../configs/tui.yaml

// newReferenceCmd returns the hidden command that writes the man pages and the
// reference from the command tree. Packagers call it, and go generate.
func newReferenceCmd() *cobra.Command {
	var man, markdown, console, sample string
	cmd := &cobra.Command{
		Use:    "reference",
		Short:  "Write man pages and the command reference",
		Hidden: true,
		Args:   configNoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if man == "" && markdown == "" && console == "" && sample == "" {
				return fault.WithHint(fault.Usagef("nothing to write"), "name a directory with --man, or a file with --markdown or --tui")
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true
			if man != "" {
				if err := writeManPages(root, man); err != nil {
					return fmt.Errorf("writing man pages: %w", err)
				}
			}
			for _, file := range []struct {
				name string
				text func() []byte
			}{{console, tui.Reference}, {sample, tui.Sample}, {markdown, func() []byte { return reference(root) }}} {
				if file.name == "" {
					continue
				}
				if err := os.WriteFile(file.name, file.text(), 0o644); err != nil { //nolint:gosec // documents that everybody may read
					return fmt.Errorf("writing the reference: %w", err)
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&man, "man", "", "Directory for man pages.")
	cmd.Flags().StringVar(&sample, "tui-settings", "", "File for the default settings of the terminal UI.")
	cmd.Flags().StringVar(&console, "tui", "", "File for the keys of the terminal UI as Markdown.")
	cmd.Flags().StringVar(&markdown, "markdown", "", "File for the reference as Markdown.")
	return cmd
}

// writeManPages replaces what is in a directory by one page a command.
func writeManPages(root *cobra.Command, dir string) error {
	old, err := filepath.Glob(filepath.Join(dir, "kapi*.1"))
	if err != nil {
		return err
	}
	for _, page := range old {
		if err := os.Remove(page); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // documents that everybody may read
		return err
	}
	// The same commands give the same pages, whenever they are written.
	date := time.Date(2026, time.November, 1, 0, 0, 0, 0, time.UTC)
	return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "kapi", Manual: "kapi", Date: &date}, dir)
}

// reference is docs/reference/cli.md: all commands in the order of the help.
func reference(root *cobra.Command) []byte {
	var out bytes.Buffer
	out.WriteString("# Commands\n\nGenerated from the command tree by `go generate ./internal/cli`; the same as `kapi COMMAND --help`.\n\n")
	walk(root, func(cmd *cobra.Command) {
		fmt.Fprintf(&out, "- [`%s`](#%s): %s\n", cmd.CommandPath(), strings.ReplaceAll(cmd.CommandPath(), " ", "-"), cmd.Short)
	})
	walk(root, func(cmd *cobra.Command) { section(&out, cmd) })
	return out.Bytes()
}

func walk(cmd *cobra.Command, visit func(*cobra.Command)) {
	if cmd.Hidden || cmd.Name() == "help" {
		return
	}
	visit(cmd)
	for _, sub := range cmd.Commands() {
		walk(sub, visit)
	}
}

func section(out *bytes.Buffer, cmd *cobra.Command) {
	fmt.Fprintf(out, "\n## %s\n\n", cmd.CommandPath())
	long := cmd.Long
	if long == "" {
		long = cmd.Short + "."
	}
	text, columns, hasColumns := strings.Cut(strings.TrimSpace(long), "\n\nColumns:\n")
	fmt.Fprintf(out, "%s\n\n```\n%s\n```\n", text, cmd.UseLine())
	if len(cmd.Aliases) > 0 {
		fmt.Fprintf(out, "\nOther names: %s.\n", strings.Join(cmd.Aliases, ", "))
	}
	if hasColumns {
		fmt.Fprintf(out, "\nColumns:\n\n```\n%s\n```\n", strings.TrimRight(columns, "\n"))
	}
	if cmd.Example != "" {
		fmt.Fprintf(out, "\nExamples:\n\n```\n%s\n```\n", unindent(cmd.Example))
	}
	flags(out, "Flags", cmd.NonInheritedFlags())
	if cmd.HasSubCommands() && cmd.HasPersistentFlags() {
		out.WriteString("\nIts commands take these flags too, except where they have one of the same name.\n")
	}
}

func flags(out *bytes.Buffer, title string, set *pflag.FlagSet) {
	if set.HasAvailableFlags() {
		fmt.Fprintf(out, "\n%s:\n\n```\n%s```\n", title, strings.ReplaceAll(set.FlagUsages(), home(), "~"))
	}
}

func unindent(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "  ")
	}
	return strings.Join(lines, "\n")
}

// home is what a default in the home directory begins with; it is no part of a document.
func home() string {
	dir, err := os.UserHomeDir()
	if err != nil || dir == "" {
		return "\x00"
	}
	return dir
}
