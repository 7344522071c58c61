package recorded

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/kapi-dev/kapi/internal/apis/inspect/kinds"
)

const readmeFile = "README.txt"

// What a bundle is, for whoever is sent one. A line has at most 80 columns.
const readmeText = `This is a bundle of facts about a Kubernetes API server, made for a bug report.
The server was only read; nothing was changed.

%s
In here
%s
What was left out
  On purpose: objects of users (Secrets above all), bodies of requests, headers,
  kubeconfigs and keys, annotations and CA bundles of CustomResourceDefinitions
  and APIServices, the flow control dump that lists single requests, audit logs.
  What looked like a credential (private keys, tokens, passwords in URLs, values
  of names like token or password) was replaced by %s.
%s
What is still in here
  Names of users and groups, addresses of clients, and the names of objects in
  paths of requests. Look through snapshot.json before you publish it.

To look at it
  tar -xzf FILE              unpacks it; all files are text
  kapi inspect --from FILE   shows it as it would show the server
  kapi inspect diff FILE     shows what has changed since
`

func readme(contents Contents, options BundleOptions) string {
	return fmt.Sprintf(readmeText, facts(options), table(contents.Files), removed, left(contents.Left))
}

func facts(options BundleOptions) string {
	of, rows := options.Of, [][2]string{}
	if !of.At.IsZero() {
		rows = append(rows, [2]string{"Made at", of.At.UTC().Format("2006-01-02 15:04:05 MST")})
	}
	rows = append(rows, [2]string{"Made by", "kapi " + options.MadeBy},
		[2]string{"Server", strings.TrimSpace(string(of.Type) + " " + of.KubernetesVersion)}, [2]string{"Address", of.Address})
	if of.RecordedFrom != "" {
		rows = append(rows, [2]string{"From", of.RecordedFrom + ", a recording"})
	}
	var text strings.Builder
	for _, row := range rows {
		if row[1] != "" {
			fmt.Fprintf(&text, "%-8s  %s\n", row[0], row[1])
		}
	}
	return text.String()
}

func table(files []File) string {
	var text strings.Builder
	rows := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, file := range files {
		fmt.Fprintf(rows, "  %s\t%s\t%s\n", file.Name, kinds.Size(file.Bytes), file.About)
	}
	_ = rows.Flush() // a builder takes everything
	return text.String()
}

func left(missing []Left) string {
	if len(missing) == 0 {
		return "  For lack of an answer: nothing.\n"
	}
	var text strings.Builder
	text.WriteString("  For lack of an answer, or of part of it:\n")
	for _, each := range missing {
		fmt.Fprintf(&text, "    %s: %s\n", each.Name, strings.Join(strings.Fields(each.Why), " "))
	}
	return text.String()
}

// failures names what a snapshot lacks, and why, in a line.
func failures(failed map[string]Failure) string {
	var all []string
	for _, resource := range slices.Sorted(maps.Keys(failed)) {
		all = append(all, resource+" ("+failed[resource].Message+")")
	}
	return strings.Join(all, ", ")
}
