package inspect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/kapi-dev/kapi/internal/client/inspection/joined"
	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/internal/text"
	"github.com/kapi-dev/kapi/internal/view"
)

// document is a format for what is no API object.
type document struct{ format string }

func (d *document) add(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&d.format, "output", "o", "", "Output format: table (text for people), json or yaml.")
}

func (d *document) check() error {
	switch d.format {
	case "", formatTable, "json", "yaml":
		return nil
	}
	return fault.WithHint(fault.Usagef("-o %q is not a format of this command", d.format), "formats: json, yaml")
}

// print writes a value as JSON or YAML.
func (d *document) print(cmd *cobra.Command, value any) error {
	var encoded bytes.Buffer
	encoder := json.NewEncoder(&encoded)
	encoder.SetEscapeHTML(false) // it has command lines with > in it
	encoder.SetIndent("", "    ")
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("encoding: %w", err)
	}
	text := encoded.Bytes()
	if d.format == "yaml" {
		var err error
		if text, err = yaml.JSONToYAML(text); err != nil {
			return fmt.Errorf("encoding: %w", err)
		}
	}
	_, err := cmd.OutOrStdout().Write(text)
	return err
}

func (d *document) people() bool { return d.format == "" || d.format == formatTable }

// newOverviewCmd returns `kapi inspect` itself.
func newOverviewCmd(s *session) *cobra.Command {
	opts := &document{}
	var exitStatus bool
	cmd := &cobra.Command{
		Use:   "inspect",
		Short: "Show what an API server does, from the handler chain to etcd",
		Long: `Show what an API server does. Alone it prints an overview on one screen: health, the
handler chain, the layers, CRDs and APIServices, hooks, etcd, and the three worst
things now. Its commands show each part.

All of it works on kapi. On another API server each command shows what such a
server exposes, and says of what it can't show why. --from shows a recording.

Exit status: 0, 1 failure, 2 wrong usage, 3 unhealthy (with --exit-status),
4 not authorized, 130 interrupted.`,
		Example: examples([]example{
			{"How the server does", "kapi inspect"},
			{"For a script: 3 if something is not well", "kapi inspect --exit-status > /dev/null"},
			{"The worst thing now", "kapi inspect -o json | jq '.problems[0]'"},
		}),
		Args: noCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := opts.check(); err != nil {
				return err
			}
			server, err := s.open(cmd.Context(), cmd.InOrStdin())
			if err != nil {
				return err
			}
			overview, err := joined.LoadOverview(cmd.Context(), server)
			if err != nil {
				return err
			}
			if opts.people() {
				err = view.Overview(cmd.OutOrStdout(), text.Detect(cmd.OutOrStdout(), os.Getenv), overview)
			} else {
				err = opts.print(cmd, overview)
			}
			if err == nil && exitStatus {
				err = verdict(overview)
			}
			return err
		},
	}
	opts.add(cmd)
	cmd.Flags().BoolVar(&exitStatus, "exit-status", false, "Exit with 3 if something is unhealthy.")
	return cmd
}

// verdict is what --exit-status makes of an overview. Warnings are no verdict.
func verdict(overview joined.Overview) error {
	switch {
	case !overview.Healthy():
		return fault.WithCode(fault.Silent(errUnwell), fault.CodeUnhealthy)
	case overview.Blind() || hidden(overview):
		err := errors.New("whether all is well can't be seen: not everything is shown to you")
		return fault.WithHint(fault.WithCode(err, fault.CodeUnauthorized), "the overview says what is not, and which role shows it")
	}
	return nil
}

// hidden tells whether a part that can be unwell was refused.
func hidden(overview joined.Overview) bool {
	return slices.ContainsFunc(overview.Missing, func(m joined.Missing) bool {
		return strings.HasPrefix(m.Reason, "forbidden") && !strings.Contains(m.Part, ".")
	})
}

// noCommand refuses a word that is no command of inspect.
func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := fault.Usagef("%q is nothing that can be inspected", args[0])
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return fault.WithHint(err, "did you mean %s?", near[0])
	}
	return fault.WithHint(err, "%s --help lists what can be", cmd.CommandPath())
}
