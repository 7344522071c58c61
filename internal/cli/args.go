package cli

import "strings"

// kubectl parses its own flags. What kapi must know of them beforehand is found
// here, in the forms that pflag accepts, up to a "--".

// flagValue returns the value of the last --name of args.
func flagValue(args []string, name string) (value string, found bool) {
	for i, arg := range args {
		switch {
		case arg == "--":
			return value, found
		case arg == "--"+name && i+1 < len(args):
			value, found = args[i+1], true
		case strings.HasPrefix(arg, "--"+name+"="):
			value, found = strings.TrimPrefix(arg, "--"+name+"="), true
		}
	}
	return value, found
}

// hasFlag tells whether args hold --name, or -letter in any form.
func hasFlag(args []string, name, letter string) bool {
	for _, arg := range args {
		switch {
		case arg == "--":
			return false
		case arg == "--"+name, strings.HasPrefix(arg, "--"+name+"="):
			return true
		case strings.HasPrefix(arg, "-"+letter):
			return true
		}
	}
	return false
}

// verbose tells whether args hold -v with another value than 0.
func verbose(args []string) bool {
	for i, arg := range args {
		if arg == "--" {
			return false
		}
		level, ok := strings.CutPrefix(arg, "--v=")
		switch {
		case ok:
		case arg == "-v" || arg == "--v":
			level = strings.Join(args[i+1:min(i+2, len(args))], "")
		case strings.HasPrefix(arg, "-v"):
			level = strings.TrimPrefix(strings.TrimPrefix(arg, "-v"), "=")
		default:
			continue
		}
		return level != "0"
	}
	return false
}

// cutFlag takes a flag of kapi's own, --name VALUE or --name=VALUE, out of args
// before a "--".
func cutFlag(args []string, name string) (value string, rest []string) {
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "--":
			return value, append(rest, args[i:]...)
		case args[i] == "--"+name && i+1 < len(args):
			value = args[i+1]
			i++
		case strings.HasPrefix(args[i], "--"+name+"="):
			value = strings.TrimPrefix(args[i], "--"+name+"=")
		default:
			rest = append(rest, args[i])
		}
	}
	return value, rest
}
