package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/output"
	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/profiling"
)

type startIn struct {
	Reload bool `json:"reload,omitempty" jsonschema:"then reload the page"`
	inWindow
}

type stopIn struct {
	Filename string `json:"filename,omitempty" jsonschema:"default: named by kind and time"`
	inWindow
}

func (s *Server) addPerformanceTools() {
	add(s, &mcp.Tool{
		Name:        "performance_start_trace",
		Description: "Begin to record a performance trace of the page",
		Annotations: acts("Start a trace"),
	}, startTrace)
	add(s, &mcp.Tool{
		Name:        "performance_stop_trace",
		Description: "Save the trace for DevTools; answers with LCP, INP, CLS, long tasks and large requests",
		Annotations: saves("Stop the trace"),
	}, stopTrace)
	add(s, &mcp.Tool{
		Name:        "performance_heap_snapshot",
		Description: "Save the page's JavaScript heap for DevTools",
		Annotations: saves("Heap snapshot"),
	}, heapSnapshot)
	add(s, &mcp.Tool{
		Name:        "performance_start_profile",
		Description: "Begin to profile the page's scripts",
		Annotations: acts("Start a CPU profile"),
	}, startProfile)
	add(s, &mcp.Tool{
		Name:        "performance_stop_profile",
		Description: "Save the CPU profile for DevTools; answers with the functions that took most",
		Annotations: saves("Stop the CPU profile"),
	}, stopProfile)
	add(s, &mcp.Tool{
		Name:        "performance_start_coverage",
		Description: "Begin to record what is used of scripts and styles",
		Annotations: acts("Start coverage"),
	}, startCoverage)
	add(s, &mcp.Tool{
		Name:        "performance_stop_coverage",
		Description: "Save the coverage as DevTools does; answers with what is used least",
		Annotations: saves("Stop coverage"),
	}, stopCoverage)
}

// started begins a recording, and reloads the page if the call requests it.
func (a *agent) started(ctx context.Context, in startIn, what string, start func(*page.Page) error) (*answer, error) {
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	if err := start(p); err != nil {
		return nil, err
	}
	if in.Reload {
		return a.did(fmt.Sprintf("The %s has begun; reloaded the page.", what))(p.Reload(ctx))
	}
	out := a.begin()
	out.addf("The %s has begun.", what)
	return out, nil
}

func startTrace(ctx context.Context, a *agent, in startIn) (*answer, error) {
	return a.started(ctx, in, "trace", func(p *page.Page) error { return p.Profiler().StartTrace(ctx) })
}

func startProfile(ctx context.Context, a *agent, in startIn) (*answer, error) {
	return a.started(ctx, in, "CPU profile", func(p *page.Page) error { return p.Profiler().StartCPUProfile(ctx) })
}

func startCoverage(ctx context.Context, a *agent, in startIn) (*answer, error) {
	return a.started(ctx, in, "coverage", func(p *page.Page) error { return p.Profiler().StartCoverage(ctx) })
}

func stopTrace(ctx context.Context, a *agent, in stopIn) (*answer, error) {
	file, err := a.fileFor(ctx, in.Filename, "trace", output.JSON)
	if err != nil {
		return nil, err
	}
	browser, err := a.browserFor(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	var traced string
	var lost bool
	var s profiling.TraceSummary
	var unread error
	path, size, err := file.Write(func(to *os.File) (err error) {
		if traced, lost, err = browser.Recordings().StopTrace(ctx, to); err != nil {
			return err
		}
		if _, err := to.Seek(0, io.SeekStart); err != nil {
			return err
		}
		s, unread = profiling.SummarizeTrace(to, traced)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if unread != nil {
		return nil, fmt.Errorf("the trace is saved in %s, but cannot be summed up: %w", path, unread)
	}
	out := a.begin()
	out.addf("Saved %s (%s), for the Performance panel of DevTools.", path, bytesText(size))
	if lost {
		out.addf("The browser's buffer was too small: some events are missing. Record a shorter time.")
	}
	out.vitals(s)
	return out, nil
}

// mostInTrace bounds how many long tasks and how many requests of a trace an answer names.
const mostInTrace = 10

// vitals adds what a trace shows.
func (a *answer) vitals(s profiling.TraceSummary) {
	if s.URL == "" {
		a.addf("No navigation in it, so no LCP; times are since its start.")
	} else {
		a.quotef("%s; times are since its navigation.", s.URL)
		a.quotef("LCP %s; FCP %s; load %s", strings.TrimSpace(paint(s.LCP, 2500*time.Millisecond, 4*time.Second)+" "+s.LCPWhat), paint(s.FCP, 1800*time.Millisecond, 3*time.Second), atLeast(s.Load))
	}
	a.addf("CLS %.3f (%s), %d shifts", s.CLS, rating(s.CLS, 0.1, 0.25), s.Shifts)
	if s.INP > 0 {
		a.quotef("INP %s of a %s", paint(s.INP, 200*time.Millisecond, 500*time.Millisecond), s.INPWhat)
	} else {
		a.addf("INP: there was no interaction")
	}
	a.addf("Long tasks: %d, blocking %s", len(s.LongTasks), atLeast(s.Blocking))
	for _, t := range s.LongTasks[:min(len(s.LongTasks), mostInTrace)] {
		a.quotef("- %s at %s %s", atLeast(t.Duration), atLeast(t.Start), t.What)
	}
	a.addf("Requests: %d, %s; the largest:", len(s.Requests), bytesText(s.Received))
	for _, r := range s.Requests[:min(len(s.Requests), mostInTrace)] {
		a.quotef("- %s in %s at %s: %s %s", bytesText(r.Size), atLeast(r.Duration), atLeast(r.Start), r.MIMEType, r.URL)
	}
}

// paint is a time with its rating, by the thresholds of the Web Vitals.
func paint(d, good, poor time.Duration) string {
	if d == 0 {
		return "none"
	}
	return fmt.Sprintf("%s (%s)", atLeast(d), rating(float64(d), float64(good), float64(poor)))
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

func bytesText(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1_000_000:
		return fmt.Sprintf("%d kB", (n+500)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

func heapSnapshot(ctx context.Context, a *agent, in stopIn) (*answer, error) {
	file, err := a.fileFor(ctx, in.Filename, "heap", output.HeapSnapshot)
	if err != nil {
		return nil, err
	}
	p, err := a.page(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	var used int64
	path, size, err := file.Write(func(to *os.File) (err error) {
		used, err = p.Profiler().HeapSnapshot(ctx, to)
		return err
	})
	if err != nil {
		return nil, err
	}
	out := a.begin()
	out.addf("Saved %s (%s), for the Memory panel of DevTools. The page uses %s of JavaScript heap.", path, bytesText(size), bytesText(used))
	return out, nil
}

func stopProfile(ctx context.Context, a *agent, in stopIn) (*answer, error) {
	file, err := a.fileFor(ctx, in.Filename, "profile", output.CPUProfile)
	if err != nil {
		return nil, err
	}
	browser, err := a.browserFor(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	profile, err := browser.Recordings().StopCPUProfile(ctx)
	if err != nil {
		return nil, err
	}
	path, err := file.Save(profile.JSON)
	if err != nil {
		return nil, err
	}
	out := a.begin()
	out.addf("Saved %s, for the Performance panel of DevTools. %s in all, %s of them idle. Own time:", path, atLeast(profile.Length), atLeast(profile.Idle))
	for _, f := range profile.Top {
		out.quotef("- %s %s", atLeast(f.Self), f.Name)
	}
	return out, nil
}

// mostCovered bounds how many sources an answer names.
const mostCovered = 20

func stopCoverage(ctx context.Context, a *agent, in stopIn) (*answer, error) {
	file, err := a.fileFor(ctx, in.Filename, "coverage", output.JSON)
	if err != nil {
		return nil, err
	}
	browser, err := a.browserFor(ctx, in.Window)
	if err != nil {
		return nil, err
	}
	covered, err := browser.Recordings().StopCoverage(ctx)
	if err != nil {
		return nil, err
	}
	if covered == nil {
		covered = []profiling.Covered{}
	}
	text, err := json.Marshal(covered)
	if err != nil {
		return nil, err
	}
	path, err := file.Save(append(text, '\n'))
	if err != nil {
		return nil, err
	}
	out := a.begin()
	out.addf("Saved the coverage of %d sources to %s. Unused:", len(covered), path)
	for i, c := range covered {
		if i == mostCovered {
			out.addf("… %d more in the file", len(covered)-i)
			break
		}
		out.quotef("- %s of %s, %d %% (%s): %s", bytesText(int64(c.Total-c.Used)), bytesText(int64(c.Total)), 100*(c.Total-c.Used)/max(c.Total, 1), c.Kind, c.URL)
	}
	return out, nil
}
