package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// rows are the rows of the table, with the names of their quantiles.
var rows = []struct{ text, p50, p99 string }{
	{"bare echo, Go", "Ping p50-echo", "Ping p99-echo"},
	{"bare echo that one goroutine hands to another, Go", "Ping p50-hop", "Ping p99-hop"},
	{"ping, Go", "Ping p50-ping", "Ping p99-ping"},
	{"bare echo, TypeScript", "TypeScript p50-echo", "TypeScript p99-echo"},
	{"ping, TypeScript", "TypeScript p50-ping", "TypeScript p99-ping"},
	{"a new endpoint, until a waiting client can dial it", "Push p50", "Push p99"},
	{"a change, until 100 clients have its event", "FanOut100 p50", "FanOut100 p99"},
	{"reconnect: dial, hello, subscription", "Reconnect p50", "Reconnect p99"},
	{"probe of 500 sockets, 250 of them dead", "Probe500 p50", "Probe500 p99"},
}

// aims are the values that the protocol should reach: a figure, or its ratio to another.
var aims = []struct {
	text       string
	figure, to string
	unit       float64 // of the figure, unless it is a ratio
	most       float64
}{
	{"a ping in Go: at the most 1.50 × a bare echo", "Ping p50-ping", "Ping p50-echo", 0, 1.5},
	{"a ping in TypeScript: at the most 1.50 × a bare echo", "TypeScript p50-ping", "TypeScript p50-echo", 0, 1.5},
	{"a new endpoint at a waiting client, p99: at the most 5 ms", "Push p99", "", float64(time.Millisecond), 5},
	{"a probe of 500 sockets, p99: at the most 2 s", "Probe500 p99", "", float64(time.Second), 2},
	{"growth of the heap over 100,000 messages: at the most 256 kB", "Messages100000 grown", "", 1 << 10, 256},
}

// markdown returns the table and the aims. A missing figure is an error: its benchmark
// was renamed.
func markdown(all figures) (string, error) {
	var missing []string
	value := func(name string) float64 {
		v, measured := all[name]
		if !measured && !slices.Contains(missing, name) {
			missing = append(missing, name)
		}
		return v
	}
	var s strings.Builder
	s.WriteString("| µs | p50 | p99 |\n|---|--:|--:|\n")
	for _, r := range rows {
		fmt.Fprintf(&s, "| %s | %s | %s |\n", r.text, microseconds(value(r.p50)), microseconds(value(r.p99)))
	}
	s.WriteString("\n")
	for _, a := range aims {
		reached := value(a.figure)
		if a.to != "" {
			reached /= value(a.to)
		} else {
			reached /= a.unit
		}
		judgement := "held"
		if reached > a.most {
			judgement = "**missed**"
		}
		fmt.Fprintf(&s, "- %s: %.2f, %s\n", a.text, reached, judgement)
	}
	if len(missing) > 0 {
		return "", fmt.Errorf("no benchmark gave %s", strings.Join(missing, ", "))
	}
	return s.String(), nil
}

func microseconds(nanoseconds float64) string {
	us := nanoseconds / float64(time.Microsecond)
	if us >= 100 {
		return fmt.Sprintf("%.0f", us)
	}
	return fmt.Sprintf("%.1f", us)
}
