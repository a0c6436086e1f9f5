package virtual_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"browser-coordinator/cdpproxy/virtual"
	"browser-coordinator/internal/cdptest"
)

// TestLeavingResets: scripts, bindings and interception end with their client, in the
// shared session too. TestEmulationEnds has settings.
func TestLeavingResets(t *testing.T) {
	s := newScene(t)
	hits := make(chan string, 100)
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		hits <- r.URL.Path + " " + r.UserAgent()
	}))
	defer slow.Close()

	stays, held := s.client()
	s.visit(stays, held, "/one")

	p, session := s.client()
	p.Call(session, "Emulation.setUserAgentOverride", `{"userAgent":"odd"}`, nil)
	p.Call(session, "Page.addScriptToEvaluateOnNewDocument", `{"source":"window.added = 1"}`, nil)
	p.Call(session, "Runtime.addBinding", `{"name":"bound"}`, nil)
	p.Call(session, "Fetch.enable", `{"patterns":[{"urlPattern":"*/paused"}]}`, nil)
	p.Evaluate(session, fmt.Sprintf("void fetch(%q); void fetch(%q); 1", slow.URL+"/through", slow.URL+"/paused"))
	p.Event(session, "Fetch.requestPaused", "/paused")
	if got := <-hits; got != "/through odd" {
		t.Error(got)
	}
	p.Leave() // without a close frame, as if killed

	// The request continues when no client intercepts any longer.
	if got := <-hits; got != "/paused odd" {
		t.Error(got)
	}
	shared := s.debug.only()
	s.debug.await("the resets", func() *sharedPage {
		if s.debug.sent["Runtime.removeBinding"] == 1 && s.debug.sent["Page.removeScriptToEvaluateOnNewDocument"] == 1 {
			return shared
		}
		return nil
	})
	s.visit(stays, held, "/two")
	if got := stays.Evaluate(held, "window.added + ' ' + (navigator.userAgent !== 'odd')"); got != "undefined true" {
		t.Error(got)
	}
	// The debugger still gets the page's events.
	if s.debug.reached("Runtime.disable")+s.debug.reached("Page.disable")+s.debug.reached("Network.disable") != 0 {
		t.Error("a domain of the debugger's was turned off")
	}
}

// TestResetsAreUnderstood: Chromium accepts every reset command, with its
// parameters.
func TestResetsAreUnderstood(t *testing.T) {
	s := newScene(t)
	s.get("GET", "/json/list")
	session := s.debug.only().session
	for method, u := range virtual.Resets() {
		got := make(chan reply, 1)
		s.debug.send(session, u[0], u[1], func(r reply) { got <- r })
		var failure struct{ Code int }
		if r := <-got; r.Error != nil && (json.Unmarshal(r.Error, &failure) != nil || failure.Code != -32000) {
			t.Errorf("%s is reset by %s %s: %s", method, u[0], u[1], r.Error)
		} else if r.Error != nil {
			t.Logf("%s is reset by %s %s: %s", method, u[0], u[1], r.Error)
		}
	}
}

// TestResetOfSeveral: each of several settings is reset alone, one with two names too.
// One that another client has set as well is not.
func TestResetOfSeveral(t *testing.T) {
	s := newScene(t)
	a, b := cdptest.Dial(t, s.url), cdptest.Dial(t, s.url)
	sa, sb := s.attach(a), s.attach(b)
	for _, kind := range []string{"gyroscope", "accelerometer"} {
		a.Call(sa, "Emulation.setSensorOverrideEnabled", `{"enabled":true,"type":"`+kind+`"}`, nil)
	}
	a.Call(sa, "Page.setGeolocationOverride", `{"latitude":1,"longitude":2,"accuracy":3}`, nil)
	b.Call(sb, "Emulation.setFocusEmulationEnabled", `{"enabled":true}`, nil)
	a.Call(sa, "Emulation.setFocusEmulationEnabled", `{"enabled":true}`, nil)
	until := func(sensors, places, focus int) {
		t.Helper()
		shared := s.debug.only()
		s.debug.await("the resets", func() *sharedPage {
			if s.debug.sent["Emulation.setSensorOverrideEnabled"] == sensors &&
				s.debug.sent["Emulation.clearGeolocationOverride"] == places &&
				s.debug.sent["Emulation.setFocusEmulationEnabled"] == focus {
				return shared
			}
			return nil
		})
	}
	until(2, 0, 2)
	a.Leave()
	until(4, 1, 2)
	b.Leave()
	until(4, 1, 3)
}
