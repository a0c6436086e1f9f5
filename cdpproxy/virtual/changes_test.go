package virtual_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"browser-coordinator/cdpproxy/virtual"
	"browser-coordinator/internal/cdptest"
)

// emulation is a setting that a client changes and a page can observe.
type emulation struct{ method, params, look, during string }

var emulations = []emulation{
	{"Network.emulateNetworkConditions", `{"offline":true,"latency":0,"downloadThroughput":-1,"uploadThroughput":-1}`,
		`fetch("/x").then(() => "online", () => "offline")`, "offline"},
	{"Network.emulateNetworkConditionsByRule",
		`{"offline":true,"matchedNetworkConditions":[{"urlPattern":"","latency":0,"downloadThroughput":-1,` +
			`"uploadThroughput":-1,"offline":true}]}`,
		`fetch("/x").then(() => "online", () => "offline")`, "offline"},
	{"Network.overrideNetworkState", `{"offline":true,"latency":0,"downloadThroughput":-1,"uploadThroughput":-1}`,
		"navigator.onLine", "false"},
	{"Emulation.setCPUPerformanceOverride", `{"performanceTier":"high"}`, "navigator.cpuPerformance", "3"},
	{"Emulation.setDataSaverOverride", `{"dataSaverEnabled":true}`, "navigator.connection.saveData", "true"},
	{"Emulation.setDevicePostureOverride", `{"posture":{"type":"folded"}}`, "navigator.devicePosture.type", "folded"},
	{"Emulation.setDisabledImageTypes", `{"imageTypes":["webp"]}`,
		`new Promise(r => { const i = new Image(); i.onload = () => r("shown"); i.onerror = () => r("not"); ` +
			`i.src = "data:image/webp;base64,UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==#" + Math.random() })`, "not"},
	{"Emulation.setDisplayFeaturesOverride", `{"features":[{"orientation":"vertical","offset":100,"maskLength":20}]}`,
		`matchMedia("(horizontal-viewport-segments: 2)").matches`, "true"},
	{"Emulation.setNavigatorOverrides", `{"platform":"odd"}`, "navigator.platform", "odd"},
	{"Emulation.setSafeAreaInsetsOverride", `{"insets":{"top":33}}`, heightOf("safe-area-inset-top"), "33"},
	{"Emulation.setSensorOverrideEnabled", `{"enabled":true,"type":"gyroscope"}`,
		`new Promise(r => { const g = new Gyroscope(); g.onerror = e => r(e.error.name); ` +
			`g.onactivate = () => { g.stop(); r("active") }; g.start() })`, "active"},
	{"Emulation.setVirtualKeyboardGeometryOverride", `{"keyboardRect":{"x":0,"y":400,"width":300,"height":200}}`,
		heightOf("keyboard-inset-height"), "200"},
	{"Page.setDeviceMetricsOverride", `{"width":321,"height":400,"deviceScaleFactor":1,"mobile":false}`, "innerWidth",
		"321"},
	{"Page.setDeviceOrientationOverride", `{"alpha":1,"beta":2,"gamma":3}`,
		`new Promise(r => addEventListener("deviceorientation", e => r(e.alpha), {once: true}))`, "1"},
	{"Page.setTouchEmulationEnabled", `{"enabled":true}`, "navigator.maxTouchPoints", "1"},
}

// heightOf measures the height of an environment variable of CSS.
func heightOf(name string) string {
	return `(() => { const d = document.createElement("div"); d.style.height = "env(` + name +
		`)"; document.body.append(d); const h = d.offsetHeight; d.remove(); return h })()`
}

// shows waits until the page reports the wanted value: some values change a moment
// after the command's response.
func shows(t *testing.T, p *cdptest.Client, session, description, look, want string) {
	t.Helper()
	got := ""
	for start := time.Now(); got != want; {
		if got = p.Evaluate(session, look); got != want && time.Since(start) > 5*time.Second {
			t.Errorf("%s: the page reports %s, want %s", description, got, want)
			return
		}
	}
}

// TestEmulationEnds: a client's emulation in a page ends when the client leaves or
// resets it, and stays while another holds it.
func TestEmulationEnds(t *testing.T) {
	s := newScene(t)
	stays, held := s.client()
	s.visit(stays, held, "/one")
	stays.Call(held, "Network.enable", "", nil)
	for _, c := range emulations {
		before := stays.Evaluate(held, c.look)
		if before == c.during {
			t.Errorf("%s: the page reports %s as it is", c.method, before)
		}
		p, session := s.client()
		p.Call(session, c.method, c.params, nil)
		shows(t, p, session, c.method, c.look, c.during)

		off, with := virtual.ResetOf(c.method, c.params)
		// its result would be missing
		if m := stays.Try(held, off, with); m.Error != nil && c.method != "Network.emulateNetworkConditionsByRule" {
			t.Errorf("%s by another client: %s", off, m.Error.Message)
		}
		shows(t, p, session, c.method+", after another client's "+off, c.look, c.during)
		p.Call(session, off, with, nil)
		shows(t, p, session, c.method+", after "+off, c.look, before)

		p.Call(session, c.method, c.params, nil)
		shows(t, p, session, c.method+", again", c.look, c.during)
		p.Leave()
		shows(t, stays, held, c.method+", whose client has left", c.look, before)
	}
	// A page that a client has frozen resumes.
	p := cdptest.Dial(t, s.url)
	p.Call(s.attach(p), "Page.setWebLifecycleState", `{"state":"frozen"}`, nil)
	p.Leave()
	if got := stays.Evaluate(held, `new Promise(r => setTimeout(() => r("goes on")))`); got != "goes on" {
		t.Error(got)
	}
}

// TestLifecycleEvents: these events reach the clients that have turned them on,
// until they turn them off.
func TestLifecycleEvents(t *testing.T) {
	s := newScene(t)
	a, b, c := cdptest.Dial(t, s.url), cdptest.Dial(t, s.url), cdptest.Dial(t, s.url)
	sa, sb, sc := s.attach(a), s.attach(b), s.attach(c)
	for p, session := range map[*cdptest.Client]string{a: sa, b: sb} {
		p.Call(session, "Page.enable", "", nil)
		p.Call(session, "Page.setLifecycleEventsEnabled", `{"enabled":true}`, nil)
	}
	s.visit(c, sc, "/one")
	a.Event(sa, "Page.lifecycleEvent", `"load"`)
	b.Event(sb, "Page.lifecycleEvent", `"load"`)
	b.Call(sb, "Page.setLifecycleEventsEnabled", `{"enabled":false}`, nil)
	before, ended := a.Count(sa, "Page.lifecycleEvent", `"DOMContentLoaded"`), b.Count(sb, "Page.lifecycleEvent", "")
	s.visit(c, sc, "/two")
	a.EventN(sa, "Page.lifecycleEvent", `"DOMContentLoaded"`, before+1)
	b.Evaluate(sb, "1")
	c.Evaluate(sc, "1")
	if got := b.Count(sb, "Page.lifecycleEvent", ""); got != ended {
		t.Errorf("%d lifecycle events came after they were turned off", got-ended)
	}
	if got := c.Count(sc, "Page.lifecycleEvent", ""); got != 0 {
		t.Errorf("%d lifecycle events came to a client that has not turned them on", got)
	}
}

// refused requires a command to fail because another client has changed the page.
func refused(t *testing.T, p *cdptest.Client, session, owner, method, params string) {
	t.Helper()
	m := p.Try(session, method, params)
	if m.Error == nil || m.Error.Code != -32000 || !strings.HasPrefix(m.Error.Message,
		method+": "+owner+" has changed settings of this page") {
		t.Errorf("%s %s: %s %v, want it refused because of %s", method, params, m.Result, m.Error, owner)
	}
}

func metrics(width int) string {
	return fmt.Sprintf(`{"width":%d,"height":400,"deviceScaleFactor":1,"mobile":false}`, width)
}

// TestOneClientChangesAPage: the first client that changes a page's settings excludes
// the others until it has reset them or left the page.
func TestOneClientChangesAPage(t *testing.T) {
	s := newScene(t)
	a, b, c := cdptest.DialAs(t, s.url, "Playwright/1.65.1 (x64; debian)"), cdptest.DialAs(t, s.url,
		"Puppeteer 24.43.1"), cdptest.Dial(t, s.url)
	sa, sb, sc := s.attach(a), s.attach(b), s.attach(c)
	s.visit(a, sa, "/one")
	const set, reset = "Emulation.setDeviceMetricsOverride", "Emulation.clearDeviceMetricsOverride"
	before := c.Evaluate(sc, "innerWidth")
	width := func(description, want string) { t.Helper(); shows(t, c, sc, description, "innerWidth", want) }

	a.Call(sa, set, metrics(301), nil)
	refused(t, b, sb, "Playwright", set, metrics(302))
	refused(t, b, sb, "Playwright", set, metrics(301))
	refused(t, b, sb, "Playwright", "Page.setDeviceMetricsOverride", metrics(302)) // its old name
	refused(t, b, sb, "Playwright", "Fetch.enable", "")
	b.Call(sb, reset, "", nil)
	width("a client has reset what it has not set", "301")
	a.Call(sa, set, metrics(303), nil)
	width("the page's owner has changed it", "303")
	// What needs no owner works meanwhile.
	for method, params := range map[string]string{
		"Page.setLifecycleEventsEnabled": `{"enabled":true}`, "Emulation.setFocusEmulationEnabled": `{"enabled":true}`,
		"Accessibility.enable": "",
		"Runtime.addBinding":   `{"name":"bound"}`, "Page.addScriptToEvaluateOnNewDocument": `{"source":"1"}`,
	} {
		b.Call(sb, method, params, nil)
	}

	a.Call(sa, reset, "", nil)
	b.Call(sb, set, metrics(304), nil)
	refused(t, a, sa, "Puppeteer", "Emulation.setTimezoneOverride", `{"timezoneId":"Asia/Tokyo"}`)
	b.Leave()
	width("the owner has left", before)
	c.Call(sc, set, metrics(305), nil)
	refused(t, a, sa, "Go program", set, metrics(306))
	c.Call(sc, "Page.clearDeviceMetricsOverride", "", nil)
	width("the owner has reset it by an old name", before)

	// The sessions of one client share what it has set.
	second := s.attach(a)
	a.Call(sa, set, metrics(307), nil)
	a.Call(second, set, metrics(308), nil)
	a.Call("", "Target.detachFromTarget", fmt.Sprintf(`{"sessionId":%q}`, sa), nil)
	width("one of the owner's sessions has ended", "308")
	a.Leave()
	width("the owner has left", before)
}

// TestConnectingDefaults: Playwright's defaults at connect do not fail because
// another client has set another value, and do not change that value.
func TestConnectingDefaults(t *testing.T) {
	s := newScene(t)
	a, b := cdptest.Dial(t, s.url), cdptest.Dial(t, s.url)
	sa, sb := s.attach(a), s.attach(b)
	const media = `{"media":"","features":[{"name":"prefers-color-scheme","value":%q},` +
		`{"name":"prefers-reduced-motion","value":"no-preference"}]}`
	a.Call(sa, "Emulation.setEmulatedMedia", fmt.Sprintf(media, "dark"), nil)
	b.Call(sb, "Emulation.setEmulatedMedia", fmt.Sprintf(media, "light"), nil)
	shows(t, a, sa, "another client connects", "matchMedia('(prefers-color-scheme: dark)').matches", "true")
	const downloads = `{"behavior":"allowAndName","downloadPath":%q,"eventsEnabled":true}`
	for _, p := range []*cdptest.Client{a, b} {
		p.Call("", "Browser.setDownloadBehavior", fmt.Sprintf(downloads, t.TempDir()), nil)
	}
	if n := s.debug.reached("Browser.setDownloadBehavior"); n != 1 {
		t.Errorf("downloads were set %d times", n)
	}
	refused(t, b, "", "another client, also Go program,", "Browser.setDownloadBehavior", `{"behavior":"deny"}`)
}

// TestRefusedCommandChangesNothing: a command that the page refuses does not exclude
// others; a value from before it stays its client's.
func TestRefusedCommandChangesNothing(t *testing.T) {
	s := newScene(t)
	a, b := cdptest.Dial(t, s.url), cdptest.Dial(t, s.url)
	sa, sb := s.attach(a), s.attach(b)
	const zone = "Intl.DateTimeFormat().resolvedOptions().timeZone"
	before := a.Evaluate(sa, zone)
	set := func(p *cdptest.Client, session, name string) cdptest.Message {
		return p.Try(session, "Emulation.setTimezoneOverride", fmt.Sprintf(`{"timezoneId":%q}`, name))
	}
	if m := set(a, sa, "No/Where"); m.Error == nil {
		t.Fatal("Chromium takes any time zone")
	}
	if m := set(b, sb, "Asia/Tokyo"); m.Error != nil {
		t.Error(m.Error)
	}
	set(b, sb, "")
	shows(t, b, sb, "only another client's command was refused", zone, before)

	set(a, sa, "Asia/Tokyo")
	set(a, sa, "No/Where")
	refused(t, b, sb, "another client, also Go program,", "Emulation.setTimezoneOverride",
		`{"timezoneId":"Europe/Berlin"}`)
	shows(t, b, sb, "a client keeps its time zone when it names one that is none", zone, "Asia/Tokyo")
}

// TestResults: one client records or intercepts, and no other one ends or receives that.
func TestResults(t *testing.T) {
	s := newScene(t)
	a, b := cdptest.Dial(t, s.url), cdptest.Dial(t, s.url)
	sa, sb := s.attach(a), s.attach(b)
	s.visit(a, sa, "/one")
	const other = "another client, also Go program,"
	a.Call(sa, "Profiler.enable", "", nil)
	b.Call(sb, "Profiler.enable", "", nil)
	a.Call(sa, "Profiler.start", "", nil)
	refused(t, b, sb, other, "Profiler.start", "")
	refused(t, b, sb, other, "Profiler.stop", "")
	refused(t, a, s.attach(a), "another session of this client", "Profiler.stop", "")
	var r struct{ Profile struct{ Nodes []any } }
	a.Call(sa, "Profiler.stop", "", &r)
	if len(r.Profile.Nodes) == 0 {
		t.Error("a profile of nothing")
	}
	if m := a.Try(sa, "Profiler.stop", ""); m.Error == nil || !strings.Contains(m.Error.Message,
		"this client has not started that") {
		t.Error(m.Error)
	}

	a.Call(sa, "Fetch.enable", "", nil)
	refused(t, b, sb, other, "Fetch.enable", "")
	b.Call(sb, "Fetch.disable", "", nil)
	b.Evaluate(sb, "void fetch('/two'); 1")
	var paused struct{ RequestID string }
	a.Event(sa, "Fetch.requestPaused", "/two").Decode(t, &paused)
	a.Call(sa, "Fetch.fulfillRequest", fmt.Sprintf(`{"requestId":%q,"responseCode":200}`, paused.RequestID), nil)
	b.Evaluate(sb, "1")
	if b.Count(sb, "Fetch.requestPaused", "") != 0 || s.debug.reached("Fetch.disable") != 0 {
		t.Error("a client has received or ended what another intercepts")
	}
	a.Call(sa, "Fetch.disable", "", nil)
	b.Call(sb, "Fetch.enable", "", nil)
	b.Evaluate(sb, "void fetch('/three'); 1")
	b.Event(sb, "Fetch.requestPaused", "/three")
}
