package snapshot_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/coordinator/page/snapshot"
	"browser-coordinator/internal/longtest"
	"browser-coordinator/internal/pagetest"
)

// The pages of these tests: each has rows 0 to 59, which come only when the list is scrolled.
// Row n has a text that nothing else has, and a button.
const rowScript = `<!doctype html><style>body { margin: 0 }
.row { height: 40px; box-sizing: border-box } .bone { height: 12px; width: 60%; background: #ddd }</style>
<script>const label = (n) => "Order-" + n + "-",
  content = (n) => label(n) + ' <button onclick="document.title=' + n + '">Open</button>', total = 60</script>`

// virtualRows draws the rows in sight as placeholders, and requests those of each ten.
const virtualRows = `<h1>Orders</h1>
<div id=list style="height:200px;overflow-y:auto"><div id=inner style="position:relative"></div></div><script>
inner.style.height = total * 40 + "px"
const known = new Map, asked = new Set
const draw = () => {
  const first = Math.floor(list.scrollTop / 40), visible = []
  for (let n = first; n < Math.min(first + 6, total); n++) {
    const tens = Math.floor(n / 10)
    if (!asked.has(tens)) { asked.add(tens); load(tens) }
    visible.push('<div class=row ' + (known.get(tens) ? "" : "PLACE") +
      ' style="position:absolute;width:100%;top:' + n * 40 + 'px">' +
      (known.get(tens) ? content(n) : BONE) + '</div>')
  }
  inner.innerHTML = visible.join("")
}
const load = async (tens) => { LOAD; known.set(tens, true); draw() }
list.onscroll = () => requestAnimationFrame(draw)
draw()
</script>`

func virtual(place, bone, load string) string {
	return rowScript + strings.NewReplacer("PLACE", place, "BONE", bone, "LOAD", load).Replace(virtualRows)
}

const (
	byRequest = `await (await fetch("/rows?" + tens)).text()`
	byTimer   = `await new Promise((done) => setTimeout(done, 900))`
	bone      = `"<div class=bone></div>"`
)

// feed loads ten rows each time its end is in sight.
func feed(load string) string {
	return rowScript + `<h1>Feed</h1><div id=feed></div><p id=end>&nbsp;</p><script>
let n = 0, busy = false
const more = async () => {
  if (busy || n >= total) return
  busy = true
  ` + load + `
  for (const stop = n + 10; n < stop; n++)
    feed.insertAdjacentHTML("beforeend", '<div class=row style="height:120px">' + content(n) + '</div>')
  busy = false
  observer.unobserve(end); observer.observe(end)
}
const observer = new IntersectionObserver(([e]) => e.isIntersecting && more())
observer.observe(end)
</script>`
}

// scrollServer responds to /rows late, and to each tens with another delay.
func scrollServer(pages map[string]string) http.Handler {
	delays := []time.Duration{700, 300, 2000, 500, 1200, 900}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/rows" {
			tens, _ := strconv.Atoi(r.URL.RawQuery)
			select {
			case <-time.After(delays[tens%len(delays)] * time.Millisecond):
			case <-r.Context().Done():
			}
			return
		}
		fmt.Fprint(w, pages[r.URL.Path])
	})
}

// A search that scrolls finds rows however late they come: it leaves no part of a list before
// its rows have arrived.
func TestFindScrollingWaitsForRows(t *testing.T) {
	t.Parallel()
	chunks := rowScript + `<div id=list style="height:200px;overflow-y:auto"></div><script>
let n = 0
const timer = setInterval(() => {
  for (const stop = n + 6; n < stop; n++)
    list.insertAdjacentHTML("beforeend", "<div class=row>" + content(n) + "</div>");
  if (n >= total) clearInterval(timer) }, 600)
</script>`
	pages := map[string]string{
		"/requests": virtual("", `"Loading"`, byRequest),
		"/bones":    virtual("", bone, byRequest),
		"/timer":    virtual("", bone, byTimer),
		"/busy":     virtual("aria-busy=true", `"Loading"`, byTimer),
		"/late":     virtual("", `"Loading"`, `await new Promise((done) => setTimeout(done, 250))`),
		"/feed":     feed(`await (await fetch("/rows?" + n / 10)).text()`),
		"/slowfeed": feed(`await new Promise((done) => setTimeout(done, 1000))`),
		"/chunks":   chunks,
	}
	for name, html := range map[string]string{"frame": "/bones", "framedFeed": "/feed"} {
		pages["/"+name] = `<!doctype html><h1>Outer</h1><div style="height:1500px"></div><iframe src="` + html +
			`" style="width:600px;height:400px"></iframe>`
	}
	all := slices.Collect(maps.Keys(pages))
	for _, path := range longtest.Form(t, []string{"/requests", "/bones", "/feed", "/frame"}, all) {
		t.Run(path[1:], func(t *testing.T) {
			t.Parallel()
			p, url := pagetest.Serve(t, scrollServer(pages))
			for _, n := range longtest.Form(t, []int{57}, []int{57, 33, 4}) {
				pagetest.Navigate(t, p, url+path)
				found, scrolled, err := p.Reader().FindScrolling(t.Context(),
					snapshot.FindOptions{Text: fmt.Sprintf("order-%d-", n)})
				if err != nil || found.Matches != 1 {
					t.Fatalf("row %d: %+v %+v, %v\n%s", n, found, scrolled, err, pagetest.Snapshot(t, p))
				}
				pagetest.Act(t, p, p.Input().Click(pagetest.Ref(t, found.Text, fmt.Sprintf("Order-%d-", n)), input.ClickOptions{}))
				opened := fmt.Sprintf("(frames.length ? frames[0].document : document).title === '%d'", n)
				pagetest.WaitFor(t, p, page.WaitOptions{Expression: opened, Timeout: 5 * time.Second})
			}
		})
	}
}

// A search without a match comes to the end, or reports how far it came in its time.
func TestFindScrollingWithoutMatch(t *testing.T) {
	t.Parallel()
	endless := rowScript + `<div id=list></div><script>
let n = 0
const fill = () => {
  while (list.offsetHeight < scrollY + 2 * innerHeight)
    list.insertAdjacentHTML("beforeend", "<div class=row>" + content(n++) + "</div>") }
onscroll = fill; fill()
</script><div style="height:100px;overflow-y:auto"><p style="margin:100px 0">Side</p></div>`
	pages := map[string]string{"/feed": feed(`await (await fetch("/rows?" + n / 10)).text()`), "/endless": endless}
	p, url := pagetest.Serve(t, scrollServer(pages))
	pagetest.Navigate(t, p, url+"/endless")
	found, scrolled, err := p.Reader().FindScrolling(t.Context(),
		snapshot.FindOptions{Text: "nowhere", Limit: longtest.Form(t, 6*time.Second, 0)})
	if err != nil || found.Matches != 0 || scrolled.All || scrolled.Lists != 2 || scrolled.Height == 0 {
		t.Errorf("%+v %+v, %v", found, scrolled, err)
	}
	longtest.Require(t) // from here on
	pagetest.Navigate(t, p, url+"/feed")
	found, scrolled, err = p.Reader().FindScrolling(t.Context(), snapshot.FindOptions{Text: "order-60-"})
	if err != nil || found.Matches != 0 || !scrolled.All || !scrolled.Repeated || scrolled.Unloaded != 0 {
		t.Errorf("%+v %+v, %v", found, scrolled, err)
	}
	pagetest.Expect(t, p, "n", "60")
}

// What was found is described as it is at the end, when the list has redrawn it.
func TestFindScrollingDescribesTheEnd(t *testing.T) {
	t.Parallel()
	// A moment after each scroll, the list loads again what is in sight.
	html := rowScript + `<h1>Orders</h1>
<div id=list style="height:200px;overflow-y:auto"><div id=inner style="position:relative"></div></div><script>
inner.style.height = total * 40 + "px"
let timer, version = 0
const draw = (loaded) => {
  const first = Math.floor(list.scrollTop / 40)
  inner.innerHTML = Array.from({ length: Math.min(6, total - first) }, (_, i) =>
    '<div class=row style="position:absolute;width:100%;top:' + (first + i) * 40 + 'px">' +
    (loaded ? content(first + i) : "<div class=bone></div>") + "</div>").join("")
}
list.onscroll = () => {
  draw(true); clearTimeout(timer); timer = setTimeout(() => { draw(false); setTimeout(draw, 300, true) }, 60) }
draw(true)
const add = () => { draw(true); document.body.insertAdjacentHTML("beforeend", "<button>Below</button>") }
</script>`
	p, _ := pagetest.Open(t, html)
	pagetest.Snapshot(t, p)
	pagetest.Evaluate(t, p, "add(), 1")
	found, scrolled, err := p.Reader().FindScrolling(t.Context(), snapshot.FindOptions{Text: "order-33-"})
	if err != nil || found.Matches != 1 || scrolled.Vanished {
		t.Fatalf("%+v %+v, %v", found, scrolled, err)
	}
	for _, part := range []string{found.Text, scrolled.Changes.Text} {
		for line := range strings.Lines(part) {
			if _, ref, ok := strings.Cut(line, "[ref="); ok && !strings.HasPrefix(line, "-") {
				ref, _, _ = strings.Cut(ref, "]")
				pagetest.Act(t, p, p.Input().Hover(ref, input.HoverOptions{}))
			}
		}
	}
	pagetest.Contains(t, scrolled.Changes.Text, `"Below"`)
}
