package config

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kapi-dev/kapi/internal/fault"
)

// FlagErrorFunc is for cobra's SetFlagErrorFunc: it makes every error of the
// command line one of usage (exit code 2) and names the nearest flag for an
// unknown one.
func FlagErrorFunc(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	switch {
	case err == nil || errors.Is(err, pflag.ErrHelp):
		return err
	case !errors.As(err, &unknown):
		return fault.Usage(err)
	}
	hint := fmt.Sprintf("%s --help lists the flags", cmd.CommandPath())
	if letters := unknown.GetSpecifiedShortnames(); letters != "" {
		// One dash before a long flag is read as a row of short ones.
		name, _, _ := strings.Cut(letters, "=")
		text := fmt.Sprintf("unknown flag -%s", name)
		if len(name) > 2 {
			if near := NearestFlag(name, cmd.Flags(), cmd.InheritedFlags()); near != "" {
				text += fmt.Sprintf("; did you mean --%s?", near)
			}
		}
		return fault.WithHint(fault.Usagef("%s", text), "%s", hint)
	}
	name := unknown.GetSpecifiedName()
	text := fmt.Sprintf("unknown flag --%s", shorten(name))
	if near := NearestFlag(name, cmd.Flags(), cmd.InheritedFlags()); near != "" {
		text += fmt.Sprintf("; did you mean --%s?", near)
	}
	return fault.WithHint(fault.Usagef("%s", text), "%s", hint)
}
