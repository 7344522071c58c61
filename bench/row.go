package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// better says which way a figure improves.
type better string

const (
	lower  better = "lower"
	higher better = "higher"
)

// row is one line of the table.
type row struct {
	Name   string
	Unit   string // of the samples
	Better better
	Goal   goal
}

// goal is what the second side should reach. The zero goal is none.
type goal struct {
	Ratio    float64 // of the medians, second side to first
	Absolute float64 // of the second side's median, in the row's unit
}

// String returns the goal as the table shows it, such as "≤ 0.3".
func (g goal) text(b better, unit string) string {
	sign := "≤"
	if b == higher {
		sign = "≥"
	}
	switch {
	case g.Ratio != 0:
		return fmt.Sprintf("%s %gx", sign, g.Ratio)
	case g.Absolute != 0:
		return fmt.Sprintf("%s %g %s", sign, g.Absolute, unit)
	}
	return ""
}

// reached returns whether the goal is met, and nil where there is no goal or no figure.
func (g goal) reached(b better, r *float64, second *summary) *bool {
	var ok bool
	meets := func(have, want float64) bool {
		if b == higher {
			return have >= want
		}
		return have <= want
	}
	switch {
	case g.Ratio != 0 && r != nil:
		ok = meets(*r, g.Ratio)
	case g.Absolute != 0 && second != nil:
		ok = meets(second.Median, g.Absolute)
	default:
		return nil
	}
	return &ok
}

// sample is what one run of a scenario on one side gave: a figure per row name.
// A row that the side can't give (goroutines without profiling) is absent.
type sample map[string]float64

// scenario is a run on one side that gives the figures of one or more rows:
// starting a server is dear, so rows that can share one do.
type scenario struct {
	Name  string
	Doc   string // one line for --help
	OptIn bool   // only when --rows names it or one of its rows
	// Manager is whether the peer needs a kube-controller-manager.
	Manager bool
	Rows    []row
	Run     func(ctx context.Context, l *lab, s *side) (sample, error)
}

// scenarios is the whole bench, in the order in which it runs and prints. A new
// row goes into the scenario whose server it can share, or into a new one here.
func scenarios() []scenario {
	return slices.Concat([]scenario{
		startupScenario(), existingScenario(), loadScenario(), sizeScenario(), idleScenario(), enduranceScenario(),
	}, controllerScenarios(), []scenario{eachControllerScenario()})
}

// selected returns the scenarios to run, each with only the rows to print.
func selected(all []scenario, names []string) []scenario {
	var out []scenario
	for _, s := range all {
		if len(names) == 0 {
			if !s.OptIn {
				out = append(out, s)
			}
			continue
		}
		if !slices.Contains(names, s.Name) {
			s.Rows = slices.DeleteFunc(slices.Clone(s.Rows), func(r row) bool {
				return !slices.ContainsFunc(names, func(n string) bool { return rowMatches(r.Name, n) })
			})
		}
		if len(s.Rows) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// rowMatches lets a name stand for the rows below it: "create" for "create.p50".
func rowMatches(name, want string) bool {
	return name == want || strings.HasPrefix(name, want+".")
}

// knownRows returns every name that --rows takes.
func knownRows() []string {
	var names []string
	for _, s := range scenarios() {
		names = append(names, s.Name)
		for _, r := range s.Rows {
			for _, n := range beginnings(r.Name) {
				if !slices.Contains(names, n) {
					names = append(names, n)
				}
			}
		}
	}
	return names
}

// beginnings returns what stands for a row: its name up to each dot, and its name.
func beginnings(name string) []string {
	var out []string
	for i, c := range name {
		if c == '.' {
			out = append(out, name[:i])
		}
	}
	return append(out, name)
}

func scenarioHelp() string {
	var b strings.Builder
	for _, s := range scenarios() {
		note := ""
		if s.OptIn {
			note = " (only when named)"
		}
		fmt.Fprintf(&b, "  %-29s %s%s\n", s.Name, s.Doc, note)
	}
	return strings.TrimRight(b.String(), "\n")
}
