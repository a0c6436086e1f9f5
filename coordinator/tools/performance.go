package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"browser-coordinator/coordinator/output"
	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/guard"
	"browser-coordinator/coordinator/page/history"
	"browser-coordinator/coordinator/page/profiling"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/answer"
)

type startIn struct {
	Reload bool `json:"reload,omitempty" about:"then reload the page"`
	inPage
}

type stopIn struct {
	Filename string `json:"filename,omitempty" about:"default: named by kind and time"`
	inPage
}

var _ = define(Tool{
	Name: "performance_start_trace", Title: "Start a trace",
	Description: "Begin to record a performance trace of the page",
	Set:         "performance", Effect: Acts,
	ReadOnly: "without `reload`",
	Shell:    []command{{Name: "trace start"}},
	Example:  `{}`,
}, calls[startIn]{
	ReadOnlyIf: func(in startIn) bool { return !in.Reload },
	Do:         onPage(start("trace", (*profiling.Profiler).StartTrace)),
})

var _ = define(Tool{
	Name: "performance_stop_trace", Title: "Stop the trace",
	Description: "Save the trace for DevTools; answers with LCP, INP, CLS, long tasks and large requests",
	Set:         "performance", Effect: Reads,
	Shell: []command{{Name: "trace stop", Args: "[filename]"}},
	Notes: "The figures are of the document that is shown when the trace is stopped. An INP below 104 ms is " +
		"*under 104ms*. A browser records one trace at a time, including DevTools' own.",
	Example: `{}`,
}, calls[stopIn]{Do: stopTrace})

var _ = define(Tool{
	Name: "performance_heap_snapshot", Title: "Heap snapshot",
	Description: "Save the page's JavaScript heap for DevTools",
	Set:         "performance", Effect: Reads,
	Shell:   []command{{Name: "heap", Args: "[filename]"}},
	Returns: "the sizes of the file and of the heap in use",
	Notes:   "A heap, a profile and coverage are of the page's own process, without frames of other processes.",
	Example: `{}`,
}, calls[stopIn]{Do: heapSnapshot})

var _ = define(Tool{
	Name: "performance_start_profile", Title: "Start a CPU profile", Description: "Begin to profile the page's scripts",
	Set: "performance", Effect: Acts,
	ReadOnly: "without `reload`",
	Shell:    []command{{Name: "profile start"}},
	Example:  `{}`,
}, calls[startIn]{
	ReadOnlyIf: func(in startIn) bool { return !in.Reload },
	Do:         onPage(start("CPU profile", (*profiling.Profiler).StartCPUProfile)),
})

var _ = define(Tool{
	Name: "performance_stop_profile", Title: "Stop the CPU profile",
	Description: "Save the CPU profile for DevTools; answers with the functions that took most",
	Set:         "performance", Effect: Reads,
	Shell:   []command{{Name: "profile stop", Args: "[filename]"}},
	Example: `{}`,
}, calls[stopIn]{Do: stopProfile})

var _ = define(Tool{
	Name: "performance_start_coverage", Title: "Start coverage",
	Description: "Begin to record what is used of scripts and styles",
	Set:         "performance", Effect: Acts,
	ReadOnly: "without `reload`",
	Shell:    []command{{Name: "coverage start"}},
	Example:  `{}`,
}, calls[startIn]{
	ReadOnlyIf: func(in startIn) bool { return !in.Reload },
	Do:         onPage(start("coverage", (*profiling.Profiler).StartCoverage)),
})

var _ = define(Tool{
	Name: "performance_stop_coverage", Title: "Stop coverage",
	Description: "Save the coverage as DevTools does; answers with what is used least",
	Set:         "performance", Effect: Reads,
	Shell:   []command{{Name: "coverage stop", Args: "[filename]"}},
	Example: `{}`,
}, calls[stopIn]{Do: stopCoverage})

// start begins a recording, and reloads the page if the call requests it.
func start(description string, begin func(*profiling.Profiler, context.Context) error) func(context.Context,
	*agent.Call,
	*page.Page, startIn) error {
	return func(ctx context.Context, c *agent.Call, p *page.Page, in startIn) error {
		err := mayRecord(c, description)
		if err == nil {
			err = begin(p.Profiler(), ctx)
		}
		if err == nil && in.Reload {
			c.Request.Changes = "none" // what reads the page would be in the recording
			return c.AnswerAction(fmt.Sprintf("The %s has begun; reloaded the page.", description))(p.Reload(ctx))
		}
		return c.Done(err, "The %s has begun.", description)
	}
}

// mayRecord refuses a recording that would also show sites outside the agent's origins: it is of a whole
// process or browser, and has what frames, popups, former documents and other tabs leave there. Coverage
// names its sources by their addresses, so those are left out of it.
func mayRecord(c *agent.Call, description string) error {
	if c.Agent.Origins == nil || description == "coverage" {
		return nil
	}
	return &guard.LimitError{Text: "a " + description + " is not allowed, since the user limits the origins: it would " +
		"also show other sites of the same browser process. Ask the user to record it in DevTools"}
}

// stopRecording writes the file of a recording, which stop ends.
func stopRecording(ctx context.Context, c *agent.Call, in stopIn, description string, kind output.Kind,
	stop func(*profiling.Recordings, *os.File) error) (path string, size int64, err error) {
	file, err := c.File(ctx, cmp.Or(in.Filename, agent.DatedName(description, kind)), kind)
	if err != nil {
		return "", 0, err
	}
	browser, err := c.Browser(ctx)
	if err != nil {
		return "", 0, err
	}
	return file.Write(func(to *os.File) error { return stop(browser.Recordings(), to) })
}

func stopTrace(ctx context.Context, c *agent.Call, in stopIn) error {
	var t profiling.Trace
	path, size, err := stopRecording(ctx, c, in, "trace", output.JSON,
		func(r *profiling.Recordings, to *os.File) (err error) {
			t, err = r.StopTrace(ctx, to)
			return err
		})
	if err != nil {
		return err
	}
	if t.Unread != nil {
		return fmt.Errorf("the trace is saved in %s, but the page's Web Vitals cannot be read: %w", path, t.Unread)
	}
	c.Out.Addf("Saved %s (%s), for the Performance panel of DevTools.", path, bytesText(size))
	if t.Incomplete {
		c.Out.Addf("The browser's buffer was too small: some events are missing. Record a shorter time.")
	}
	browser, err := c.Browser(ctx)
	if err != nil {
		return err
	}
	traced, err := browser.Page(ctx, t.Page)
	if err != nil {
		return err
	}
	c.Out.Quotef("%s; times are since its navigation.", traced.URL())
	vitals(c.Out, t.Vitals)
	all, refused := answer.Readable(c.Agent.Origins, traced.History().Network.Requests(ctx))
	c.Out.LeftOut(refused, "requests")
	largestRequests(c.Out, all)
	return nil
}

// mostInTrace bounds how many long tasks and how many requests an answer names.
const mostInTrace = 10

// vitals adds the Web Vitals of a document.
func vitals(out *answer.Answer, v profiling.Vitals) {
	out.Quotef("LCP %s; FCP %s; load %s", strings.TrimSpace(paint(v.LCP, 2500, 4000)+" "+v.Largest),
		paint(v.FCP, 1800, 3000), milliseconds(v.Load))
	out.Addf("CLS %.3f (%s), %d shifts", v.CLS, rating(v.CLS, 0.1, 0.25), v.Shifts)
	switch {
	case v.INP > 0:
		out.Quotef("INP %s of a %s", paint(v.INP, 200, 500), v.Input)
	case v.Interactions > 0:
		out.Addf("INP: under 104ms (good)")
	default:
		out.Addf("INP: there was no interaction")
	}
	const longTask = 50
	blocking := 0.0
	for _, t := range v.Tasks {
		blocking += t.Duration - longTask
	}
	out.Addf("Long tasks: %d, blocking %s", len(v.Tasks), milliseconds(blocking))
	slices.SortFunc(v.Tasks, func(a, b profiling.LongTask) int { return cmp.Compare(b.Duration, a.Duration) })
	for _, t := range v.Tasks[:min(len(v.Tasks), mostInTrace)] {
		out.Quotef("- %s at %s", milliseconds(t.Duration), milliseconds(t.Start))
	}
}

// largestRequests adds the largest of the requests since the last navigation.
func largestRequests(out *answer.Answer, all []history.Request) {
	own, _ := ofDocument(all)
	slices.SortStableFunc(own, func(a, b history.Request) int { return cmp.Compare(b.Size, a.Size) })
	var received int64
	for _, r := range own {
		received += max(r.Size, 0)
	}
	out.Addf("Requests: %d, %s; the largest:", len(own), bytesText(received))
	for _, r := range own[:min(len(own), mostInTrace)] {
		out.Quotef("%s", requestLine(r))
	}
}

// paint is a time with its rating, by the thresholds of the Web Vitals.
func paint(ms, good, poor float64) string {
	if ms == 0 {
		return "none"
	}
	return fmt.Sprintf("%s (%s)", milliseconds(ms), rating(ms, good, poor))
}

func rating(value, good, poor float64) string {
	switch {
	case value <= good:
		return "good"
	case value <= poor:
		return "needs improvement"
	}
	return "poor"
}

func atLeast(d time.Duration) string { return d.Round(time.Millisecond).String() }

func milliseconds(ms float64) string { return atLeast(time.Duration(ms * float64(time.Millisecond))) }

func bytesText(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1_000_000:
		return fmt.Sprintf("%d kB", (n+500)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

func heapSnapshot(ctx context.Context, c *agent.Call, in stopIn) error {
	if err := mayRecord(c, "heap snapshot"); err != nil {
		return err
	}
	p, file, err := c.PageAndFile(ctx, cmp.Or(in.Filename, agent.DatedName("heap", output.HeapSnapshot)),
		output.HeapSnapshot)
	if err != nil {
		return err
	}
	var used int64
	path, size, err := file.Write(func(to *os.File) (err error) {
		used, err = p.Profiler().HeapSnapshot(ctx, to)
		return err
	})
	if err != nil {
		return err
	}
	return c.Done(nil, "Saved %s (%s), for the Memory panel of DevTools. The page uses %s of JavaScript heap.", path,
		bytesText(size), bytesText(used))
}

func stopProfile(ctx context.Context, c *agent.Call, in stopIn) error {
	var profile profiling.CPUProfile
	path, _, err := stopRecording(ctx, c, in, "profile", output.CPUProfile,
		func(r *profiling.Recordings, to *os.File) (err error) {
			if profile, err = r.StopCPUProfile(ctx); err == nil {
				_, err = to.Write(profile.JSON)
			}
			return err
		})
	if err != nil {
		return err
	}
	c.Out.Addf("Saved %s, for the Performance panel of DevTools. %s in all, %s of them idle. Own time:", path,
		atLeast(profile.Length), atLeast(profile.Idle))
	for _, f := range profile.Top {
		c.Out.Quotef("- %s %s", atLeast(f.Self), f.Name)
	}
	return nil
}

// mostCovered bounds how many sources an answer names.
const mostCovered = 20

func stopCoverage(ctx context.Context, c *agent.Call, in stopIn) error {
	covered, refused := []profiling.Covered{}, 0
	path, _, err := stopRecording(ctx, c, in, "coverage", output.JSON,
		func(r *profiling.Recordings, to *os.File) error {
			all, err := r.StopCoverage(ctx)
			if err != nil {
				return err
			}
			for _, source := range all {
				if c.Agent.CheckOrigin(source.URL) == nil {
					covered = append(covered, source)
				}
			}
			refused = len(all) - len(covered)
			return json.NewEncoder(to).Encode(covered)
		})
	if err != nil {
		return err
	}
	c.Out.LeftOut(refused, "sources")
	if len(covered) == 0 {
		c.Out.Addf("Nothing ran in the recording, so the coverage in %s is empty. Start it with reload to record what "+
			"loads. If something did run, another client of this browser, such as DevTools, recorded coverage too.", path)
		return nil
	}
	c.Out.Addf("Saved the coverage of %d sources to %s. Unused:", len(covered), path)
	for _, s := range covered[:min(mostCovered, len(covered))] {
		c.Out.Quotef("- %s of %s, %d %% (%s): %s", bytesText(int64(s.Total-s.Used)), bytesText(int64(s.Total)),
			100*(s.Total-s.Used)/max(s.Total, 1), s.Kind, s.URL)
	}
	if more := len(covered) - mostCovered; more > 0 {
		c.Out.Addf("… %d more in the file", more)
	}
	return nil
}
