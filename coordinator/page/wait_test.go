package page_test

import (
	"browser-coordinator/coordinator/page"
	"browser-coordinator/internal/must"
	"browser-coordinator/internal/pagetest"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestWaitFor(t *testing.T) {
	t.Parallel()
	p, url := pagetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/slow":
			time.Sleep(200 * time.Millisecond)
		case "/never":
			<-r.Context().Done()
		case "/stream": // stays open forever
			w.Header().Set("Content-Type", "text/event-stream")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		default:
			fmt.Fprintf(w, `<!doctype html><title>%s</title>
<div id=host></div><iframe srcdoc="<p id=p>frame</p>"></iframe><script>window.ready = 0</script>`, r.URL.Path)
		}
	}))
	ctx := t.Context()
	for _, test := range []struct {
		name, begin string
		wait        page.WaitOptions
	}{
		{"text in a shadow root",
			`setTimeout(() => host.attachShadow({mode: 'open'}).innerHTML = '<b>in the shadow</b>', 150)`,
			page.WaitOptions{Text: "in the shadow"}},
		{"a change in the shadow root",
			`setTimeout(() => host.shadowRoot.firstChild.textContent = 'gone', 150)`,
			page.WaitOptions{Gone: "in the shadow"}},
		{"text in a frame", `setTimeout(() => frames[0].p.textContent = 'framed words', 150)`,
			page.WaitOptions{Text: "framed words"}},
		{"an expression", `setTimeout(() => ready = 1, 150)`, page.WaitOptions{Expression: "ready"}},
		{"a function that throws at first", `setTimeout(() => late = {x: 1}, 150)`,
			page.WaitOptions{Expression: "async () => late.x === 1"}},
		{"an expression across a navigation", `setTimeout(() => location.href = '/next', 50)`,
			page.WaitOptions{Expression: "document.title === '/next'", URL: "/next"}},
		{"a text and the end of another, across a navigation",
			`p0 = document.body.append('Loading'), setTimeout(() => location.href = '/second', 50)`,
			page.WaitOptions{URL: "/second", Text: "frame", Gone: "Loading"}},
		{"a URL within the document", `setTimeout(() => history.pushState(0, '', '/pushed'), 100)`,
			page.WaitOptions{URL: "/pushed"}},
		{"an idle network",
			`done = 0; new EventSource('/stream'); fetch('/slow').then(() => fetch('/slow')).then(() => done = 1)`,
			page.WaitOptions{Idle: true}},
	} {
		pagetest.Evaluate(t, p, test.begin+"; 1")
		test.wait.Timeout = 5 * time.Second
		if _, err := p.WaitFor(ctx, test.wait); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	if got := pagetest.Evaluate(t, p, "done"); got != "1" {
		t.Error("the network was called idle while requests were under way")
	}
	var timeout *page.TimeoutError
	for _, test := range []struct {
		wait page.WaitOptions
		want string
	}{
		{page.WaitOptions{Text: "never"}, `waiting for the text "never"`},
		{page.WaitOptions{Expression: "false", Idle: true}, `waiting for the expression "false" and an idle network`},
	} {
		test.wait.Timeout = 300 * time.Millisecond
		if _, err := p.WaitFor(ctx, test.wait); !errors.As(err, &timeout) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v", err)
		}
	}
	pagetest.Evaluate(t, p, "fetch('/never'); 1")
	want := "an idle network; a request is not done: " + url + "/never"
	_, err := p.WaitFor(ctx, page.WaitOptions{Idle: true, Timeout: 300 * time.Millisecond})
	if !errors.As(err, &timeout) || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v", err)
	}
	_, err = p.WaitFor(ctx, page.WaitOptions{Expression: "nobody.knows", Timeout: 10 * time.Second})
	if err == nil || !strings.Contains(err.Error(), "nobody is not defined") {
		t.Errorf("an expression that throws: %v", err)
	}
	if _, err := p.WaitFor(ctx, page.WaitOptions{}); err == nil {
		t.Error("waiting for nothing is no error")
	}
}

// Texts in frames of other sites, of this site within those, and in hidden ones.
func TestWaitForTextInFrames(t *testing.T) {
	t.Parallel()
	p, url := pagetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, port, _ := strings.Cut(r.Host, ":")
		switch r.URL.Path {
		case "/":
			fmt.Fprintf(w, `<h1>outer</h1><p style="height:20px"></p><iframe id=f src="http://localhost:%s/middle"></iframe>
<iframe style="display:none" src="http://localhost:%[1]s/hidden"></iframe>
<iframe style="display:none" srcdoc="hidden too"></iframe><iframe src="/near"></iframe>`, port)
		case "/middle":
			fmt.Fprintf(w, `middle text<iframe src="http://127.0.0.1:%s/inner"></iframe>`, port)
		case "/inner":
			fmt.Fprint(w, `<p id=t>inner text</p><script>onmessage = (e) => { t.textContent = e.data }</script>`)
		case "/hidden":
			fmt.Fprint(w, "hidden text")
		case "/near":
			fmt.Fprint(w, "near text")
		}
	}))
	short := 1500 * time.Millisecond
	// On a busy machine the page may not answer for that long.
	futile := func(err error) bool {
		return errors.As(err, new(*page.TimeoutError)) || errors.As(err, new(*page.HungError))
	}
	for _, text := range []string{"outer", "middle text", "inner text", "near text"} {
		if _, err := p.WaitFor(t.Context(), page.WaitOptions{Text: text, Timeout: 30 * time.Second}); err != nil {
			t.Errorf("%q is there: %v", text, err)
		}
		if _, err := p.WaitFor(t.Context(), page.WaitOptions{Gone: text, Timeout: short}); !futile(err) {
			t.Errorf("%q is not gone: %v", text, err)
		}
	}
	for _, text := range []string{"hidden text", "hidden too"} {
		if _, err := p.WaitFor(t.Context(), page.WaitOptions{Text: text, Timeout: short}); !futile(err) {
			t.Errorf("%q is in a hidden frame: %v", text, err)
		}
	}
	// The text changes during the wait, three frames down.
	done := make(chan error, 1)
	go func() {
		_, err := p.WaitFor(t.Context(), page.WaitOptions{Text: "another", Gone: "inner text", Timeout: 30 * time.Second})
		done <- err
	}()
	pagetest.Evaluate(t, p, "setTimeout(() => f.contentWindow[0].postMessage('another', '*'), 100), 1")
	if err := <-done; err != nil {
		t.Error(err)
	}
	// A removed frame takes its text with it, and a new one adds its own.
	pagetest.Evaluate(t, p, "setTimeout(() => f.remove(), 100), 1")
	if _, err := p.WaitFor(t.Context(), page.WaitOptions{Gone: "another", Timeout: 30 * time.Second}); err != nil {
		t.Error(err)
	}
	pagetest.Evaluate(t, p, fmt.Sprintf("setTimeout(() => { const g = document.createElement('iframe'); "+
		"g.src = '%s/middle'; document.body.append(g) }, 100), 1", strings.Replace(url, "127.0.0.1", "localhost", 1)))
	if _, err := p.WaitFor(t.Context(), page.WaitOptions{Text: "inner text", Timeout: 30 * time.Second}); err != nil {
		t.Error(err)
	}
	// The documents keep no waits.
	var remaining int
	if err := p.Frames().Evaluate(t.Context(), "memory.waits.size", &remaining); err != nil || remaining != 0 {
		t.Errorf("%d watches are left: %v", remaining, err)
	}
}

// A wait matches a text in the form of a snapshot.
func TestWaitForTextAsItReads(t *testing.T) {
	t.Parallel()
	p, _ := pagetest.Open(t, `<!doctype html><p>Total: 5&nbsp;€</p>
<p>Daten&shy;schutz</p><button style="text-transform:uppercase">Buy now</button><p>two<br>lines</p>`)
	for _, text := range []string{"Total: 5 €", "Datenschutz", "Buy now", "BUY NOW", "two lines"} {
		if _, err := p.WaitFor(t.Context(), page.WaitOptions{Text: text, Timeout: 2 * time.Second}); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if _, err := p.WaitFor(t.Context(), page.WaitOptions{Gone: text, Timeout: 200 * time.Millisecond}); err == nil {
			t.Errorf("%q is gone", text)
		}
	}
}

// A wait also sees a text in the next document, even one of another site and process, if
// it began in the previous document.
func TestWaitForTextBehindANavigation(t *testing.T) {
	t.Parallel()
	p, url := pagetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "here")
		if r.URL.Path == "/next" {
			fmt.Fprint(w, "<script>setTimeout(() => document.body.append(' arrived'), 100)</script>")
		}
	}))
	next := strings.Replace(url, "127.0.0.1", "localhost", 1) + "/next"
	for round := range 10 {
		pagetest.Navigate(t, p, url)
		pagetest.Evaluate(t, p, fmt.Sprintf("setTimeout(() => location.href = %q, 50), 1", next))
		if _, err := p.WaitFor(t.Context(), page.WaitOptions{Text: "arrived", Timeout: 10 * time.Second}); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
	}
}

// A request that nobody waits for any more, that for the icon of an earlier document, does
// not keep the page from being idle.
func TestIdleAfterAnotherDocument(t *testing.T) {
	t.Parallel()
	questions := make(chan struct{}, 1)
	p, url := pagetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/icon":
			questions <- struct{}{}
			<-r.Context().Done()
		case "/":
			fmt.Fprint(w, `<!doctype html><link rel=icon href=/icon>First`)
		default:
			fmt.Fprint(w, `<!doctype html><link rel=icon href="data:,">Second`)
		}
	}))
	<-questions
	pagetest.Navigate(t, p, url+"/second")
	if _, err := p.WaitFor(t.Context(), page.WaitOptions{Idle: true, Timeout: 10 * time.Second}); err != nil {
		t.Error(err)
	}
}

// A wait reports that its condition was met when it began, and can wait for another occurrence
// of a text.
func TestWaitForWhatIsThereAlready(t *testing.T) {
	t.Parallel()
	p, url := pagetest.Open(t, `<!doctype html>
<p id=p>Saved at 9</p><p id=q>Saved at 10</p><iframe srcdoc="<p id=p>Framed</p>"></iframe>`)
	for _, test := range []struct {
		name, begin string
		wait        page.WaitOptions
		already     bool
	}{
		{"a text", "", page.WaitOptions{Text: "saved at"}, true},
		{"a text in a frame", "", page.WaitOptions{Text: "Framed", URL: "127.0.0.1"}, true},
		{"a text that is not there", "", page.WaitOptions{Gone: "Nowhere"}, true},
		{"an element", "", page.WaitOptions{Target: "#p", Text: "Saved"}, true},
		{"a URL", "", page.WaitOptions{URL: "127.0.0.1"}, true},
		{"a text that comes", "p.textContent = 'Come'", page.WaitOptions{Text: "Come"}, false},
		{"a text that goes", "p.textContent = 'Saved at 9'", page.WaitOptions{Gone: "Come"}, false},
		{"another occurrence", "document.body.append('Saved at 11')", page.WaitOptions{Text: "Saved at", New: true}, false},
		{"one that goes and comes again", "p.textContent = ''; setTimeout(() => p.textContent = 'Saved at 12', 200)",
			page.WaitOptions{Text: "Saved at", New: true}, false},
		{"one in a frame", "frames[0].p.textContent = 'Saved at 13'", page.WaitOptions{Text: "Saved at", New: true}, false},
		{"one in the next document", "location.href = '/next'", page.WaitOptions{Text: "Saved at", New: true}, false},
	} {
		test.wait.Timeout = 10 * time.Second
		waited := make(chan struct{})
		go func() {
			defer close(waited)
			change, err := p.WaitFor(t.Context(), test.wait)
			if err != nil || change.Immediate != test.already {
				t.Errorf("%s: already %t, %v", test.name, change.Immediate, err)
			}
		}()
		if !test.already {
			must.Await(t, "the page watches", func() bool {
				var waits int
				return p.Frames().Evaluate(t.Context(), "memory.waits.size", &waits) == nil && waits > 0
			})
			pagetest.Evaluate(t, p, test.begin+"; 1")
		}
		<-waited
	}
	// When these waits have begun cannot be seen: on a busy machine they may be late.
	pagetest.Evaluate(t, p, "setTimeout(() => { p.id = 'r'; location.hash = 'later' }, 200); 1")
	for _, wait := range []page.WaitOptions{{Target: "#r"}, {URL: "#later"}} {
		wait.Timeout = 10 * time.Second
		if _, err := p.WaitFor(t.Context(), wait); err != nil {
			t.Errorf("%+v: %v", wait, err)
		}
	}
	pagetest.Navigate(t, p, url)
	var timeout *page.TimeoutError
	_, err := p.WaitFor(t.Context(), page.WaitOptions{Text: "Saved at", New: true, Timeout: 3 * time.Second})
	if !errors.As(err, &timeout) || !strings.Contains(err.Error(), `another occurrence of the text "Saved at"`) {
		t.Errorf("no other occurrence: %v", err)
	}
	if _, err := p.WaitFor(t.Context(), page.WaitOptions{URL: "127", New: true}); err == nil {
		t.Error("another occurrence of nothing is no error")
	}
}
