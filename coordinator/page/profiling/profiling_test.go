package profiling_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/profiling"
	"browser-coordinator/internal/pagetest"
)

func TestMain(m *testing.M) { os.Exit(pagetest.Main(m)) }

// slowPage shifts its layout, has two long tasks and loads a large resource. It measures
// itself by the definitions of the Web Vitals.
const slowPage = `<!doctype html><title>slow</title><style>body{margin:0}</style>
<script>window.seen = {cls: 0, lcp: 0, inp: 0, long: []};
const watch = (type, f) => new PerformanceObserver((l) => l.getEntries().forEach(f)).observe({ type, buffered: true, durationThreshold: 16 });
watch("layout-shift", (e) => { if (!e.hadRecentInput) seen.cls += e.value });
watch("largest-contentful-paint", (e) => { seen.lcp = e.startTime });
watch("longtask", (e) => { seen.long.push(e.duration) });
watch("event", (e) => { if (e.interactionId) seen.inp = Math.max(seen.inp, e.duration) });
function burn(ms) { let n = 0; for (const end = performance.now() + ms; performance.now() < end;) for (let i = 0; i < 1e5; i++) n += Math.sqrt(i); return n }
</script>
<div id=ad></div><h1 style="font-size:60px">A heading that is the largest text here</h1>
<button onclick="burn(120)">Work</button>
<script src="/big.js"></script>
<script>setTimeout(() => { ad.style.height = "300px" }, 200);
setTimeout(function heavy() { burn(150); document.title = "ready" }, 300)</script>`

func slowSite() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			io.WriteString(w, slowPage)
		case "/big.js":
			w.Header().Set("Content-Type", "text/javascript")
			io.WriteString(w, "// "+strings.Repeat("large ", 50_000))
		}
	})
}

func TestTraceAgreesWithThePage(t *testing.T) {
	b := pagetest.Connect(t)
	p, url := pagetest.ServeIn(t, b, slowSite())
	if err := p.Profiler().StartTrace(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.Profiler().StartTrace(t.Context()); err == nil || !strings.Contains(err.Error(), "one trace at a time") {
		t.Errorf("a second trace: %v", err)
	}
	if _, err := p.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	pagetest.Evaluate(t, p, `new Promise((done) => { const look = () => document.title === "ready" ? requestAnimationFrame(done) : setTimeout(look, 10); look() }).then(() => 1)`)
	pagetest.Act(t, p, p.Input().Click("button", input.ClickOptions{}))
	var seen struct {
		CLS, LCP, INP float64
		Long          []float64
	}
	// Event timings arrive with the frame after the action.
	measured := pagetest.Evaluate(t, p, `new Promise((done) => { const look = () => seen.inp && seen.long.length > 1 ? done(seen) : setTimeout(look, 10); look() })`)
	if err := json.Unmarshal([]byte(measured), &seen); err != nil {
		t.Fatal(err)
	}
	var trace bytes.Buffer
	traced, lost, err := b.Recordings().StopTrace(t.Context(), &trace)
	if err != nil || lost || traced != p.ID() {
		t.Fatal(traced, lost, err)
	}
	s, err := profiling.SummarizeTrace(bytes.NewReader(trace.Bytes()), p.ID())
	if err != nil {
		t.Fatal(err)
	}
	if s.URL != url+"/" || s.FCP <= 0 || s.Load <= 0 || s.Length < 300*time.Millisecond {
		t.Errorf("%+v", s)
	}
	milliseconds := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	if seen.CLS < 0.1 || math.Abs(s.CLS-seen.CLS) > 0.001 || s.Shifts < 1 {
		t.Errorf("CLS %v, the page measured %v", s.CLS, seen.CLS)
	}
	if seen.LCP <= 0 || math.Abs(milliseconds(s.LCP)-seen.LCP) > 5 || s.LCPWhat != "H1 (text)" {
		t.Errorf("LCP %v %s, the page measured %v ms", s.LCP, s.LCPWhat, seen.LCP)
	}
	if seen.INP < 100 || math.Abs(milliseconds(s.INP)-seen.INP) > 9 { // the page gets multiples of 8
		t.Errorf("INP %v, the page measured %v ms", s.INP, seen.INP)
	}
	heavy := slices.IndexFunc(s.LongTasks, func(l profiling.LongTask) bool { return strings.HasPrefix(l.What, "heavy at "+url+"/:14") })
	if len(s.LongTasks) < 2 || heavy < 0 || milliseconds(s.LongTasks[heavy].Duration) < 149 {
		t.Errorf("long tasks %+v, the page measured %v", s.LongTasks, seen.Long)
	}
	if s.Blocking < 150*time.Millisecond {
		t.Errorf("blocking %v", s.Blocking)
	}
	if len(s.Requests) < 2 || s.Requests[0].URL != url+"/big.js" || s.Requests[0].Size < 300_000 {
		t.Errorf("requests %+v", s.Requests)
	}
	if _, _, err := b.Recordings().StopTrace(t.Context(), io.Discard); !errors.Is(err, profiling.ErrNotRecording) {
		t.Errorf("stopped twice: %v", err)
	}
}

// While the next document is pending, the previous one still shifts and works: none of
// that counts for the next one.
func TestTraceLeavesOutTheDocumentBefore(t *testing.T) {
	worked := make(chan struct{})
	b := pagetest.Connect(t)
	p, url := pagetest.ServeIn(t, b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			io.WriteString(w, `<!doctype html><div id=ad></div><h1>before</h1><script>
function work() { ad.style.height = "300px"
	requestAnimationFrame(() => setTimeout(() => { for (const end = performance.now() + 120; performance.now() < end;); fetch("/worked") })) }
</script>`)
		case "/worked":
			close(worked)
		case "/next":
			<-worked
			io.WriteString(w, "<!doctype html><title>next</title><h1>next</h1>")
		}
	}))
	if err := p.Profiler().StartTrace(t.Context()); err != nil {
		t.Fatal(err)
	}
	pagetest.Act(t, p, p.Input().Vision().Move(5, 5))
	pagetest.Evaluate(t, p, `(location.href = "/next", work(), 1)`)
	pagetest.WaitFor(t, p, page.WaitOptions{Text: "next"})
	var trace bytes.Buffer
	if _, _, err := b.Recordings().StopTrace(t.Context(), &trace); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(trace.String(), `"LayoutShift"`) {
		t.Error("the document before did not shift its layout")
	}
	s, err := profiling.SummarizeTrace(&trace, p.ID())
	if err != nil || s.URL != url+"/next" {
		t.Fatal(s.URL, err)
	}
	for _, l := range s.LongTasks {
		if strings.HasPrefix(l.What, url+"/:") || strings.Contains(l.What, "work") {
			t.Errorf("a long task of the document before: %+v", l)
		}
	}
	if s.CLS != 0 {
		t.Errorf("CLS %v of the document before", s.CLS)
	}
}

// A trace without a stop ends with its connection.
func TestTraceEndsWithTheConnection(t *testing.T) {
	watched := pagetest.Connect(t)
	watcher, _ := pagetest.ServeIn(t, watched, slowSite())
	agent := pagetest.Connect(t)
	p, err := agent.Page(t.Context(), watcher.ID())
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Profiler().StartTrace(t.Context()); err != nil {
		t.Fatal(err)
	}
	agent.Close()
	if err := watcher.Profiler().StartTrace(t.Context()); err != nil {
		t.Fatalf("after the agent has gone: %v", err)
	}
	var trace bytes.Buffer
	if _, _, err := watched.Recordings().StopTrace(t.Context(), &trace); err != nil {
		t.Fatal(err)
	}
	s, err := profiling.SummarizeTrace(&trace, watcher.ID())
	if err != nil || s.URL != "" || s.LCP != 0 {
		t.Errorf("a trace without a navigation: %+v %v", s, err)
	}
}

func TestTraceThatIsNone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "{}", "[]", `{"traceEvents":[{"name":`, `{"traceEvents":7}`} {
		if s, err := profiling.SummarizeTrace(strings.NewReader(text), "X"); err == nil && len(s.Requests) != 0 {
			t.Errorf("%q: %+v", text, s)
		}
	}
}

func TestHeapSnapshot(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<script>class Crate { constructor() { this.things = Array.from({length: 20000}, (_, i) => ({ i })) } }; crate = new Crate()</script>`)
	var heap bytes.Buffer
	used, err := p.Profiler().HeapSnapshot(t.Context(), &heap)
	if err != nil {
		t.Fatal(err)
	}
	var snapshot struct {
		Snapshot struct {
			Nodes int `json:"node_count"`
		}
		Strings []string
	}
	if err := json.Unmarshal(heap.Bytes(), &snapshot); err != nil {
		t.Fatalf("%d bytes: %v", heap.Len(), err)
	}
	if snapshot.Snapshot.Nodes < 20_000 || used < 100_000 {
		t.Errorf("%d nodes, %d bytes in use", snapshot.Snapshot.Nodes, used)
	}
	if !bytes.Contains(heap.Bytes(), []byte(`"Crate"`)) {
		t.Error("the page's class is not in it")
	}
	failing := &failingWriter{}
	if _, err := p.Profiler().HeapSnapshot(t.Context(), failing); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("a disk that is full: %v", err)
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestCPUProfile(t *testing.T) {
	t.Parallel()
	b := pagetest.Connect(t)
	p, url := pagetest.ServeIn(t, b, slowSite())
	if _, err := b.Recordings().StopCPUProfile(t.Context()); !errors.Is(err, profiling.ErrNotRecording) {
		t.Errorf("not started: %v", err)
	}
	if err := p.Profiler().StartCPUProfile(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.Profiler().StartCPUProfile(t.Context()); !errors.Is(err, profiling.ErrRecording) {
		t.Errorf("a second one: %v", err)
	}
	pagetest.Evaluate(t, p, "burn(300)")
	profile, err := b.Recordings().StopCPUProfile(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(profile.Top) == 0 || profile.Top[0].Name != "burn at "+url+"/:8" {
		t.Fatalf("%+v", profile.Top)
	}
	if self := profile.Top[0].Self; self < 200*time.Millisecond || self > profile.Length {
		t.Errorf("burn took %v of %v", self, profile.Length)
	}
	var file struct{ Nodes, Samples []any }
	if err := json.Unmarshal(profile.JSON, &file); err != nil || len(file.Nodes) == 0 || len(file.Samples) == 0 {
		t.Errorf("the file: %v", err)
	}
	if err := p.Profiler().StartCPUProfile(t.Context()); err != nil {
		t.Errorf("again: %v", err)
	}
}

func TestCoverage(t *testing.T) {
	t.Parallel()
	const script = "function used() { return 1 }\nfunction unused() { return 2 }\nused();\n"
	const sheet = ".a { color: red }\n.nobody { color: blue }\n"
	b := pagetest.Connect(t)
	p, url := pagetest.ServeIn(t, b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			fmt.Fprint(w, `<!doctype html><link rel=stylesheet href="/site.css"><p class=a>text<script src="/app.js"></script>`)
		case "/app.js":
			w.Header().Set("Content-Type", "text/javascript")
			io.WriteString(w, script)
		case "/site.css":
			w.Header().Set("Content-Type", "text/css")
			io.WriteString(w, sheet)
		}
	}))
	if err := p.Profiler().StartCoverage(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	covered, err := b.Recordings().StopCoverage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(covered) != 2 {
		t.Fatalf("%+v", covered)
	}
	for _, c := range covered {
		text, unused := script, "function unused() { return 2 }"
		if c.Kind == "CSS" {
			text, unused = sheet, ".nobody { color: blue }"
		}
		if c.Text != text || c.Total != len(text) || !strings.HasPrefix(c.URL, url) {
			t.Errorf("%+v", c)
		}
		left := []byte(text)
		for _, r := range c.Ranges {
			for i := r.Start; i < r.End; i++ {
				left[i] = ' '
			}
		}
		if got := strings.TrimSpace(string(left)); got != unused {
			t.Errorf("%s: unused is %q", c.Kind, got)
		}
	}
	if _, err := b.Recordings().StopCoverage(t.Context()); !errors.Is(err, profiling.ErrNotRecording) {
		t.Errorf("stopped twice: %v", err)
	}
}
