package emulation_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"browser-coordinator/coordinator/page/emulation"
	"browser-coordinator/internal/pagetest"
)

func TestMain(m *testing.M) { os.Exit(pagetest.Main(m)) }

func TestEmulate(t *testing.T) {
	t.Parallel()
	var agents, languages []string
	p, _ := pagetest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, port, _ := strings.Cut(r.Host, ":")
		if r.URL.Path == "/seen" {
			agents, languages = append(agents, r.UserAgent()), append(languages, r.Header.Get("Accept-Language"))
			return
		}
		if r.URL.Path == "/" {
			fmt.Fprintf(w, `<!doctype html>
<meta name=viewport content=width=device-width><iframe src="http://localhost:%s/frame"></iframe>`, port)
		}
		fmt.Fprint(w, `<script>onmessage = e =>
  e.source.postMessage([navigator.userAgent, Intl.DateTimeFormat().resolvedOptions().timeZone,
  matchMedia('(prefers-color-scheme: dark)').matches].join(), '*')</script>`)
	}))
	const believes = `(async () => JSON.stringify({
  ua: navigator.userAgent, lang: navigator.language, n: (1.5).toLocaleString(),
  zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  dark: matchMedia('(prefers-color-scheme: dark)').matches,
  still: matchMedia('(prefers-reduced-motion: reduce)').matches, print: matchMedia('print').matches,
  size: [innerWidth, innerHeight, devicePixelRatio, navigator.maxTouchPoints > 0].join(), online: navigator.onLine,
  at: await new Promise(r => {
    setTimeout(r, 500, 'none');
    navigator.geolocation.getCurrentPosition(p => r(p.coords.latitude + ',' + p.coords.longitude)) })}))()`
	before := pagetest.Evaluate(t, p, believes)
	ctx := t.Context()
	for _, e := range []emulation.Settings{
		{UserAgent: "Agent/1", Locale: "de-DE", Timezone: "Europe/Berlin", Location: &emulation.Location{52.5, 13.4}},
		{Media: "print", Features: map[string]string{"prefers-color-scheme": "dark"}},
		{Features: map[string]string{"prefers-reduced-motion": "reduce"}},
		{Viewport: &emulation.Viewport{Width: 390, Height: 844, Scale: 3, Mobile: true}, CPU: 2, Network: "fast 4g"},
	} {
		if _, err := p.Emulate(ctx, e); err != nil {
			t.Fatalf("%+v: %v", e, err)
		}
	}
	now := pagetest.Evaluate(t, p, believes)
	for _, want := range []string{`"ua":"Agent/1"`, `"lang":"de-DE"`, `"n":"1,5"`, `"zone":"Europe/Berlin"`, `"dark":true`,
		`"still":true`, `"print":true`, `"size":"390,844,3,true"`, `"online":true`, `"at":"52.5,13.4"`} {
		if !strings.Contains(strings.ReplaceAll(now, `\"`, `"`), want) {
			t.Errorf("the page does not believe %s: %s", want, now)
		}
	}
	const frame = `new Promise(r => { onmessage = e => r(e.data); frames[0].postMessage(1, '*') })`
	pagetest.Expect(t, p, frame, `"Agent/1,Europe/Berlin,true"`)
	// A later frame has the same overrides.
	pagetest.Evaluate(t, p, `new Promise(r => {
  const f = document.querySelector('iframe'); f.onload = r; f.src += '?again' }).then(() => 1)`)
	pagetest.Expect(t, p, frame, `"Agent/1,Europe/Berlin,true"`)
	pagetest.Evaluate(t, p, "fetch('/seen').then(() => 1)")
	if agents[0] != "Agent/1" || !strings.HasPrefix(languages[0], "de-DE") {
		t.Errorf("the server sees %s, %s", agents, languages)
	}
	if _, err := p.Emulate(ctx, emulation.Settings{Locale: "fr-FR"}); err != nil {
		t.Errorf("another locale: %v", err)
	}
	pagetest.Expect(t, p, "navigator.userAgent + navigator.language", `"Agent/1fr-FR"`)
	if _, err := p.Emulate(ctx, emulation.Settings{Timezone: "Mars/Olympus", Locale: "it-IT"}); err == nil ||
		!strings.Contains(err.Error(), "Mars/Olympus") {
		t.Errorf("a time zone that is none, after one: %v", err)
	}
	pagetest.Expect(t, p, "new Intl.DateTimeFormat().resolvedOptions().timeZone + navigator.language",
		`"Europe/Berlinfr-FR"`)
	if _, err := p.Emulate(ctx, emulation.Settings{Network: "offline"}); err != nil {
		t.Fatal(err)
	}
	pagetest.Expect(t, p, "navigator.onLine + ' ' + await fetch('/seen').catch(() => 'failed')", `"false failed"`)
	if _, err := p.Emulate(ctx, emulation.Settings{Reset: true}); err != nil {
		t.Fatal(err)
	}
	if after := pagetest.Evaluate(t, p, believes); after != before {
		t.Errorf("after the reset\n%s, before all\n%s", after, before)
	}
	for _, bad := range []emulation.Settings{{}, {Network: "5g"}, {CPU: 0.5}, {Timezone: "Mars/Olympus"},
		{Location: &emulation.Location{91, 0}}, {Viewport: &emulation.Viewport{Width: 0, Height: 5}}} {
		if _, err := p.Emulate(ctx, bad); err == nil {
			t.Errorf("%+v is no error", bad)
		} else {
			t.Log(err)
		}
	}
}
