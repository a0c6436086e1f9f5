package virtual_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"browser-coordinator/cdpproxy/virtual"
)

// emulation is a setting that a client changes and a page can observe.
type emulation struct{ method, params, look, during string }

var emulations = []emulation{
	{"Network.emulateNetworkConditions", `{"offline":true,"latency":0,"downloadThroughput":-1,"uploadThroughput":-1}`, `fetch("/x").then(() => "online", () => "offline")`, "offline"},
	{"Network.emulateNetworkConditionsByRule", `{"offline":true,"matchedNetworkConditions":[{"urlPattern":"","latency":0,"downloadThroughput":-1,"uploadThroughput":-1,"offline":true}]}`, `fetch("/x").then(() => "online", () => "offline")`, "offline"},
	{"Network.overrideNetworkState", `{"offline":true,"latency":0,"downloadThroughput":-1,"uploadThroughput":-1}`, "navigator.onLine", "false"},
	{"Emulation.setCPUPerformanceOverride", `{"performanceTier":"high"}`, "navigator.cpuPerformance", "3"},
	{"Emulation.setDataSaverOverride", `{"dataSaverEnabled":true}`, "navigator.connection.saveData", "true"},
	{"Emulation.setDevicePostureOverride", `{"posture":{"type":"folded"}}`, "navigator.devicePosture.type", "folded"},
	{"Emulation.setDisabledImageTypes", `{"imageTypes":["webp"]}`, `new Promise(r => { const i = new Image(); i.onload = () => r("shown"); i.onerror = () => r("not"); i.src = "data:image/webp;base64,UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==#" + Math.random() })`, "not"},
	{"Emulation.setDisplayFeaturesOverride", `{"features":[{"orientation":"vertical","offset":100,"maskLength":20}]}`, `matchMedia("(horizontal-viewport-segments: 2)").matches`, "true"},
	{"Emulation.setNavigatorOverrides", `{"platform":"odd"}`, "navigator.platform", "odd"},
	{"Emulation.setSafeAreaInsetsOverride", `{"insets":{"top":33}}`, heightOf("safe-area-inset-top"), "33"},
	{"Emulation.setSensorOverrideEnabled", `{"enabled":true,"type":"gyroscope"}`, `new Promise(r => { const g = new Gyroscope(); g.onerror = e => r(e.error.name); g.onactivate = () => { g.stop(); r("active") }; g.start() })`, "active"},
	{"Emulation.setVirtualKeyboardGeometryOverride", `{"keyboardRect":{"x":0,"y":400,"width":300,"height":200}}`, heightOf("keyboard-inset-height"), "200"},
	{"Page.setDeviceMetricsOverride", `{"width":321,"height":400,"deviceScaleFactor":1,"mobile":false}`, "innerWidth", "321"},
	{"Page.setDeviceOrientationOverride", `{"alpha":1,"beta":2,"gamma":3}`, `new Promise(r => addEventListener("deviceorientation", e => r(e.alpha), {once: true}))`, "1"},
	{"Page.setTouchEmulationEnabled", `{"enabled":true}`, "navigator.maxTouchPoints", "1"},
}

// heightOf measures the height of an environment variable of CSS.
func heightOf(name string) string {
	return `(() => { const d = document.createElement("div"); d.style.height = "env(` + name + `)"; document.body.append(d); const h = d.offsetHeight; d.remove(); return h })()`
}

// shows waits until the page reports the wanted value: some values change a moment
// after the command's response.
func (p *peer) shows(session, what, look, want string) {
	p.t.Helper()
	got := ""
	for start := time.Now(); got != want; {
		if got = p.evaluate(session, look); got != want && time.Since(start) > 5*time.Second {
			p.t.Errorf("%s: the page says %s, want %s", what, got, want)
			return
		}
	}
}

// TestEmulationEnds: a client's emulation in a page ends when the client leaves or
// resets it, and stays while another holds it.
func TestEmulationEnds(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	stays := join(t, s.url)
	held := stays.attach(s)
	stays.visit(s, held, "/one")
	stays.call(held, "Network.enable", "", nil)
	for _, c := range emulations {
		before := stays.evaluate(held, c.look)
		if before == c.during {
			t.Errorf("%s: the page says %s as it is", c.method, before)
		}
		p := join(t, s.url)
		session := p.attach(s)
		p.call(session, c.method, c.params, nil)
		p.shows(session, c.method, c.look, c.during)

		off, with := virtual.ResetOf(c.method, c.params)
		if m := stays.try(held, off, with); m.Error != nil && c.method != "Network.emulateNetworkConditionsByRule" { // its result would be missing
			t.Errorf("%s by another client: %s", off, m.Error.Message)
		}
		p.shows(session, c.method+", after another client's "+off, c.look, c.during)
		p.call(session, off, with, nil)
		p.shows(session, c.method+", after "+off, c.look, before)

		p.call(session, c.method, c.params, nil)
		p.shows(session, c.method+", again", c.look, c.during)
		p.leave()
		stays.shows(held, c.method+", whose client has left", c.look, before)
	}
	// A page that a client has frozen resumes.
	p := join(t, s.url)
	p.call(p.attach(s), "Page.setWebLifecycleState", `{"state":"frozen"}`, nil)
	p.leave()
	if got := stays.evaluate(held, `new Promise(r => setTimeout(() => r("goes on")))`); got != "goes on" {
		t.Error(got)
	}
}

// TestLifecycleEvents: these events reach the clients that have turned them on,
// until they turn them off.
func TestLifecycleEvents(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	a, b, c := join(t, s.url), join(t, s.url), join(t, s.url)
	sa, sb, sc := a.attach(s), b.attach(s), c.attach(s)
	for p, session := range map[*peer]string{a: sa, b: sb} {
		p.call(session, "Page.enable", "", nil)
		p.call(session, "Page.setLifecycleEventsEnabled", `{"enabled":true}`, nil)
	}
	c.visit(s, sc, "/one")
	a.event(sa, "Page.lifecycleEvent", `"load"`)
	b.event(sb, "Page.lifecycleEvent", `"load"`)
	b.call(sb, "Page.setLifecycleEventsEnabled", `{"enabled":false}`, nil)
	heard, ended := a.count(sa, "Page.lifecycleEvent", `"DOMContentLoaded"`), b.count(sb, "Page.lifecycleEvent", "")
	c.visit(s, sc, "/two")
	a.await("lifecycle events, after another client has turned its own off", func() bool {
		n := 0
		for _, e := range a.events {
			if e.Method == "Page.lifecycleEvent" && strings.Contains(string(e.Params), `"DOMContentLoaded"`) {
				n++
			}
		}
		return n > heard
	})
	b.evaluate(sb, "1")
	c.evaluate(sc, "1")
	if got := b.count(sb, "Page.lifecycleEvent", ""); got != ended {
		t.Errorf("%d lifecycle events came after they were turned off", got-ended)
	}
	if got := c.count(sc, "Page.lifecycleEvent", ""); got != 0 {
		t.Errorf("%d lifecycle events came to a client that has not turned them on", got)
	}
}

// refused requires a command to fail because another client owns the setting.
func (p *peer) refused(session, owner, method, params string) {
	p.t.Helper()
	m := p.try(session, method, params)
	if m.Error == nil || m.Error.Code != -32000 || !strings.HasPrefix(m.Error.Message, method+": "+owner+" owns this setting") {
		p.t.Errorf("%s %s: %s %v, want it owned by %s", method, params, m.Result, m.Error, owner)
	}
}

func metrics(width int) string {
	return fmt.Sprintf(`{"width":%d,"height":400,"deviceScaleFactor":1,"mobile":false}`, width)
}

// TestLease: the first client that changes a setting owns it, with all that want
// the same value. Another value is refused until the last of them has reset it or
// left.
func TestLease(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	a, b, c := joinAs(t, s.url, "Playwright/1.65.1 (x64; debian)"), joinAs(t, s.url, "Puppeteer 24.43.1"), join(t, s.url)
	sa, sb, sc := a.attach(s), b.attach(s), c.attach(s)
	a.visit(s, sa, "/one")
	const set, reset = "Emulation.setDeviceMetricsOverride", "Emulation.clearDeviceMetricsOverride"
	before := c.evaluate(sc, "innerWidth")
	width := func(what, want string) { t.Helper(); c.shows(sc, what, "innerWidth", want) }

	a.call(sa, set, metrics(301), nil)
	b.refused(sb, "Playwright", set, metrics(302))
	b.refused(sb, "Playwright", "Page.setDeviceMetricsOverride", metrics(302)) // its old name
	b.call(sb, reset, "", nil)
	width("a client has reset what it does not own", "301")
	a.call(sa, set, metrics(303), nil)
	width("its owner has changed it", "303")

	b.call(sb, set, metrics(303), nil)
	a.refused(sa, "Puppeteer", set, metrics(304)) // by now b holds it too
	c.refused(sc, "Playwright", set, metrics(304))
	a.call(sa, reset, "", nil)
	width("one of two owners has reset it", "303")
	c.refused(sc, "Puppeteer", set, metrics(304))
	b.leave()
	width("the last owner has left", before)
	c.call(sc, set, metrics(305), nil)
	a.refused(sa, "Go program", set, metrics(306))
	c.call(sc, "Page.clearDeviceMetricsOverride", "", nil)
	width("the owner has reset it by an old name", before)

	// The sessions of one client share their leases.
	again := a.attach(s)
	a.call(sa, set, metrics(307), nil)
	a.call(again, set, metrics(308), nil)
	a.call("", "Target.detachFromTarget", fmt.Sprintf(`{"sessionId":%q}`, sa), nil)
	width("one of the owner's sessions has ended", "308")
	a.leave()
	width("the owner has left", before)
}

// TestConnectingDefaults: Playwright's defaults at connect do not fail because
// another client has set another value, and do not change that value.
func TestConnectingDefaults(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	a, b := join(t, s.url), join(t, s.url)
	sa, sb := a.attach(s), b.attach(s)
	const media = `{"media":"","features":[{"name":"prefers-color-scheme","value":%q},{"name":"prefers-reduced-motion","value":"no-preference"}]}`
	a.call(sa, "Emulation.setEmulatedMedia", fmt.Sprintf(media, "dark"), nil)
	b.call(sb, "Emulation.setEmulatedMedia", fmt.Sprintf(media, "light"), nil)
	a.shows(sa, "another client connects", "matchMedia('(prefers-color-scheme: dark)').matches", "true")
	const downloads = `{"behavior":"allowAndName","downloadPath":%q,"eventsEnabled":true}`
	for _, p := range []*peer{a, b} {
		p.call("", "Browser.setDownloadBehavior", fmt.Sprintf(downloads, t.TempDir()), nil)
	}
	if n := s.debug.reached("Browser.setDownloadBehavior"); n != 1 {
		t.Errorf("downloads were set %d times", n)
	}
	b.refused("", "another client, also Go program,", "Browser.setDownloadBehavior", `{"behavior":"deny"}`)
}

// TestRefusedCommandHoldsNothing: a command that the page refuses creates no lease;
// a value from before it stays its client's.
func TestRefusedCommandHoldsNothing(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	a, b := join(t, s.url), join(t, s.url)
	sa, sb := a.attach(s), b.attach(s)
	const zone = "Intl.DateTimeFormat().resolvedOptions().timeZone"
	before := a.evaluate(sa, zone)
	set := func(p *peer, session, name string) said {
		return p.try(session, "Emulation.setTimezoneOverride", fmt.Sprintf(`{"timezoneId":%q}`, name))
	}
	if m := set(a, sa, "No/Where"); m.Error == nil {
		t.Fatal("Chromium takes any time zone")
	}
	if m := set(b, sb, "Asia/Tokyo"); m.Error != nil {
		t.Error(m.Error)
	}
	set(b, sb, "")
	b.shows(sb, "only another client's command was refused", zone, before)

	set(a, sa, "Asia/Tokyo")
	set(a, sa, "No/Where")
	b.refused(sb, "another client, also Go program,", "Emulation.setTimezoneOverride", `{"timezoneId":"Europe/Berlin"}`)
	b.shows(sb, "a client keeps its time zone when it names one that is none", zone, "Asia/Tokyo")
}

// TestAlone: one session intercepts, records or profiles, and no other one ends or
// receives that.
func TestAlone(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	a, b := join(t, s.url), join(t, s.url)
	sa, sb := a.attach(s), b.attach(s)
	a.visit(s, sa, "/one")
	const other = "another client, also Go program,"
	for _, p := range []struct {
		peer    *peer
		session string
	}{{a, sa}, {b, sb}} {
		p.peer.call(p.session, "Profiler.enable", "", nil)
	}
	a.call(sa, "Profiler.start", "", nil)
	b.refused(sb, other, "Profiler.start", "")
	b.refused(sb, other, "Profiler.stop", "")
	a.refused(a.attach(s), "another session of this client", "Profiler.start", "")
	var r struct{ Profile struct{ Nodes []any } }
	a.call(sa, "Profiler.stop", "", &r)
	if len(r.Profile.Nodes) == 0 {
		t.Error("a profile of nothing")
	}
	if m := a.try(sa, "Profiler.stop", ""); m.Error == nil || !strings.Contains(m.Error.Message, "this client has not started that") {
		t.Error(m.Error)
	}

	a.call(sa, "Fetch.enable", "", nil)
	b.refused(sb, other, "Fetch.enable", "")
	b.call(sb, "Fetch.disable", "", nil)
	b.evaluate(sb, "void fetch('/two'); 1")
	var paused struct{ RequestID string }
	if err := json.Unmarshal(a.event(sa, "Fetch.requestPaused", "/two").Params, &paused); err != nil {
		t.Fatal(err)
	}
	a.call(sa, "Fetch.fulfillRequest", fmt.Sprintf(`{"requestId":%q,"responseCode":200}`, paused.RequestID), nil)
	b.evaluate(sb, "1")
	if b.count(sb, "Fetch.requestPaused", "") != 0 || s.debug.reached("Fetch.disable") != 0 {
		t.Error("a client has received or ended what another intercepts")
	}
	a.call(sa, "Fetch.disable", "", nil)
	b.call(sb, "Fetch.enable", "", nil)
	b.evaluate(sb, "void fetch('/three'); 1")
	b.event(sb, "Fetch.requestPaused", "/three")
}
