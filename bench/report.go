package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// report is one run: what --json writes, and what the table is printed from.
type report struct {
	StartedAt time.Time     `json:"startedAt"`
	Machine   machine       `json:"machine"`
	Settings  settingsTable `json:"settings"`
	Sides     [2]sideReport `json:"sides"`
	Pairs     int           `json:"pairs"` // the most that any row has
	Rows      []rowReport   `json:"rows"`
}

// settingsTable holds the flags that change what a figure means.
type settingsTable struct {
	Pairs       int     `json:"pairs"`
	Clients     int     `json:"clients"`
	Ops         int     `json:"ops"`
	Lists       int     `json:"lists"`
	ListObjects int     `json:"listObjects"`
	CRDs        int     `json:"crds"`
	Objects     int     `json:"objects"`
	Controlled  int     `json:"controlledObjects"`
	SettleSec   float64 `json:"settleSeconds"`
	IdleSec     float64 `json:"idleSeconds"`
	Profiled    bool    `json:"profiled"`
}

type sideReport struct {
	Label    string            `json:"label"`
	Args     []string          `json:"args,omitempty"` // beside the usual ones
	Env      []string          `json:"env,omitempty"`
	Versions map[string]string `json:"versions"`
}

type rowReport struct {
	Scenario string   `json:"scenario"`
	Name     string   `json:"name"`
	Unit     string   `json:"unit"`
	Better   better   `json:"better"`
	First    *summary `json:"first,omitempty"`
	Second   *summary `json:"second,omitempty"`
	Ratio    *float64 `json:"ratio,omitempty"` // of the medians, second to first
	Goal     string   `json:"goal,omitempty"`
	Reached  *bool    `json:"reached,omitempty"`
}

func (l *lab) newReport() (report, error) {
	o := l.opts
	r := report{StartedAt: time.Now(), Machine: l.machine, Settings: settingsTable{
		Pairs: o.Pairs, Clients: o.Clients, Ops: o.Ops, Lists: o.Lists, ListObjects: o.ListObjects,
		CRDs: o.CRDs, Objects: o.Objects, Controlled: o.Controlled, SettleSec: o.Settle.Seconds(), IdleSec: o.IdleTime.Seconds(), Profiled: o.Profiles != "",
	}}
	for i, s := range l.sides {
		versions := map[string]string{}
		for _, bin := range l.binariesOf(s) {
			found, err := moduleVersions(bin)
			if err != nil {
				return r, err
			}
			for k, v := range found {
				versions[k] = v
			}
		}
		if s.spec.Kind == "peer" {
			delete(versions, "kapi") // its etcd is built in kapi's module, and no kapi
		}
		r.Sides[i] = sideReport{Label: s.Label, Args: s.spec.Args, Env: s.spec.Env, Versions: versions}
	}
	return r, nil
}

// binariesOf returns the files that a side runs.
func (l *lab) binariesOf(s *side) []string {
	switch {
	case s.spec.Kind == "peer":
		return []string{l.bins.Etcd, l.bins.APIServer}
	case s.spec.Bin != "":
		return []string{s.spec.Bin}
	}
	return []string{l.bins.Kapi}
}

// add turns the samples of a scenario into rows.
func (r *report) add(sc scenario, collected [2][]sample) {
	for _, rw := range sc.Rows {
		var sides [2]*summary
		for i, samples := range collected {
			var values []float64
			for _, s := range samples {
				if v, ok := s[rw.Name]; ok {
					values = append(values, v)
				}
			}
			sides[i] = summarize(values)
		}
		if sides[0] == nil && sides[1] == nil {
			continue
		}
		q := ratio(sides[0], sides[1])
		r.Rows = append(r.Rows, rowReport{
			Scenario: sc.Name, Name: rw.Name, Unit: rw.Unit, Better: rw.Better,
			First: sides[0], Second: sides[1], Ratio: q,
			Goal: rw.Goal.text(rw.Better, rw.Unit), Reached: rw.Goal.reached(rw.Better, q, sides[1]),
		})
	}
	r.Pairs = max(r.Pairs, len(collected[0]), len(collected[1]))
}

// writeTable prints the rows as a Markdown table that also reads well as text.
func writeTable(w io.Writer, r report) {
	lines := [][]string{{
		"row", "unit", r.Sides[0].Label + " median (min–max)", r.Sides[1].Label + " median (min–max)",
		"ratio", "goal", "reached",
	}}
	for _, row := range r.Rows {
		ratio, reached := "", ""
		if row.Ratio != nil {
			ratio = fmt.Sprintf("%.2f", *row.Ratio)
		}
		if row.Reached != nil {
			reached = map[bool]string{true: "yes", false: "no"}[*row.Reached]
		}
		lines = append(lines, []string{
			row.Name, row.Unit, row.First.text(), row.Second.text(), ratio, row.Goal, reached,
		})
	}
	writeAligned(w, lines)
	fmt.Fprintf(w, "\n%d pairs; %d CPUs, %.0f MB, %s %s, data on %s.\n", r.Pairs,
		r.Machine.CPUs, r.Machine.MemoryMB, r.Machine.OS, r.Machine.Kernel, orUnknown(r.Machine.Filesystem))
	for _, s := range r.Sides {
		fmt.Fprintf(w, "%s: %s\n", s.Label, versionText(s.Versions))
	}
}

func writeAligned(w io.Writer, lines [][]string) {
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	printLine := func(line []string) {
		for i, cell := range line {
			fmt.Fprintf(w, "| %s%s ", cell, strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)))
		}
		fmt.Fprintln(w, "|")
	}
	for n, line := range lines {
		printLine(line)
		if n == 0 {
			rule := make([]string, len(line))
			for i := range rule {
				rule[i] = strings.Repeat("-", max(3, widths[i]))
			}
			printLine(rule)
		}
	}
}

// text returns a summary as a cell, "–" where there is none.
func (s *summary) text() string {
	if s == nil {
		return "–"
	}
	return fmt.Sprintf("%s (%s–%s)", number(s.Median), number(s.Min), number(s.Max))
}

// number prints three significant digits, every digit before the point, and no
// more than three after it.
func number(v float64) string {
	if math.Abs(v) < 0.0005 {
		v = 0 // not -0.000
	}
	digits := 0
	if v != 0 {
		digits = max(0, 2-int(math.Floor(math.Log10(math.Abs(v)))))
	}
	return strconv.FormatFloat(v, 'f', min(digits, 3), 64)
}

func versionText(versions map[string]string) string {
	var parts []string
	for _, name := range []string{"kapi", "kubernetes", "etcd", "go"} {
		if v := versions[name]; v != "" {
			parts = append(parts, name+" "+v)
		}
	}
	return strings.Join(parts, ", ")
}

func orUnknown(s string) string {
	if s == "" {
		return "an unknown file system"
	}
	return s
}

func writeJSON(file string, r report) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the report: %w", err)
	}
	if err := os.WriteFile(file, append(data, '\n'), 0o644); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}
