package profiling

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// TraceSummary holds a page's Web Vitals from a trace. Times count from the last
// navigation of the trace, or from its start if there was none.
type TraceSummary struct {
	URL       string         // of the last navigation; empty: there was none
	Length    time.Duration  // until the last event
	FCP       time.Duration  // first contentful paint; 0: none
	LCP       time.Duration  // largest contentful paint; 0: none
	LCPWhat   string         // for example H1 (text)
	Load      time.Duration  // the load event; 0: none
	CLS       float64        // cumulative layout shift, of the worst session window
	Shifts    int            // layout shifts without recent input
	INP       time.Duration  // interaction to next paint; 0: no interaction
	INPWhat   string         // for example click
	LongTasks []LongTask     // tasks of the main thread of more than 50 ms, the longest first
	Blocking  time.Duration  // what the long tasks take beyond 50 ms each
	Received  int64          // bytes of all requests
	Requests  []TraceRequest // the largest first
}

// LongTask is a task that blocked the main thread.
type LongTask struct {
	Start, Duration time.Duration
	What            string // the function or script that used most of it; may be empty
}

// TraceRequest is a request that ended during the trace.
type TraceRequest struct {
	URL             string
	MIMEType        string
	Size            int64 // bytes received
	Start, Duration time.Duration
}

const (
	longTask = 50 * time.Millisecond
	// A window of layout shifts ends after a second without one, or after five.
	shiftGap, shiftWindow = time.Second, 5 * time.Second
)

// traceEvent is one event of the trace event format; times are microseconds.
type traceEvent struct {
	Name string          `json:"name"`
	Ph   string          `json:"ph"`
	Ts   int64           `json:"ts"`
	Dur  int64           `json:"dur"`
	Pid  int64           `json:"pid"`
	Tid  int64           `json:"tid"`
	Args json.RawMessage `json:"args"`
}

// traceArgs are the needed arguments of events.
type traceArgs struct {
	Name  string `json:"name"` // of a thread
	Frame string `json:"frame"`
	Data  struct {
		Frame      string `json:"frame"`
		Parent     string `json:"parent"`
		ProcessID  int64  `json:"processId"`
		Navigation string `json:"navigationId"`
		URL        string `json:"url"`
		Document   string `json:"documentLoaderURL"`
		Frames     []struct {
			Frame     string `json:"frame"`
			Parent    string `json:"parent"`
			ProcessID int64  `json:"processId"`
		} `json:"frames"`
		NodeName      string  `json:"nodeName"`
		Type          string  `json:"type"`
		Score         float64 `json:"weighted_score_delta"`
		RecentInput   bool    `json:"had_recent_input"`
		InteractionID int64   `json:"interactionId"`
		Duration      float64 `json:"duration"` // ms
		FunctionName  string  `json:"functionName"`
		Line          int     `json:"lineNumber"`
		RequestID     string  `json:"requestId"`
		MIMEType      string  `json:"mimeType"`
		Encoded       int64   `json:"encodedDataLength"`
	} `json:"data"`
}

// traceReader collects the data for a summary in any order, because a trace is not sorted.
type traceReader struct {
	frame       string // the main frame
	first, last int64
	frames      map[string]bool // of the page
	processes   map[int64]bool  // that have rendered its main frame
	mainThreads map[[2]int64]bool
	moments     map[string][]traceMoment // by event
	inputs      map[int64]traceMoment    // by interaction
	tasks       []traceSpan
	scripts     []traceSpan
	requests    map[string]*traceRequest
}

type traceMoment struct {
	ts         int64
	navigation string
	text       string
	value      float64
}

type traceSpan struct {
	thread     [2]int64
	start, end int64
	text       string
}

type traceRequest struct {
	url, mime  string
	start, end int64
	size       int64
}

// SummarizeTrace reads a trace in the format of StopTrace, event by event.
func SummarizeTrace(trace io.Reader, pageID string) (TraceSummary, error) {
	r := &traceReader{
		frame: pageID, frames: map[string]bool{pageID: true}, processes: map[int64]bool{}, mainThreads: map[[2]int64]bool{},
		moments: map[string][]traceMoment{}, inputs: map[int64]traceMoment{}, requests: map[string]*traceRequest{},
	}
	d := json.NewDecoder(trace)
	for {
		token, err := d.Token()
		if err != nil {
			return TraceSummary{}, fmt.Errorf("the trace has no events: %w", err)
		}
		if token == "traceEvents" {
			break
		}
	}
	if _, err := d.Token(); err != nil {
		return TraceSummary{}, err
	}
	for d.More() {
		var e traceEvent
		if err := d.Decode(&e); err != nil {
			return TraceSummary{}, fmt.Errorf("read the trace: %w", err)
		}
		if err := r.add(&e); err != nil {
			return TraceSummary{}, fmt.Errorf("read the trace: %s: %w", e.Name, err)
		}
	}
	return r.summary(), nil
}

// notable are the events that add handles.
var notable = map[string]bool{
	"thread_name": true, "TracingStartedInBrowser": true, "FrameCommittedInBrowser": true, "navigationStart": true, "CommitLoad": true,
	"firstContentfulPaint": true, "largestContentfulPaint::Candidate": true, "MarkLoad": true, "LayoutShift": true,
	"EventTiming": true, "FunctionCall": true, "EvaluateScript": true, "ResourceSendRequest": true,
	"ResourceReceiveResponse": true, "ResourceFinish": true,
}

func (r *traceReader) add(e *traceEvent) error {
	if e.Ts > 0 {
		if r.first == 0 || e.Ts < r.first {
			r.first = e.Ts
		}
		r.last = max(r.last, e.Ts+e.Dur)
	}
	thread := [2]int64{e.Pid, e.Tid}
	if e.Name == "RunTask" && e.Dur > longTask.Microseconds() {
		r.tasks = append(r.tasks, traceSpan{thread: thread, start: e.Ts, end: e.Ts + e.Dur})
		return nil
	}
	if !notable[e.Name] {
		return nil
	}
	var a traceArgs
	if err := json.Unmarshal(e.Args, &a); err != nil {
		var other *json.UnmarshalTypeError
		if !errors.As(err, &other) {
			return err
		}
	}
	moment := traceMoment{ts: e.Ts, navigation: a.Data.Navigation}
	switch e.Name {
	case "thread_name":
		if a.Name == "CrRendererMain" {
			r.mainThreads[thread] = true
		}
	case "TracingStartedInBrowser":
		for _, f := range a.Data.Frames {
			r.addFrame(f.Frame, f.Parent, f.ProcessID)
		}
	case "FrameCommittedInBrowser":
		r.addFrame(a.Data.Frame, a.Data.Parent, a.Data.ProcessID)
	case "navigationStart":
		if a.Frame == r.frame && a.Data.Document != "" {
			moment.text = a.Data.Document
			r.note(e, moment)
			r.processes[e.Pid] = true
		}
	case "largestContentfulPaint::Candidate", "firstContentfulPaint", "CommitLoad", "MarkLoad":
		if cmp.Or(a.Frame, a.Data.Frame) == r.frame {
			moment.text = fmt.Sprintf("%s (%s)", a.Data.NodeName, a.Data.Type) // of a candidate
			r.note(e, moment)
		}
	case "LayoutShift":
		if r.frames[a.Frame] && !a.Data.RecentInput {
			moment.value = a.Data.Score
			r.note(e, moment)
		}
	case "EventTiming":
		if e.Ph == "b" && a.Data.InteractionID != 0 && r.frames[a.Data.Frame] && a.Data.Duration > r.inputs[a.Data.InteractionID].value {
			r.inputs[a.Data.InteractionID] = traceMoment{ts: e.Ts, value: a.Data.Duration, text: a.Data.Type}
		}
	case "FunctionCall", "EvaluateScript":
		if e.Dur > longTask.Microseconds()/5 && a.Data.URL != "" {
			at := fmt.Sprintf("%s:%d", a.Data.URL, a.Data.Line) // its lines are 1-based
			if a.Data.FunctionName != "" {
				at = a.Data.FunctionName + " at " + at
			}
			r.scripts = append(r.scripts, traceSpan{thread: thread, start: e.Ts, end: e.Ts + e.Dur, text: at})
		}
	default:
		r.addRequest(e, &a)
	}
	return nil
}

func (r *traceReader) note(e *traceEvent, m traceMoment) {
	r.moments[e.Name] = append(r.moments[e.Name], m)
}

func (r *traceReader) addFrame(frame, parent string, process int64) {
	if frame == r.frame {
		r.processes[process] = true
	}
	if r.frames[parent] {
		r.frames[frame] = true
	}
}

func (r *traceReader) addRequest(e *traceEvent, a *traceArgs) {
	q := r.requests[a.Data.RequestID]
	if q == nil {
		q = &traceRequest{}
		r.requests[a.Data.RequestID] = q
	}
	switch e.Name {
	case "ResourceSendRequest":
		if r.frames[a.Data.Frame] && q.start == 0 {
			q.url, q.start = a.Data.URL, e.Ts
		}
	case "ResourceReceiveResponse":
		q.mime = a.Data.MIMEType
	case "ResourceFinish":
		q.end, q.size = e.Ts, a.Data.Encoded
	}
}

func (r *traceReader) summary() TraceSummary {
	for _, moments := range r.moments {
		slices.SortFunc(moments, func(a, b traceMoment) int { return cmp.Compare(a.ts, b.ts) })
	}
	start := traceMoment{ts: r.first}
	var s TraceSummary
	if navigations := r.moments["navigationStart"]; len(navigations) > 0 {
		start = navigations[len(navigations)-1]
		s.URL = start.text
	}
	since := func(ts int64) time.Duration { return time.Duration(ts-start.ts) * time.Microsecond }
	s.Length = since(r.last)
	if s.URL != "" {
		r.loading(&s, start, since)
	}
	// Until the new document is committed, the previous one still shifts and works.
	born := start.ts
	if s.URL != "" {
		born = r.firstAfter("CommitLoad", start.ts)
	}
	r.interacting(&s, born)
	r.working(&s, born, since)
	r.fetching(&s, start, since)
	return s
}

// firstAfter is the time of the first such event after a time, or that time if there is
// none.
func (r *traceReader) firstAfter(name string, ts int64) int64 {
	for _, m := range r.moments[name] {
		if m.ts > ts {
			return m.ts
		}
	}
	return ts
}

// loading sums up the paints and the load event of the last navigation.
func (r *traceReader) loading(s *TraceSummary, start traceMoment, since func(int64) time.Duration) {
	for _, m := range r.moments["firstContentfulPaint"] {
		if m.navigation == start.navigation {
			s.FCP = since(m.ts)
		}
	}
	for _, m := range r.moments["largestContentfulPaint::Candidate"] {
		if m.navigation == start.navigation {
			s.LCP, s.LCPWhat = since(m.ts), m.text
		}
	}
	s.Load = since(r.firstAfter("MarkLoad", start.ts))
}

// interacting sums up layout shifts and input.
func (r *traceReader) interacting(s *TraceSummary, born int64) {
	var window float64
	var opened, last int64
	for _, m := range r.moments["LayoutShift"] {
		if m.ts < born {
			continue
		}
		s.Shifts++
		if window == 0 || m.ts-last > shiftGap.Microseconds() || m.ts-opened > shiftWindow.Microseconds() {
			window, opened = 0, m.ts
		}
		window, last = window+m.value, m.ts
		s.CLS = max(s.CLS, window)
	}
	var inputs []traceMoment
	for _, m := range r.inputs {
		if m.ts >= born {
			inputs = append(inputs, m)
		}
	}
	if len(inputs) == 0 {
		return
	}
	slices.SortFunc(inputs, func(a, b traceMoment) int { return cmp.Compare(b.value, a.value) })
	worst := inputs[min(len(inputs)/50, len(inputs)-1)] // one in fifty may be an outlier
	s.INP, s.INPWhat = time.Duration(worst.value*float64(time.Millisecond)), worst.text
}

// working sums up the long tasks of the main threads that showed the page.
func (r *traceReader) working(s *TraceSummary, born int64, since func(int64) time.Duration) {
	for _, t := range r.tasks {
		if !r.mainThreads[t.thread] || !r.processes[t.thread[0]] || t.end < born {
			continue
		}
		long := LongTask{Start: since(t.start), Duration: time.Duration(t.end-t.start) * time.Microsecond}
		var most int64
		for _, script := range r.scripts {
			if script.thread == t.thread && script.start >= t.start && script.end <= t.end && script.end-script.start > most {
				most, long.What = script.end-script.start, script.text
			}
		}
		s.Blocking += long.Duration - longTask
		s.LongTasks = append(s.LongTasks, long)
	}
	slices.SortFunc(s.LongTasks, func(a, b LongTask) int { return cmp.Compare(b.Duration, a.Duration) })
}

func (r *traceReader) fetching(s *TraceSummary, start traceMoment, since func(int64) time.Duration) {
	for _, q := range r.requests {
		if q.url == "" || q.end == 0 || q.end < start.ts || strings.HasPrefix(q.url, "data:") { // a data: URL is no request
			continue
		}
		s.Received += q.size
		s.Requests = append(s.Requests, TraceRequest{URL: q.url, MIMEType: q.mime, Size: q.size, Start: since(q.start), Duration: time.Duration(q.end-q.start) * time.Microsecond})
	}
	slices.SortFunc(s.Requests, func(a, b TraceRequest) int { return cmp.Or(cmp.Compare(b.Size, a.Size), cmp.Compare(a.URL, b.URL)) })
}
