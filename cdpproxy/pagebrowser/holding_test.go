package pagebrowser_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"browser-coordinator/cdpproxy/pagebrowser"
)

// emulation is something that a client sets up and a page shows.
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

// heightOf is the height of an environment variable of CSS.
func heightOf(name string) string {
	return `(() => { const d = document.createElement("div"); d.style.height = "env(` + name + `)"; document.body.append(d); const h = d.offsetHeight; d.remove(); return h })()`
}

// shows waits until the page says what is wanted: some of it a page shows a moment
// after the command is answered.
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

// TestEmulationEnds: what a page shows of a client's emulation is gone when the
// client is, or has said so, and stays when only another has.
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

		off, with := pagebrowser.UndoOf(c.method, c.params)
		stays.call(held, off, with, nil)
		p.shows(session, c.method+", after another client's "+off, c.look, c.during)
		p.call(session, off, with, nil)
		p.shows(session, c.method+", after "+off, c.look, before)

		p.call(session, c.method, c.params, nil)
		p.shows(session, c.method+", again", c.look, c.during)
		p.leave()
		stays.shows(held, c.method+", whose client has left", c.look, before)
	}
	// A page that a client has frozen goes on.
	p := join(t, s.url)
	p.call(p.attach(s), "Page.setWebLifecycleState", `{"state":"frozen"}`, nil)
	p.leave()
	if got := stays.evaluate(held, `new Promise(r => setTimeout(() => r("goes on")))`); got != "goes on" {
		t.Error(got)
	}
}

// TestLifecycleEvents come to those who have turned them on, until they turn them
// off.
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

// TestNewestWord: where clients set up the same thing differently, the newest word
// counts among those who still hold it.
func TestNewestWord(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	a, b, c := join(t, s.url), join(t, s.url), join(t, s.url)
	sa, sb, sc := a.attach(s), b.attach(s), c.attach(s)
	a.visit(s, sa, "/one")
	before := a.evaluate(sa, "innerWidth")
	set := func(p *peer, session string, width int) {
		t.Helper()
		p.call(session, "Emulation.setDeviceMetricsOverride", fmt.Sprintf(`{"width":%d,"height":400,"deviceScaleFactor":1,"mobile":false}`, width), nil)
		a.shows(sa, "set", "innerWidth", fmt.Sprint(width))
	}
	set(a, sa, 301)
	set(b, sb, 302)
	set(c, sc, 303)
	b.call(sb, "Emulation.clearDeviceMetricsOverride", "", nil)
	a.shows(sa, "an older word is taken back", "innerWidth", "303")
	set(b, sb, 304)
	b.call(sb, "Page.clearDeviceMetricsOverride", "", nil) // the same by its old name
	a.shows(sa, "the newest word is taken back", "innerWidth", "303")
	c.leave()
	a.shows(sa, "who said the newest word has left", "innerWidth", "301")
	a.call(sa, "Emulation.clearDeviceMetricsOverride", "", nil)
	a.shows(sa, "all is taken back", "innerWidth", before)
}

// TestRefusedCommandHoldsNothing: what the page has refused nobody holds; what was
// set up before it, its client holds on to.
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
	set(b, sb, "Asia/Tokyo")
	set(b, sb, "")
	b.shows(sb, "only another client's command was refused", zone, before)

	set(a, sa, "Asia/Tokyo")
	set(a, sa, "No/Where")
	set(b, sb, "")
	b.shows(sb, "a client keeps its time zone when it names one that is none", zone, "Asia/Tokyo")
}

// TestCollecting: what a command ends and brings, it brings to each who began it,
// and to nobody else.
func TestCollecting(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	a, b, c := join(t, s.url), join(t, s.url), join(t, s.url)
	sa, sb, sc := a.attach(s), b.attach(s), c.attach(s)
	for p, session := range map[*peer]string{a: sa, b: sb} {
		p.call(session, "Profiler.enable", "", nil)
		p.call(session, "Profiler.start", "", nil)
	}
	if m := c.try(sc, "Profiler.stop", ""); m.Error == nil || !strings.Contains(m.Error.Message, "another client of this page has begun that") {
		t.Error(m.Error)
	}
	for p, session := range map[*peer]string{a: sa, b: sb} {
		var r struct{ Profile struct{ Nodes []any } }
		p.call(session, "Profiler.stop", "", &r)
		if len(r.Profile.Nodes) == 0 {
			t.Error("a profile of nothing")
		}
	}
	if m := a.try(sa, "Profiler.stop", ""); m.Error == nil || !strings.Contains(m.Error.Message, "this client has not begun that") {
		t.Error(m.Error)
	}
}
