package inspect

// usageTemplate is cobra's order of things, without the flags of the connection
// below each command: they are thirteen, and stand in the help of inspect itself.
const usageTemplate = `Usage:{{if .Runnable}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} COMMAND{{end}}{{if .Aliases}}

Other names:
  {{range $i, $name := .Aliases}}{{if $i}}, {{end}}{{$name}}{{end}}{{end}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{range $group := .Groups}}

{{.Title}}{{range $.Commands}}{{if and (eq .GroupID $group.ID) .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableInheritedFlags}}

"kapi inspect --help" has the flags that say which server is meant, and --from.{{end}}
`
