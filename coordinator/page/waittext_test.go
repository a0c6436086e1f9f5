package page

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Texts in frames of other sites, of this site within those, and in hidden ones.
func TestWaitForTextInFrames(t *testing.T) {
	p, url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, port, _ := strings.Cut(r.Host, ":")
		switch r.URL.Path {
		case "/":
			fmt.Fprintf(w, `<h1>outer</h1><p style="height:20px"></p><iframe id=f src="http://localhost:%s/middle"></iframe><iframe style="display:none" src="http://localhost:%[1]s/hidden"></iframe>
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
	short := 400 * time.Millisecond
	var late *TimeoutError
	for _, text := range []string{"outer", "middle text", "inner text", "near text"} {
		if _, err := p.WaitFor(t.Context(), WaitOptions{Text: text, Timeout: 5 * time.Second}); err != nil {
			t.Errorf("%q is there: %v", text, err)
		}
		if _, err := p.WaitFor(t.Context(), WaitOptions{Gone: text, Timeout: short}); !errors.As(err, &late) {
			t.Errorf("%q is not gone: %v", text, err)
		}
	}
	for _, text := range []string{"hidden text", "hidden too"} {
		if _, err := p.WaitFor(t.Context(), WaitOptions{Text: text, Timeout: short}); !errors.As(err, &late) {
			t.Errorf("%q is in a hidden frame: %v", text, err)
		}
	}
	// The text changes during the wait, three frames down.
	done := make(chan error, 1)
	go func() {
		_, err := p.WaitFor(t.Context(), WaitOptions{Text: "another", Gone: "inner text", Timeout: 5 * time.Second})
		done <- err
	}()
	eval(t, p, "setTimeout(() => f.contentWindow[0].postMessage('another', '*'), 100), 1")
	if err := <-done; err != nil {
		t.Error(err)
	}
	// A removed frame takes its text with it, and a new one adds its own.
	eval(t, p, "setTimeout(() => f.remove(), 100), 1")
	if _, err := p.WaitFor(t.Context(), WaitOptions{Gone: "another", Timeout: 5 * time.Second}); err != nil {
		t.Error(err)
	}
	eval(t, p, fmt.Sprintf("setTimeout(() => { const g = document.createElement('iframe'); g.src = '%s/middle'; document.body.append(g) }, 100), 1", strings.Replace(url, "127.0.0.1", "localhost", 1)))
	if _, err := p.WaitFor(t.Context(), WaitOptions{Text: "inner text", Timeout: 5 * time.Second}); err != nil {
		t.Error(err)
	}
	// The documents keep no waits.
	var left int
	if err := p.frames.Evaluate(t.Context(), "waits.size", &left); err != nil || left != 0 {
		t.Errorf("%d watches are left: %v", left, err)
	}
}

// A wait matches a text in the form of a snapshot.
func TestWaitForTextAsItReads(t *testing.T) {
	p, _ := open(t, `<!doctype html><p>Total: 5&nbsp;€</p><p>Daten&shy;schutz</p><button style="text-transform:uppercase">Buy now</button><p>two<br>lines</p>`)
	for _, text := range []string{"Total: 5 €", "Datenschutz", "Buy now", "BUY NOW", "two lines"} {
		if _, err := p.WaitFor(t.Context(), WaitOptions{Text: text, Timeout: 2 * time.Second}); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if _, err := p.WaitFor(t.Context(), WaitOptions{Gone: text, Timeout: 200 * time.Millisecond}); err == nil {
			t.Errorf("%q is gone", text)
		}
	}
}

// A wait also sees a text in the next document, even one of another site and process, if
// it began in the previous document.
func TestWaitForTextBehindANavigation(t *testing.T) {
	p, url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "here")
		if r.URL.Path == "/next" {
			fmt.Fprint(w, "<script>setTimeout(() => document.body.append(' arrived'), 100)</script>")
		}
	}))
	next := strings.Replace(url, "127.0.0.1", "localhost", 1) + "/next"
	for round := range 30 {
		if _, err := p.Navigate(t.Context(), url); err != nil {
			t.Fatal(err)
		}
		eval(t, p, fmt.Sprintf("setTimeout(() => location.href = %q, 50), 1", next))
		if _, err := p.WaitFor(t.Context(), WaitOptions{Text: "arrived", Timeout: 10 * time.Second}); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
	}
}
