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

	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/profiling"
	"browser-coordinator/internal/pagetest"
)

func TestMain(m *testing.M) { os.Exit(pagetest.Main(m)) }

// slowPage shifts its layout, has two long tasks and loads a large resource. It measures
// itself by the definitions of the Web Vitals.
const slowPage = `<!doctype html><title>slow</title><style>body{margin:0}</style>
<script>window.seen = {cls: 0, lcp: 0, inp: 0, long: []};
const watch = (type, f) => new PerformanceObserver((l) => l.getEntries().forEach(f)).observe({` +
	` type, buffered: true, durationThreshold: 16 });
watch("layout-shift", (e) => { if (!e.hadRecentInput) seen.cls += e.value });
watch("largest-contentful-paint", (e) => { seen.lcp = e.startTime });
watch("longtask", (e) => { seen.long.push(e.duration) });
watch("event", (e) => { if (e.interactionId) seen.inp = Math.max(seen.inp, e.duration) });
function burn(ms) {
  let n = 0;
  for (const end = performance.now() + ms; performance.now() < end;) for (let i = 0; i < 1e5; i++) n += Math.sqrt(i);
  return n }
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
	p, _ := pagetest.ServeIn(t, b, slowSite())
	if err := p.Profiler().StartTrace(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.Profiler().StartTrace(t.Context()); !errors.Is(err, profiling.ErrRecording) {
		t.Errorf("a second trace: %v", err)
	}
	if _, err := p.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	pagetest.Evaluate(t, p, `new Promise((done) => {
  const look = () => document.title === "ready" ? requestAnimationFrame(done) : setTimeout(look, 10);
  look() }).then(() => 1)`)
	pagetest.Act(t, p, p.Input().Click("button", input.ClickOptions{}))
	var seen struct {
		CLS, LCP, INP float64
		Long          []float64
	}
	// Event timings arrive with the frame after the action.
	measured := pagetest.Evaluate(t, p, `new Promise((done) => {
  const look = () => seen.inp && seen.long.length > 1 ? done(seen) : setTimeout(look, 10); look() })`)
	if err := json.Unmarshal([]byte(measured), &seen); err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	trace, err := b.Recordings().StopTrace(t.Context(), &file)
	if err != nil || trace.Incomplete || trace.Page != p.ID() || trace.Unread != nil {
		t.Fatalf("%+v, %v", trace, err)
	}
	if !json.Valid(file.Bytes()) || !strings.Contains(file.String(), `"LayoutShift"`) {
		t.Errorf("a file of %d bytes", file.Len())
	}
	v := trace.Vitals
	if v.FCP <= 0 || v.Load <= 0 {
		t.Errorf("%+v", v)
	}
	if seen.CLS < 0.1 || math.Abs(v.CLS-seen.CLS) > 0.001 || v.Shifts < 1 {
		t.Errorf("CLS %v, the page measured %v", v.CLS, seen.CLS)
	}
	if seen.LCP <= 0 || v.LCP != seen.LCP || v.Largest != "H1 (text)" {
		t.Errorf("LCP %v %s, the page measured %v ms", v.LCP, v.Largest, seen.LCP)
	}
	if seen.INP < 100 || v.INP != seen.INP || v.Interactions != 1 {
		t.Errorf("INP %v of %d interactions, the page measured %v ms", v.INP, v.Interactions, seen.INP)
	}
	if len(v.Tasks) != len(seen.Long) || !slices.ContainsFunc(v.Tasks,
		func(l profiling.LongTask) bool { return l.Duration >= 149 }) {
		t.Errorf("long tasks %+v, the page measured %v", v.Tasks, seen.Long)
	}
	if _, err := b.Recordings().StopTrace(t.Context(), io.Discard); !errors.Is(err, profiling.ErrNotRecording) {
		t.Errorf("stopped twice: %v", err)
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
	if _, err := watched.Recordings().StopTrace(t.Context(), io.Discard); err != nil {
		t.Fatal(err)
	}
}

func TestHeapSnapshot(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<script>class Crate {
  constructor() { this.things = Array.from({length: 20000}, (_, i) => ({ i })) } }; crate = new Crate()</script>`)
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
	if _, err := p.Profiler().HeapSnapshot(t.Context(), failing); err == nil ||
		!strings.Contains(err.Error(), "disk full") {
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

// A recording counts what runs during it, also if an earlier one has reported the same functions, and the
// size of a file is that of all of it.
func TestCoverageAgainWithoutReload(t *testing.T) {
	t.Parallel()
	const script = "function one() { return 1 }\nfunction two() { return 2 }\n"
	b := pagetest.Connect(t)
	p, url := pagetest.ServeIn(t, b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			fmt.Fprint(w, `<!doctype html><script src="/app.js"></script>`)
			return
		}
		w.Header().Set("Content-Type", "text/javascript")
		io.WriteString(w, script)
	}))
	for round := range 3 {
		if err := p.Profiler().StartCoverage(t.Context()); err != nil {
			t.Fatal(err)
		}
		pagetest.Evaluate(t, p, "one()")
		covered, err := b.Recordings().StopCoverage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(covered, func(c profiling.Covered) bool { return c.URL == url+"/app.js" })
		if i < 0 || covered[i].Used != len("function one() { return 1 }") || covered[i].Total != len(script) {
			t.Errorf("round %d: %+v", round, covered)
		}
	}
}
