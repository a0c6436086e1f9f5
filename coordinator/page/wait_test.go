package page

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestWaitFor(t *testing.T) {
	p, url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/slow":
			time.Sleep(200 * time.Millisecond)
		case "/never":
			<-r.Context().Done()
		case "/stream": // stays open for good
			w.Header().Set("Content-Type", "text/event-stream")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		default:
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, `<!doctype html><title>%s</title><div id=host></div><iframe srcdoc="<p id=p>frame</p>"></iframe><script>window.ready = 0</script>`, r.URL.Path)
		}
	}))
	ctx := t.Context()
	for _, test := range []struct {
		name, begin string
		wait        WaitOptions
	}{
		{"text in a shadow root", `setTimeout(() => host.attachShadow({mode: 'open'}).innerHTML = '<b>in the shadow</b>', 150)`, WaitOptions{Text: "in the shadow"}},
		{"a change in the shadow root", `setTimeout(() => host.shadowRoot.firstChild.textContent = 'gone', 150)`, WaitOptions{Gone: "in the shadow"}},
		{"text in a frame", `setTimeout(() => frames[0].p.textContent = 'framed words', 150)`, WaitOptions{Text: "framed words"}},
		{"an expression", `setTimeout(() => ready = 1, 150)`, WaitOptions{Expression: "ready"}},
		{"a function that throws at first", `setTimeout(() => late = {x: 1}, 150)`, WaitOptions{Expression: "async () => late.x === 1"}},
		{"an expression across a navigation", `setTimeout(() => location.href = '/next', 50)`, WaitOptions{Expression: "document.title === '/next'", URL: "/next"}},
		{"a URL within the document", `setTimeout(() => history.pushState(0, '', '/pushed'), 100)`, WaitOptions{URL: "/pushed"}},
		{"an idle network", `done = 0; new EventSource('/stream'); fetch('/slow').then(() => fetch('/slow')).then(() => done = 1)`, WaitOptions{Idle: true}},
	} {
		eval(t, p, test.begin+"; 1")
		test.wait.Timeout = 5 * time.Second
		if _, err := p.WaitFor(ctx, test.wait); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	if got := eval(t, p, "done"); got != "1" {
		t.Error("the network was called idle while requests were under way")
	}
	var late *TimeoutError
	for _, test := range []struct {
		wait WaitOptions
		says string
	}{
		{WaitOptions{Text: "never"}, `waiting for the text "never"`},
		{WaitOptions{Expression: "false", Idle: true}, `waiting for the expression "false" and an idle network`},
	} {
		test.wait.Timeout = 300 * time.Millisecond
		if _, err := p.WaitFor(ctx, test.wait); !errors.As(err, &late) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%v", err)
		}
	}
	eval(t, p, "fetch('/never'); 1")
	says := "an idle network; a request is not done: " + url + "/never"
	if _, err := p.WaitFor(ctx, WaitOptions{Idle: true, Timeout: 300 * time.Millisecond}); !errors.As(err, &late) || !strings.HasSuffix(err.Error(), says) {
		t.Errorf("%v", err)
	}
	_, err := p.WaitFor(ctx, WaitOptions{Expression: "nobody.knows", Timeout: 10 * time.Second})
	if err == nil || !strings.Contains(err.Error(), "nobody is not defined") {
		t.Errorf("an expression that throws: %v", err)
	}
	if _, err := p.WaitFor(ctx, WaitOptions{}); err == nil {
		t.Error("waiting for nothing is no error")
	}
}
