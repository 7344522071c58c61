package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/kapi-dev/kapi/internal/cli/connect"
	"github.com/kapi-dev/kapi/internal/config"
	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/tui"
	"github.com/kapi-dev/kapi/tui/data"
	"github.com/kapi-dev/kapi/tui/settings"
	"github.com/kapi-dev/kapi/tui/theme"
)

// tuiOptions are the flags of `kapi tui`.
type tuiOptions struct {
	connect      connect.Flags
	look         lookOptions
	namespace    string
	plain        bool
	readOnly     bool
	allowChanges bool
	record       string
	replay       string
}

// lookOptions are the flags that `kapi serve --tui` has too.
type lookOptions struct {
	theme   string
	refresh time.Duration
	noMouse bool
}

// NewTUICmd returns `kapi tui`.
func NewTUICmd() *cobra.Command {
	o := &tuiOptions{}
	cmd := &cobra.Command{
		Use:   "tui [PAGE[/NAME]]",
		Short: "Look inside a server, live, in the terminal",
		Long: `Show, live, what happens inside of an API server: the handler chain filter by
filter, requests on their way, why an APIService is unavailable, what fills etcd.

It works with any API server; some pages only kapi itself can fill, and say so.
Without a page it opens the one of the last time, at first the dashboard. Any
resource of the server is a page too. It changes nothing unless --allow-changes is
given. The key ? lists all keys.`,
		Example: `  # Everything on one screen
  kapi tui

  # Why an APIService is unavailable
  kapi tui apiservices/v1beta1.metrics.k8s.io

  # The health checks of a snapshot, in lines that can be read aloud
  kapi tui health --plain --replay before.json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return tui.PageNames(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	flags := cmd.Flags()
	o.connect.Add(flags)
	flags.StringVarP(&o.namespace, "namespace", "n", "", "Namespace, where the page is a resource of the server.")
	flags.StringVar(&o.look.theme, "theme", "", "Theme: auto, dark, light, high-contrast, ansi16, mono, one of yours, or a `file`.")
	flags.DurationVar(&o.look.refresh, "refresh", 200*time.Millisecond, "Least time between two updates of the screen.")
	flags.BoolVar(&o.look.noMouse, "no-mouse", false, "Leave the mouse to the terminal.")
	flags.BoolVar(&o.plain, "plain", false, "Print the page in lines, and what is new in it, without drawing: for screen readers and pipes.")
	flags.BoolVar(&o.readOnly, "read-only", true, "Change nothing on the server.")
	flags.BoolVar(&o.allowChanges, "allow-changes", false, "Allow what changes the server (delete); each change asks for the object's name.")
	flags.StringVar(&o.record, "record", "", "Write what is seen to a `file`, for --replay.")
	flags.StringVar(&o.replay, "replay", "", "Play a `file` of --record, of kapi inspect snapshot or bundle, without a server.")
	cmd.SetFlagErrorFunc(config.FlagErrorFunc)
	_ = cmd.RegisterFlagCompletionFunc("theme", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) { // it fails for a flag that does not exist
		return append([]string{"auto"}, theme.Names(settings.FindDirs(os.Getenv).Themes())...), cobra.ShellCompDirectiveDefault
	})
	_ = cmd.RegisterFlagCompletionFunc("context", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) { // likewise
		return o.connect.Contexts(), cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

func (o *tuiOptions) run(cmd *cobra.Command, args []string) error {
	options, err := o.options(cmd, args)
	if err != nil {
		return err
	}
	if o.replay == "" {
		// What is wrong with a kubeconfig is said here, not on a screen.
		if _, err := options.Connect(""); err != nil {
			return err
		}
	}
	_, err = tui.Run(cmd.Context(), options)
	return err
}

// options checks the flags and reads the files; nothing is asked of a server.
func (o *tuiOptions) options(cmd *cobra.Command, args []string) (tui.Options, error) {
	switch {
	case len(args) > 1:
		return tui.Options{}, fault.WithHint(fault.Usagef("%s takes one page: %q is too many", cmd.CommandPath(), args[1]), "write PAGE/NAME")
	case o.allowChanges && cmd.Flags().Changed("read-only") && o.readOnly:
		return tui.Options{}, fault.WithHint(fault.Usagef("--read-only and --allow-changes say the opposite"), "keep one of them")
	case o.replay != "" && o.record != "":
		return tui.Options{}, fault.WithHint(fault.Usagef("--record and --replay together would copy a file"), "keep one of them")
	case o.replay != "" && o.allowChanges:
		return tui.Options{}, fault.Usagef("--replay shows a recording: there is nothing that --allow-changes could change")
	}
	options, err := o.look.options(cmd)
	if err != nil {
		return options, err
	}
	if len(args) == 1 {
		if options.Start, err = tui.ParsePlace(args[0], o.namespace); err != nil {
			return options, err
		}
	} else if o.namespace != "" {
		return options, fault.WithHint(fault.Usagef("--namespace=%s without a resource", o.namespace), "name one: %s pods -n %s", cmd.CommandPath(), o.namespace)
	}
	options.ReadOnly = !o.allowChanges && o.readOnly
	if cmd.Flags().Changed("read-only") && !o.readOnly {
		return options, fault.WithHint(fault.Usagef("--read-only=false allows nothing by itself"), "use --allow-changes")
	}
	options.Plain, options.Record = o.plain, o.record
	options.Connect, options.Contexts = o.target, o.connect.Contexts
	if o.replay != "" {
		if options.Replay, err = data.OpenReplay(o.replay); err != nil {
			return options, err
		}
		options.ReplayName = filepath.Base(o.replay)
	}
	return options, nil
}

// options are those of the flags, the settings and the environment.
func (o *lookOptions) options(cmd *cobra.Command) (tui.Options, error) {
	dirs := settings.FindDirs(os.Getenv)
	options := tui.Options{
		Getenv: os.Getenv, ReadOnly: true, Mouse: !o.noMouse, Refresh: o.refresh, Theme: o.theme,
		Dirs: dirs, State: settings.LoadState(dirs.State), Command: invocation(),
	}
	options.In, _ = cmd.InOrStdin().(*os.File)
	options.Out, _ = cmd.OutOrStdout().(*os.File)
	var err error
	if options.Settings, err = settings.Load(dirs.File()); err != nil {
		return options, err
	}
	if options.Settings.Mouse != nil && !cmd.Flags().Changed("no-mouse") {
		options.Mouse = *options.Settings.Mouse
	}
	if options.Settings.Refresh != "" && !cmd.Flags().Changed("refresh") {
		options.Refresh, err = settings.ParseRefresh(options.Settings.Refresh)
	} else if err = settings.CheckRefresh(options.Refresh); err != nil {
		err = fmt.Errorf("--refresh: %w", err)
	}
	return options, err
}

// target finds the server of a context; "" is the one of the flags.
func (o *tuiOptions) target(context string) (tui.Target, error) {
	flags := o.connect
	if context != "" {
		flags.SetContext(context)
	}
	connection, err := flags.Connect()
	if err != nil {
		return tui.Target{Name: context}, err
	}
	return tui.Target{Name: connection.Name(), Config: connection.Config, Explain: connection.Explain, Flags: connection.Again()}, nil
}
