package page

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"browser-coordinator/coordinator/page/frame"
)

func TestWaitFor(t *testing.T) {
	p, url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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

func TestWaitUploadDrag(t *testing.T) {
	p, url := open(t, `<!doctype html><style>#from,#to{width:80px;height:80px;border:1px solid}</style><p id=m>Loading</p>
<input type=file id=f hidden onchange="m.textContent=f.files[0].name"><div id=from draggable=true ondragstart="event.dataTransfer.setData('text','x')" ondragend="m.textContent+=', dragend'">from</div>
<div style="height:60px"></div><div id=to ondragover="event.preventDefault()" ondrop="event.preventDefault();m.textContent='dropped '+event.dataTransfer.getData('text')">to</div>`)
	eval(t, p, "setTimeout(() => m.textContent = 'Ready now', 100), 1")
	if _, err := p.WaitFor(t.Context(), WaitOptions{Text: "Ready", Gone: "Loading"}); err != nil {
		t.Error(err)
	}
	var late *TimeoutError
	if _, err := p.WaitFor(t.Context(), WaitOptions{Text: "never", Timeout: 200 * time.Millisecond}); !errors.As(err, &late) || !strings.Contains(err.Error(), `the text "never"`) {
		t.Errorf("a text that never comes: %v", err)
	}
	eval(t, p, "setTimeout(() => location.href = '/second', 100), 1")
	if c, err := p.WaitFor(t.Context(), WaitOptions{URL: "/second", Text: "Loading"}); err != nil || c.URL != url+"/second" || !c.Navigated {
		t.Errorf("across a navigation: %+v %v", c, err)
	}
	file := filepath.Join(t.TempDir(), "hello.txt")
	if err := os.WriteFile(file, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Act(t.Context(), p.Input().Upload("#f", file)); err != nil {
		t.Error(err)
	}
	if got := eval(t, p, "m.textContent"); got != `"hello.txt"` {
		t.Errorf("the page sees %s", got)
	}
	var target *frame.TargetError
	if _, err := p.Act(t.Context(), p.Input().Upload("#m", file)); !errors.As(err, &target) {
		t.Errorf("upload to a paragraph: %v", err)
	}
	if _, err := p.Act(t.Context(), p.Input().Drag("#from", "#to")); err != nil {
		t.Error(err)
	}
	if _, err := p.WaitFor(t.Context(), WaitOptions{Text: "dropped x, dragend", Timeout: 2 * time.Second}); err != nil {
		t.Error(err)
	}
	// A page that drags by its own mouse handlers.
	eval(t, p, `log = [], ['mousedown','mouseup'].forEach(n => document.addEventListener(n, e => log.push(n + ':' + e.target.id))), document.querySelector('#from').draggable = false`)
	if _, err := p.Act(t.Context(), p.Input().Drag("#from", "#to")); err != nil {
		t.Error(err)
	}
	if got := eval(t, p, "log.join()"); got != `"mousedown:from,mouseup:to"` {
		t.Errorf("the page saw %s", got)
	}
}
