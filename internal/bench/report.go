//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"browser-coordinator/internal/bench/record"
)

// row is one line of the table.
type row struct {
	Name   string             `json:"name"`
	Unit   string             `json:"unit"`
	Values map[string]float64 `json:"values"`
	// Ratios are the medians over the rounds of a way's figure, divided by that of the
	// row's reference in the same round.
	Reference string             `json:"reference,omitempty"`
	Ratios    map[string]float64 `json:"ratios,omitempty"`
	// Peer is such a median of the endpoint's figure, divided by that of ReverseProxy.
	Peer float64 `json:"peer,omitempty"`
}

// aim is a value that the endpoint should reach.
type aim struct {
	Text    string  `json:"text"`
	Reached float64 `json:"reached"`
	Held    bool    `json:"held"`
}

type report struct {
	Date     string            `json:"date"`
	Machine  string            `json:"machine"`
	Load     string            `json:"load"`
	Versions map[string]string `json:"versions"`
	Rounds   int               `json:"rounds"`
	Rows     []row             `json:"rows"`
	Aims     []aim             `json:"aims"`
}

func median(values []float64) float64 { return quantile(values, 0.5) }

func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(int(float64(len(sorted))*q), len(sorted)-1)]
}

// row summarises a figure: quantile q of all values, and of the ratios in each round.
func (b *bench) row(name, unit, figure, reference string, q float64) row {
	r := row{Name: name, Unit: unit, Values: map[string]float64{}, Reference: reference}
	measured := b.samples[figure]
	for way, rounds := range measured {
		r.Values[way] = quantile(slices.Concat(rounds...), q)
		if reference == "" || len(measured[reference]) < len(rounds) {
			continue
		}
		if r.Ratios == nil {
			r.Ratios = map[string]float64{}
		}
		r.Ratios[way] = ratio(rounds, measured[reference], q)
	}
	if ours, theirs := measured["endpoint"], measured["ReverseProxy"]; len(ours) > 0 && len(theirs) == len(ours) {
		r.Peer = ratio(ours, theirs, q)
	}
	return r
}

// ratio is the median over the rounds of the values, divided by those of a reference.
func ratio(rounds, reference [][]float64, q float64) float64 {
	var ratios []float64
	for i, values := range rounds {
		if of := quantile(reference[i], q); of != 0 { // more memory may be none
			ratios = append(ratios, quantile(values, q)/of)
		}
	}
	return median(ratios)
}

func (b *bench) report(rounds int) *report {
	r := &report{
		Date: time.Now().UTC().Format("2006-01-02"), Machine: record.Machine(), Load: record.Load(),
		Versions: b.versions(), Rounds: rounds, Rows: b.rows(),
	}
	r.aims()
	return r
}

func (b *bench) rows() []row {
	return slices.DeleteFunc([]row{
		b.row("evaluate in Chromium, p50", "µs", "evaluate", "direct", 0.5),
		b.row("evaluate in Chromium, p99", "µs", "evaluate", "direct", 0.99),
		b.row("evaluate after a rest, p50", "µs", "first evaluate", "direct", 0.5),
		b.row("echo of 100 bytes, p50", "µs", "echo", "floor", 0.5),
		b.row("processor for an echo", "µs", "echo cpu", "floor", 0.5),
		b.row("reply of 50 MB from Chromium", "ms", "reply", "direct", 0.5),
		b.row("more memory while 50 MB pass", "MB", "peak", "", 1),
		b.row("Playwright's screenshot, 1920 × 1080", "ms", "screenshot", "direct", 0.5),
		b.row("an idle connection", "kB", "idle", "", 0.5),
	}, func(r row) bool { return len(r.Values) == 0 })
}

// aims compares the figures with the requirements on the endpoint: upper bounds.
func (r *report) aims() {
	value := func(r row) (float64, string) { return r.Values["endpoint"], " " + r.Unit }
	toReference := func(r row) (float64, string) { return r.Ratios["endpoint"], " × " + r.Reference }
	toPeer := func(r row) (float64, string) { return r.Peer, " × ReverseProxy" }
	for _, a := range []struct {
		row    string
		figure func(row) (float64, string)
		bound  float64
	}{
		{"evaluate in Chromium, p50", toPeer, 1.03},
		{"evaluate after a rest, p50", toPeer, 1.03},
		{"reply of 50 MB from Chromium", toReference, 1.03},
		{"more memory while 50 MB pass", value, 16},
		{"Playwright's screenshot, 1920 × 1080", toReference, 0.55},
		{"an idle connection", value, 20},
	} {
		index := slices.IndexFunc(r.Rows, func(r row) bool { return r.Name == a.row })
		if index < 0 {
			continue
		}
		reached, unit := a.figure(r.Rows[index])
		reached = math.Round(reached*100) / 100 // the printed value is compared
		r.Aims = append(r.Aims, aim{fmt.Sprintf("%s: at the most %.2f%s", a.row, a.bound, unit), reached, reached <= a.bound})
	}
}

func (r *report) markdown() string {
	var s strings.Builder
	fmt.Fprintf(&s, "Measured on %s, %s, load %s, in %d rounds. %s.\n\n",
		r.Date, r.Machine, r.Load, r.Rounds, r.versions())
	fmt.Fprintf(&s, "| | | %s |\n|---|---|%s\n", strings.Join(order, " | "), strings.Repeat("--:|", len(order)))
	for _, row := range r.Rows {
		fmt.Fprintf(&s, "| %s | %s |", row.Name, row.Unit)
		for _, way := range order {
			value, measured := row.Values[way]
			switch {
			case !measured:
				s.WriteString(" |")
			case row.Reference != "" && way != row.Reference && row.Ratios[way] > 0:
				fmt.Fprintf(&s, " %s (%.2f) |", number(value), row.Ratios[way])
			default:
				fmt.Fprintf(&s, " %s |", number(value))
			}
		}
		s.WriteString("\n")
	}
	s.WriteString("\nIn brackets: the median over the rounds of the ratio to *direct*, " +
		"or to *floor* in the rows of echo and processor.\n\n")
	for _, a := range r.Aims {
		mark := "held"
		if !a.Held {
			mark = "**missed**"
		}
		fmt.Fprintf(&s, "- %s: %.2f, %s\n", a.Text, a.Reached, mark)
	}
	return s.String()
}

func number(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.2f", v)
	}
}

func (r *report) versions() string {
	var all []string
	for name, version := range r.Versions {
		all = append(all, name+" "+version)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

func (r *report) writeJSON(path string) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}

func (b *bench) versions() map[string]string {
	versions := map[string]string{"Go": strings.TrimPrefix(runtime.Version(), "go")}
	version := func(name string, args ...string) {
		out, _ := exec.Command(args[0], args[1:]...).CombinedOutput()
		line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		for _, word := range strings.Fields(line) {
			if word = strings.TrimPrefix(word, "v"); word != "" && word[0] >= '0' && word[0] <= '9' {
				versions[name] = word
				return
			}
		}
	}
	found := firstArgument(b.browser.PID())
	version("Chromium", found, "--version")
	version("Node", "node", "--version")
	version("cc", "cc", "-dumpfullversion")
	var manifest struct{ Version string }
	text, err := os.ReadFile(filepath.Join(b.clients, "node_modules", "playwright-core", "package.json"))
	if err == nil && json.Unmarshal(text, &manifest) == nil {
		versions["Playwright"] = manifest.Version
	}
	return versions
}

func firstArgument(pid int) string {
	path, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	return path
}
