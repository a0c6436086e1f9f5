package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// result is what a simulation has counted, after the warm-up.
type result struct {
	requests, timedOut, lost              int
	sessions                              []session // in the order in which they began
	nodes                                 []int     // up, at equal distances of time from the start
	slotSeconds, busySeconds, nodeSeconds float64
}

// session is when it was requested, when it began, and what the network added to each of
// its commands.
type session struct{ requested, began, added time.Duration }

// samples is how often the number of nodes is noted.
const samples = 10

// add adds the result of another grid.
func (r *result) add(o result) {
	r.requests += o.requests
	r.timedOut += o.timedOut
	r.lost += o.lost
	r.sessions = append(r.sessions, o.sessions...)
	r.slotSeconds += o.slotSeconds
	r.busySeconds += o.busySeconds
	r.nodeSeconds += o.nodeSeconds
	for len(r.nodes) < len(o.nodes) {
		r.nodes = append(r.nodes, 0)
	}
	for i, n := range o.nodes {
		r.nodes[i] += n
	}
}

// percentiles returns the values below which the given shares of all values are.
func percentiles(sessions []session, value func(session) time.Duration, shares ...float64) []time.Duration {
	if len(sessions) == 0 {
		return make([]time.Duration, len(shares))
	}
	values := make([]time.Duration, len(sessions))
	for i, s := range sessions {
		values[i] = value(s)
	}
	slices.Sort(values)
	out := make([]time.Duration, len(shares))
	for i, share := range shares {
		out[i] = values[min(int(share*float64(len(values))), len(values)-1)]
	}
	return out
}

func wait(s session) time.Duration  { return s.began - s.requested }
func added(s session) time.Duration { return s.added }

// row is a line of a table.
type row struct {
	name  string
	grids int
	result
}

// table prints the results.
func table(w io.Writer, title string, rows []row) {
	fmt.Fprintf(w, "\n%s\n\n", title)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "case\tgrids\tsessions\twait p50\tp90\tp99\tmax\ttimed out\tlost\tbusy\tnodes\tnode hours per session hour\tadded p50\tp99")
	for _, r := range rows {
		p := percentiles(r.sessions, wait, 0.5, 0.9, 0.99, 1)
		hop := percentiles(r.sessions, added, 0.5, 0.99)
		fmt.Fprintf(t, "%s\t%d\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d–%d\t%.2f\t%s\t%s\n", r.name, r.grids, len(r.sessions),
			seconds(p[0]), seconds(p[1]), seconds(p[2]), seconds(p[3]),
			percent(float64(r.timedOut), float64(r.requests)), percent(float64(r.lost), float64(r.requests)),
			percent(r.busySeconds, r.slotSeconds), slices.Min(r.nodes[1:]), slices.Max(r.nodes),
			r.nodeSeconds/max(r.busySeconds, 1), milliseconds(hop[0]), milliseconds(hop[1]))
	}
	t.Flush()
	fmt.Fprintln(w, "\nNodes over time, in ten equal parts:")
	for _, r := range rows {
		fmt.Fprintf(w, "  %s: %s\n", r.name, strings.Trim(fmt.Sprint(r.nodes), "[]"))
	}
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}

func percent(part, whole float64) string {
	if whole == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f %%", 100*part/whole)
}
