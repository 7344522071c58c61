package inspect

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
	"github.com/kapi-dev/kapi/internal/client/inspection"
	"github.com/kapi-dev/kapi/internal/client/inspection/joined"
	"github.com/kapi-dev/kapi/internal/client/inspection/recorded"
	"github.com/kapi-dev/kapi/internal/fault"
	"github.com/kapi-dev/kapi/internal/text"
	"github.com/kapi-dev/kapi/internal/version"
	"github.com/kapi-dev/kapi/internal/view"
)

func newBundleCmd(s *session) *cobra.Command {
	var path string
	var force bool
	cmd := &cobra.Command{
		Use:     "bundle -o FILE.tgz",
		GroupID: "whole",
		Short:   "Pack everything for a bug report into one file",
		Long: `Pack everything that is needed for a bug report into one .tgz: a snapshot, the
overview, versions, metrics, health checks, discovery and the state of flow control.
What is in it, and what could not be had, is printed. Credentials are removed; names
of users and objects, and addresses of clients, stay. Look at it before you send it.

Every command of "kapi inspect" reads it in place of a server with --from.`,
		Example: examples([]example{
			{"Pack it", "kapi inspect bundle -o report.tgz"},
			{"Look into it", "tar -tzf report.tgz && kapi inspect --from report.tgz"},
			{"Again, in place of the first", "kapi inspect bundle -o report.tgz --force"},
		}),
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case path == "":
				return fault.WithHint(fault.Usagef("a bundle needs a file"), "name it: kapi inspect bundle -o report.tgz")
			case s.from != "":
				return fault.WithHint(fault.Usagef("%s is a recording already", s.from), "leave --from out to pack what a server shows")
			}
			return bundleRun(cmd, s, path, force)
		},
	}
	cmd.Flags().StringVarP(&path, "output", "o", "", "File to write, for instance report.tgz.")
	cmd.Flags().BoolVar(&force, "force", false, "Replace the file if it exists.")
	return cmd
}

func bundleRun(cmd *cobra.Command, s *session, path string, force bool) error {
	ctx := cmd.Context()
	server, err := s.dial(ctx)
	if err != nil {
		return err
	}
	about, err := server.About(ctx)
	if err != nil {
		return err
	}
	client, err := rawClient(s.connection.Config)
	if err != nil {
		return err
	}
	parts := append([]recorded.Part{recorded.SnapshotPart(server), overviewPart(server)}, recorded.ServerParts(client)...)
	contents, err := recorded.WriteBundle(ctx, path, parts, recorded.BundleOptions{Of: about, MadeBy: version.Get().Version, Force: force})
	if err != nil {
		return err
	}
	return printContents(cmd.OutOrStdout(), contents)
}

func rawClient(config *rest.Config) (rest.Interface, error) {
	own := rest.CopyConfig(config)
	own.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	client, err := rest.UnversionedRESTClientFor(own)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return client, nil
}

// overviewPart is the overview as text, for whoever opens the bundle first.
func overviewPart(server inspection.Server) recorded.Part {
	return recorded.Part{
		Name: "overview.txt", About: "kapi inspect, as text",
		Write: func(ctx context.Context, w io.Writer) error {
			overview, err := joined.LoadOverview(ctx, server)
			if err != nil {
				return err
			}
			return view.Overview(w, text.Screen{Width: 100}, overview)
		},
	}
}

func printContents(w io.Writer, contents recorded.Contents) error {
	table := text.Table{Columns: []text.Column{{Name: "File"}, {Name: "Size", Right: true}, {Name: "What it is", Shrink: true}}}
	for _, file := range contents.Files {
		table.Rows = append(table.Rows, []text.Cell{{Text: file.Name}, {Text: kinds.Size(file.Bytes)}, {Text: file.About}})
	}
	if err := table.Write(w, text.Detect(w, os.Getenv)); err != nil {
		return err
	}
	page := text.NewPage(w, text.Detect(w, os.Getenv))
	for _, left := range contents.Left {
		page.Text(0, text.Warning, fmt.Sprintf("not complete: %s: %s", left.Name, left.Why))
	}
	page.Blank()
	page.Text(0, text.Plain, fmt.Sprintf("%s, %s. Credentials are removed; names of users and objects are in it.", contents.Path, kinds.Size(contents.Bytes)))
	return page.Close()
}
