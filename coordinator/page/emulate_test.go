package page

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestEmulate(t *testing.T) {
	var agents, languages []string
	p, url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, port, _ := strings.Cut(r.Host, ":")
		if r.URL.Path == "/seen" {
			agents, languages = append(agents, r.UserAgent()), append(languages, r.Header.Get("Accept-Language"))
			return
		}
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/" {
			fmt.Fprintf(w, `<!doctype html><meta name=viewport content=width=device-width><iframe src="http://localhost:%s/frame"></iframe>`, port)
		}
		fmt.Fprint(w, `<script>onmessage = e => e.source.postMessage([navigator.userAgent, Intl.DateTimeFormat().resolvedOptions().timeZone, matchMedia('(prefers-color-scheme: dark)').matches].join(), '*')</script>`)
	}))
	const believes = `(async () => JSON.stringify({
  ua: navigator.userAgent, lang: navigator.language, n: (1.5).toLocaleString(), zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  dark: matchMedia('(prefers-color-scheme: dark)').matches, still: matchMedia('(prefers-reduced-motion: reduce)').matches, print: matchMedia('print').matches,
  size: [innerWidth, innerHeight, devicePixelRatio, navigator.maxTouchPoints > 0].join(), online: navigator.onLine,
  at: await new Promise(r => { setTimeout(r, 500, 'none'); navigator.geolocation.getCurrentPosition(p => r(p.coords.latitude + ',' + p.coords.longitude)) })}))()`
	before := eval(t, p, believes)
	ctx := t.Context()
	for _, e := range []Emulation{
		{UserAgent: "Agent/1", Locale: "de-DE", Timezone: "Europe/Berlin", Location: &Location{52.5, 13.4, 0}},
		{Media: "print", Features: map[string]string{"prefers-color-scheme": "dark"}},
		{Features: map[string]string{"prefers-reduced-motion": "reduce"}},
		{Viewport: &Viewport{Width: 390, Height: 844, Scale: 3, Mobile: true}, CPU: 2, Network: "fast 4g"},
	} {
		if _, err := p.Emulate(ctx, e); err != nil {
			t.Fatalf("%+v: %v", e, err)
		}
	}
	now := eval(t, p, believes)
	for _, want := range []string{`"ua":"Agent/1"`, `"lang":"de-DE"`, `"n":"1,5"`, `"zone":"Europe/Berlin"`, `"dark":true`, `"still":true`, `"print":true`, `"size":"390,844,3,true"`, `"online":true`, `"at":"52.5,13.4"`} {
		if !strings.Contains(strings.ReplaceAll(now, `\"`, `"`), want) {
			t.Errorf("the page does not believe %s: %s", want, now)
		}
	}
	const frame = `new Promise(r => { onmessage = e => r(e.data); frames[0].postMessage(1, '*') })`
	if got := eval(t, p, frame); got != `"Agent/1,Europe/Berlin,true"` {
		t.Errorf("a frame of another process believes %s", got)
	}
	// A frame that comes later believes the same.
	eval(t, p, `new Promise(r => { const f = document.querySelector('iframe'); f.onload = r; f.src += '?again' }).then(() => 1)`)
	if got := eval(t, p, frame); got != `"Agent/1,Europe/Berlin,true"` {
		t.Errorf("a later frame of another process believes %s", got)
	}
	eval(t, p, "fetch('/seen').then(() => 1)")
	if agents[0] != "Agent/1" || !strings.HasPrefix(languages[0], "de-DE") {
		t.Errorf("the server sees %s, %s", agents, languages)
	}
	if _, err := p.Emulate(ctx, Emulation{Locale: "fr-FR"}); err != nil {
		t.Errorf("another locale: %v", err)
	}
	if got := eval(t, p, "navigator.userAgent + navigator.language"); got != `"Agent/1fr-FR"` {
		t.Errorf("after another locale: %s", got)
	}
	if _, err := p.Emulate(ctx, Emulation{Timezone: "Mars/Olympus", Locale: "it-IT"}); err == nil || !strings.Contains(err.Error(), "Mars/Olympus") {
		t.Errorf("a time zone that is none, after one: %v", err)
	}
	if got := eval(t, p, "new Intl.DateTimeFormat().resolvedOptions().timeZone + navigator.language"); got != `"Europe/Berlinfr-FR"` {
		t.Errorf("after a time zone that is none: %s", got)
	}
	if _, err := p.Emulate(ctx, Emulation{Network: "offline"}); err != nil {
		t.Fatal(err)
	}
	if got := eval(t, p, "navigator.onLine + ' ' + await fetch('/seen').catch(() => 'failed')"); got != `"false failed"` {
		t.Errorf("offline: %s", got)
	}
	if _, err := p.Emulate(ctx, Emulation{Reset: true}); err != nil {
		t.Fatal(err)
	}
	if after := eval(t, p, believes); after != before {
		t.Errorf("after the reset\n%s, before all\n%s", after, before)
	}
	for _, bad := range []Emulation{{}, {Network: "5g"}, {CPU: 0.5}, {Timezone: "Mars/Olympus"}, {Location: &Location{91, 0, 0}}, {Viewport: &Viewport{Width: 0, Height: 5}}} {
		if _, err := p.Emulate(ctx, bad); err == nil {
			t.Errorf("%+v is no error", bad)
		} else {
			t.Log(err)
		}
	}
	_ = url
}

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
