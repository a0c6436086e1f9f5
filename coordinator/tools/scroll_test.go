package tools_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"browser-coordinator/internal/longtest"
	"browser-coordinator/internal/toolstest"
	"browser-coordinator/vscodeipc"
)

// scrollPage has a list of 150 rows that draws only those in sight.
const scrollPage = `<!doctype html><h1>Orders</h1>
<div id=list style="height:300px;overflow-y:auto"><div style="height:4500px;position:relative"></div></div><script>
const list = document.querySelector("#list"), rows = list.firstChild
list.onscroll = () => requestAnimationFrame(() => {
  const first = Math.floor(list.scrollTop / 30)
  rows.innerHTML = Array.from({ length: 12 }, (_, i) => first + i).filter((i) => i < 150).map((i) =>
    '<div style="position:absolute;top:' + i * 30 + 'px">Row ' + i + ' <button>Open</button></div>').join("")
})
list.onscroll()
</script>`

// twoLists has a shorter list beside the one of scrollPage, which the page fills at a scroll.
const twoLists = scrollPage + `<div id=notes style="height:200px;overflow-y:auto"></div><script>
const fill = () => {
  for (let i = 0; i < 20 && notes.children.length < 200; i++)
    notes.insertAdjacentHTML("beforeend", "<p>Note " + notes.children.length)
}
fill()
notes.onscroll = () => notes.scrollTop + 300 > notes.scrollHeight && fill()
</script>`

// slowPage draws its rows a moment after it has been scrolled.
var slowPage = strings.Replace(strings.Replace(scrollPage, "requestAnimationFrame(() => {", "setTimeout(() => {", 1),
	"\n})\nlist", "\n}, 50)\nlist", 1)

// feedPage loads ten posts each time its end is in sight, 40 in all.
const feedPage = `<!doctype html><h1>Feed</h1><div id=feed></div><p id=more>More</p><script>
let n = 0
new IntersectionObserver(async ([e], observer) => {
  if (!e.isIntersecting || n >= 40) return
  await (await fetch("/next")).text()
  for (const end = n + 10; n < end; n++)
    feed.insertAdjacentHTML("beforeend", '<article style="height:200px">Post ' + n + '</article>')
  observer.unobserve(more); observer.observe(more)
}).observe(more)
</script>`

// A search finds what a list draws and a feed loads only when it is scrolled, from
// wherever it is, and reports that there is no more.
func TestFindScrolling(t *testing.T) {
	t.Parallel()
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, map[string]string{"/list": scrollPage, "/two": twoLists, "/slow": slowPage,
			"/feed": feedPage}[r.URL.Path])
	})
	w := toolstest.OpenWindow(t)
	agent := w.Agent()
	agent.Open(url + "/list")
	agent.Expect("browser_find", args{"text": "Row 77 "}, "Nothing in the page matches")
	agent.Expect("browser_find", args{"text": `heading "Row 77"`},
		`looks like a target: search for its name alone, Row 77.`)
	const unscrolled = "Found without scrolling:"
	agent.Expect("browser_find", args{"text": "Row 3 ", "scroll": true}, unscrolled)
	if text := agent.Must("browser_find", args{"text": "Row 50 ", "scroll": true}); strings.Contains(text, unscrolled) {
		t.Errorf("the list was scrolled: %s", text)
	}
	for _, row := range longtest.Form(t, []string{"Row 148 "}, []string{"Row 77 ", "Row 148 ", "Row 3 "}) {
		text := agent.Expect("browser_find", args{"text": row, "scroll": true}, row, "[ref=")
		after := agent.Must("browser_click", args{"target": toolstest.Ref(t, text[strings.Index(text, row):], "button",
			"Open")})
		if strings.Contains(after, "Row ") {
			t.Errorf("the click's answer has what the search has scrolled to: %s", after)
		}
	}
	if !testing.Short() { // a search without a match takes the longest
		agent.Expect("browser_find", args{"text": "Row 151 ", "scroll": true}, "scrolling to the end")
	}
	agent.Open(url + "/two")
	agent.Expect("browser_find", args{"text": "Note 190", "scroll": true}, "Note 190")
	agent.Expect("browser_find", args{"text": "Row 77 ", "scroll": true}, "Row 77 ")
	agent.Open(url + "/slow")
	agent.Expect("browser_find", args{"text": "Row 77 ", "scroll": true}, "Row 77 ", "[ref=")
	agent.Open(url + "/feed")
	agent.Expect("browser_find", args{"text": "Post 39", "scroll": true}, "Post 39")
	if !testing.Short() {
		agent.Expect("browser_find", args{"text": "Post 40", "scroll": true}, "scrolling to the end")
	}

	w.Allow(vscodeipc.AccessView) // a page that scrolls is not only viewed
	agent.Await("[access: view]")
	agent.Must("browser_find", args{"text": "Post 39"})
	agent.Refused("browser_find", args{"text": "Post 0", "scroll": true}, `"view"`)
}
