package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"browser-coordinator/coordinator/output"
	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/profiling"
	"browser-coordinator/coordinator/tools/agent"
	"browser-coordinator/coordinator/tools/answer"
)

type startIn struct {
	Reload bool `json:"reload,omitempty" jsonschema:"then reload the page"`
	inPage
}

type stopIn struct {
	Filename string `json:"filename,omitempty" jsonschema:"default: named by kind and time"`
	inPage
}

func (s *Server) addPerformanceTools() {
	onPage(s, mutates("performance_start_trace", "Start a trace", "Begin to record a performance trace of the page"), start("trace", (*profiling.Profiler).StartTrace))
	add(s, saves("performance_stop_trace", "Stop the trace", "Save the trace for DevTools; answers with LCP, INP, CLS, long tasks and large requests"), stopTrace)
	add(s, saves("performance_heap_snapshot", "Heap snapshot", "Save the page's JavaScript heap for DevTools"), heapSnapshot)
	onPage(s, mutates("performance_start_profile", "Start a CPU profile", "Begin to profile the page's scripts"), start("CPU profile", (*profiling.Profiler).StartCPUProfile))
	add(s, saves("performance_stop_profile", "Stop the CPU profile", "Save the CPU profile for DevTools; answers with the functions that took most"), stopProfile)
	onPage(s, mutates("performance_start_coverage", "Start coverage", "Begin to record what is used of scripts and styles"), start("coverage", (*profiling.Profiler).StartCoverage))
	add(s, saves("performance_stop_coverage", "Stop coverage", "Save the coverage as DevTools does; answers with what is used least"), stopCoverage)
}

// start begins a recording, and reloads the page if the call requests it.
func start(what string, begin func(*profiling.Profiler, context.Context) error) func(context.Context, *agent.Call, *page.Page, startIn) error {
	return func(ctx context.Context, c *agent.Call, p *page.Page, in startIn) error {
		err := begin(p.Profiler(), ctx)
		if err == nil && in.Reload {
			return c.Did(fmt.Sprintf("The %s has begun; reloaded the page.", what))(p.Reload(ctx))
		}
		return c.Done(err, "The %s has begun.", what)
	}
}

// stopRecording writes the file of a recording, which stop ends.
func stopRecording(ctx context.Context, c *agent.Call, in stopIn, what string, kind output.Kind, stop func(*profiling.Recordings, *os.File) error) (path string, size int64, err error) {
	file, err := c.File(ctx, cmp.Or(in.Filename, agent.DatedName(what, kind)), kind)
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
	var traced string
	var lost bool
	var s profiling.TraceSummary
	var unread error
	path, size, err := stopRecording(ctx, c, in, "trace", output.JSON, func(r *profiling.Recordings, to *os.File) (err error) {
		if traced, lost, err = r.StopTrace(ctx, to); err != nil {
			return err
		}
		if _, err := to.Seek(0, io.SeekStart); err != nil {
			return err
		}
		s, unread = profiling.SummarizeTrace(to, traced)
		return nil
	})
	if err != nil {
		return err
	}
	if unread != nil {
		return fmt.Errorf("the trace is saved in %s, but cannot be summed up: %w", path, unread)
	}
	c.Out.Addf("Saved %s (%s), for the Performance panel of DevTools.", path, bytesText(size))
	if lost {
		c.Out.Addf("The browser's buffer was too small: some events are missing. Record a shorter time.")
	}
	vitals(c.Out, s)
	return nil
}

// mostInTrace bounds how many long tasks and how many requests of a trace an answer names.
const mostInTrace = 10

// vitals adds what a trace shows.
func vitals(out *answer.Answer, s profiling.TraceSummary) {
	if s.URL == "" {
		out.Addf("No navigation in it, so no LCP; times are since its start.")
	} else {
		out.Quotef("%s; times are since its navigation.", s.URL)
		out.Quotef("LCP %s; FCP %s; load %s", strings.TrimSpace(paint(s.LCP, 2500*time.Millisecond, 4*time.Second)+" "+s.LCPWhat), paint(s.FCP, 1800*time.Millisecond, 3*time.Second), atLeast(s.Load))
	}
	out.Addf("CLS %.3f (%s), %d shifts", s.CLS, rating(s.CLS, 0.1, 0.25), s.Shifts)
	if s.INP > 0 {
		out.Quotef("INP %s of a %s", paint(s.INP, 200*time.Millisecond, 500*time.Millisecond), s.INPWhat)
	} else {
		out.Addf("INP: there was no interaction")
	}
	out.Addf("Long tasks: %d, blocking %s", len(s.LongTasks), atLeast(s.Blocking))
	for _, t := range s.LongTasks[:min(len(s.LongTasks), mostInTrace)] {
		out.Quotef("- %s at %s %s", atLeast(t.Duration), atLeast(t.Start), t.What)
	}
	out.Addf("Requests: %d, %s; the largest:", len(s.Requests), bytesText(s.Received))
	for _, r := range s.Requests[:min(len(s.Requests), mostInTrace)] {
		out.Quotef("- %s in %s at %s: %s %s", bytesText(r.Size), atLeast(r.Duration), atLeast(r.Start), r.MIMEType, r.URL)
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

func heapSnapshot(ctx context.Context, c *agent.Call, in stopIn) error {
	p, file, err := c.PageAndFile(ctx, cmp.Or(in.Filename, agent.DatedName("heap", output.HeapSnapshot)), output.HeapSnapshot)
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
	return c.Done(nil, "Saved %s (%s), for the Memory panel of DevTools. The page uses %s of JavaScript heap.", path, bytesText(size), bytesText(used))
}

func stopProfile(ctx context.Context, c *agent.Call, in stopIn) error {
	var profile profiling.CPUProfile
	path, _, err := stopRecording(ctx, c, in, "profile", output.CPUProfile, func(r *profiling.Recordings, to *os.File) (err error) {
		if profile, err = r.StopCPUProfile(ctx); err == nil {
			_, err = to.Write(profile.JSON)
		}
		return err
	})
	if err != nil {
		return err
	}
	c.Out.Addf("Saved %s, for the Performance panel of DevTools. %s in all, %s of them idle. Own time:", path, atLeast(profile.Length), atLeast(profile.Idle))
	for _, f := range profile.Top {
		c.Out.Quotef("- %s %s", atLeast(f.Self), f.Name)
	}
	return nil
}

// mostCovered bounds how many sources an answer names.
const mostCovered = 20

func stopCoverage(ctx context.Context, c *agent.Call, in stopIn) error {
	covered := []profiling.Covered{}
	path, _, err := stopRecording(ctx, c, in, "coverage", output.JSON, func(r *profiling.Recordings, to *os.File) error {
		all, err := r.StopCoverage(ctx)
		if err != nil {
			return err
		}
		covered = append(covered, all...)
		return json.NewEncoder(to).Encode(covered)
	})
	if err != nil {
		return err
	}
	c.Out.Addf("Saved the coverage of %d sources to %s. Unused:", len(covered), path)
	for _, s := range covered[:min(mostCovered, len(covered))] {
		c.Out.Quotef("- %s of %s, %d %% (%s): %s", bytesText(int64(s.Total-s.Used)), bytesText(int64(s.Total)), 100*(s.Total-s.Used)/max(s.Total, 1), s.Kind, s.URL)
	}
	if more := len(covered) - mostCovered; more > 0 {
		c.Out.Addf("… %d more in the file", more)
	}
	return nil
}
