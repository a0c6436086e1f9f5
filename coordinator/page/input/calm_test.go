package input_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/coordinator/page/input"
	"browser-coordinator/internal/pagetest"
)

// A target that is covered or disabled in a page that is still is refused early; the error
// says for how long the page has been still.
func TestNotReadyInAStillPage(t *testing.T) {
	t.Parallel()
	const over = `<div id=over style="position:fixed;inset:0;background:#fffa">Sale</div>`
	for _, test := range []struct{ name, page, want string }{
		{"disabled", `<button id=b disabled>Go</button>`, "it is disabled"},
		{"covered", `<button id=b>Go</button>` + over, `it is covered by <div id="over"> "Sale"`},
		{"covered, and the page changes when it scrolls",
			`<p style="height:3000px">Long</p><button id=b>Go</button><p style="height:3000px">Long</p>` + over +
				`<script>let n = 0; addEventListener("scroll", () => { document.body.className = "c" + n++ })</script>`, "covered"},
		{"a spinner elsewhere", `<style>@keyframes s { to { rotate: 360deg } } ` +
			`i { animation: s 1s linear infinite; display: block }</style>` +
			`<button id=b disabled>Go</button><div><i>o</i></div>`, "disabled"},
		{"a stream", `<button id=b disabled>Go</button>` +
			`<script>new EventSource("/stream"); fetch("/stream")</script>`, "disabled"},
		{"polls", `<button id=b disabled>Go</button><script>setInterval(() => fetch("/poll"), 300)</script>`, "disabled"},
		{"readonly", `<input id=b readonly aria-label=Name>`, "readonly"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, _ := pagetest.Serve(t, streams(test.page))
			act := p.Input().Click("#b", input.ClickOptions{})
			if test.name == "readonly" {
				act = p.Input().Type("#b", "x", input.TypeOptions{})
			}
			_, err := p.Act(t.Context(), act)
			unready, ok := errors.AsType[*input.NotReadyError](err)
			if !ok || unready.Calm == "" || !strings.Contains(err.Error(), test.want) ||
				!strings.Contains(err.Error(), "has been still for "+unready.Calm) {
				t.Errorf("%v", err)
			}
		})
	}
	t.Run("a long poll", func(t *testing.T) {
		p, _ := pagetest.Serve(t, streams(`<button id=b disabled>Go</button><script>fetch("/hold")</script>`))
		if _, err := p.WaitFor(t.Context(), page.WaitOptions{Expression: "performance.now() > 5500"}); err != nil {
			t.Fatal(err)
		}
		_, err := p.Act(t.Context(), p.Input().Click("#b", input.ClickOptions{}))
		if unready, ok := errors.AsType[*input.NotReadyError](err); !ok || unready.Calm == "" {
			t.Errorf("%v", err)
		}
	})
}

// A page that loads, changes, says that it is busy or animates what is in the way keeps the
// whole time: the target becomes ready after more than the time of a still page.
func TestNotReadyInAPageThatStirs(t *testing.T) {
	t.Parallel()
	const over = `<div id=over style="position:fixed;inset:0;background:#fff;`
	for name, html := range map[string]string{
		"a request": `<button id=b disabled>Go</button>` +
			`<script>fetch("/slow").then(() => { b.disabled = false })</script>`,
		"changes": `<button id=b disabled>Go</button><p id=n>3</p>` +
			`<script>setInterval(() => n.textContent += ".", 300); setTimeout(() => { b.disabled = false }, 2200)</script>`,
		"aria-busy": `<main aria-busy=true><button id=b disabled>Go</button></main>` +
			`<script>setTimeout(() => { b.disabled = false }, 2200)</script>`,
		"a transition": `<style>@keyframes out { to { visibility: hidden } }</style>` +
			`<button id=b>Go</button>` + over + `animation: out 2200ms forwards step-end"></div>`,
		"a spinner in what covers": `<style>@keyframes s { to { rotate: 360deg } } ` +
			`i { animation: s 1s linear infinite; display: block; width: 9px; height: 9px }</style>` +
			`<button id=b>Go</button>` + over + `"><i></i><p style="position:fixed;inset:0">Wait</p></div>` +
			`<script>setTimeout(() => over.remove(), 2200)</script>`,
		"a spinner in what is meant": `<style>@keyframes s { to { rotate: 360deg } } ` +
			`i { animation: s 1s linear infinite; display: block; width: 9px; height: 9px }</style>` +
			`<button id=b disabled>Go<i></i></button>` +
			`<script>setTimeout(() => { b.disabled = false }, 2200)</script>`,
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := pagetest.Serve(t, streams(html))
			if _, err := p.Act(t.Context(), p.Input().Click("#b", input.ClickOptions{})); err != nil {
				t.Error(err)
			}
		})
	}
}

// streams serves a page, and responses that come late or never end.
type streams string

func (html streams) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/stream":
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: 1\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	case "/hold":
		<-r.Context().Done()
	case "/slow":
		select {
		case <-time.After(2200 * time.Millisecond):
		case <-r.Context().Done():
		}
	case "/":
		io.WriteString(w, string(html))
	}
}
