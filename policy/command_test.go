package policy

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestDecideCommand: each mode, with each kind of command.
func TestDecideCommand(t *testing.T) {
	full, view, ask := Permission{Mode: ModeFull}, Permission{Mode: ModeView}, Permission{Mode: ModeAsk}
	allowed, closes := Permission{Mode: ModeAsk, Allowed: true}, Permission{Mode: ModeFull, AllowClose: true}
	const read, mutate, crash, connects = "Page.getFrameTree", "Page.navigate", "Page.crash", "Emulation.setEmulatedMedia"
	for name, c := range map[string]struct {
		permission Permission
		method     string
		outcome    Outcome
		reason     string
	}{
		"read in view":                   {view, read, Allow, ""},
		"read in ask":                    {ask, read, Allow, ""},
		"read in full":                   {full, read, Allow, ""},
		"mutate in view":                 {view, mutate, Deny, `"view": clients may look`},
		"mutate in ask":                  {ask, mutate, Deny, `"ask", and its user has not let`},
		"mutate in full":                 {full, mutate, Allow, ""},
		"mutate when allowed":            {allowed, mutate, Allow, ""},
		"allowed, now in view":           {Permission{Mode: ModeView, Allowed: true}, mutate, Deny, `"view"`},
		"mutate in an unknown mode":      {Permission{Mode: "wide", Allowed: true}, mutate, Deny, `"wide"`},
		"mutate without a mode":          {Permission{}, mutate, Deny, `""`},
		"a client connects in view":      {view, connects, Ignore, ""},
		"a client connects in ask":       {ask, connects, Ignore, ""},
		"a client connects in full":      {full, connects, Allow, ""},
		"crash in full":                  {full, crash, Deny, "--allow-close"},
		"crash when allowed":             {allowed, crash, Deny, "--allow-close"},
		"crash in view":                  {view, crash, Deny, `"view"`},
		"crash with --allow-close":       {closes, crash, Allow, ""},
		"crash with --allow-close, view": {Permission{Mode: ModeView, AllowClose: true}, crash, Deny, `"view"`},
		"crash with --allow-close, ask":  {Permission{Mode: ModeAsk, AllowClose: true}, crash, Deny, `"ask"`},
		"close in full":                  {full, "Browser.close", Disconnect, "stays open"},
		"close in view":                  {view, "Browser.close", Deny, `"view"`},
		"unknown in full":                {full, "New.method", Allow, ""},
		"unknown in view":                {view, "New.method", Deny, `"view"`},
		"disable a domain in view":       {view, "DOM.disable", Allow, ""},
		"disable another one in view":    {view, "WebAuthn.disable", Deny, ""},
	} {
		d := DecideCommand(c.permission, c.method, nil)
		if d.Outcome != c.outcome || (d.Err() == nil) != (c.outcome == Allow) || c.reason != "" &&
			!strings.Contains(d.Err().Error(), c.reason) {
			t.Errorf("%s: %+v, want %+v", name, d, c)
		}
	}
}

// TestParameters: what a client may send with a method, when it looks and when it acts.
func TestParameters(t *testing.T) {
	list := func(n int) string { return "[" + strings.Repeat(`"top",`, n-1) + `"top"]` }
	for _, c := range []struct {
		method, params string
		view, full     Outcome
	}{
		{"Runtime.evaluate", `{"expression":"1"}`, Deny, Allow},
		{"Runtime.evaluate", `{"expression":"1","timeout":500,"throwOnSideEffect":true}`, Deny, Allow},
		{"Runtime.evaluate", `{"expression":"1","expression":"2"}`, Deny, Allow},
		{"Page.addScriptToEvaluateOnNewDocument", `{"source":"//# sourceURL=x\revil()"}`, Deny, Allow},
		{"Page.addScriptToEvaluateOnNewDocument", `{"source":"//# sourceURL=x\u2028evil()"}`, Deny, Allow},
		{"Page.addScriptToEvaluateOnNewDocument", `{"source":"//# sourceURL=x\nevil()"}`, Deny, Allow},
		{"Page.addScriptToEvaluateOnNewDocument", `{"source":"/* */ evil()"}`, Deny, Allow},
		{"Page.addScriptToEvaluateOnNewDocument", `{"source":"evil()"}`, Deny, Allow},
		{"Page.addScriptToEvaluateOnNewDocument", `{"source":["//"]}`, Deny, Allow},
		{"Page.addScriptToEvaluateOnNewDocument", `{}`, Deny, Allow},
		{"Page.addScriptToEvaluateOnNewDocument", `{"source":"","worldName":"w"}`, Allow, Allow},
		{"Page.addScriptToEvaluateOnNewDocument", `{"source":"\n//# sourceURL=x\n"}`, Allow, Allow},
		{"Page.setInterceptFileChooserDialog", `{"enabled":false}`, Allow, Allow},
		{"Page.setInterceptFileChooserDialog", `{"enabled":true}`, Deny, Allow},
		{"Page.setInterceptFileChooserDialog", `{}`, Deny, Allow},
		{"Page.captureScreenshot", ``, Allow, Allow},
		{"Page.captureScreenshot", `null`, Allow, Allow},
		{"Page.captureScreenshot", `{"captureBeyondViewport":false,"fromSurface":true,"format":"png"}`, Allow, Allow},
		{"Page.captureScreenshot", `{"fromSurface":false}`, Deny, Allow},
		{"Page.captureScreenshot", `{"captureBeyondViewport":true}`, Deny, Allow},
		{"Page.captureScreenshot", `{"\u0063aptureBeyondViewport":true}`, Deny, Allow},
		{"Page.captureScreenshot", `{"captureBeyondViewport":false,"captureBeyondViewport":true}`, Deny, Deny},
		{"Page.captureScreenshot", `{`, Deny, Deny},
		{"Page.captureScreenshot", `{"clip":{"x":0,"y":0,"width":9,"height":9,"scale":1}}`, Deny, Allow},
		{"Page.captureScreenshot", `{"clip":{"x":0,"y":0,"width":1280,"height":20000,"scale":2}}`, Deny, Allow},
		{"Page.captureScreenshot", `{"clip":{"x":0,"y":0,"width":9,"height":9,"scale":10000}}`, Deny, Deny},
		{"Page.captureScreenshot", `{"clip":{"x":0,"y":0,"width":9,"Width":0,"height":9,"scale":1e4}}`, Deny, Deny},
		{"Page.captureScreenshot", `{"clip":{"x":0,"y":0,"width":9,"height":9,"scale":1e4,"scale":1}}`, Deny, Deny},
		{"Page.captureScreenshot", `{"clip":"x"}`, Deny, Deny},
		{"Runtime.getProperties", `{"objectId":"1","ownProperties":true,"nonIndexedPropertiesOnly":false}`, Allow,
			Allow},
		{"Runtime.getProperties", `{"objectId":"1","ownProperties":true,"nonIndexedPropertiesOnly":true}`, Deny, Allow},
		{"Runtime.getProperties", `{"objectId":"1"}`, Deny, Allow},
		{"Network.enable", `{"maxPostDataSize":65536}`, Allow, Allow},
		{"Network.enable", `{"maxPostDataSize":0}`, Allow, Allow},
		{"Network.enable", `{"maxPostDataSize":-1}`, Deny, Allow},
		{"Network.enable", `{"maxPostDataSize":1e12}`, Deny, Allow},
		{"Network.enable", `{"maxPostDataSize":1000000000}`, Deny, Allow},
		{"DOM.enable", `{"newParameter":1}`, Deny, Allow},
		{"DOM.disable", `{"newParameter":1}`, Deny, Allow},
		{"DOM.querySelector", `{"nodeId":1,"selector":"` + strings.Repeat("x", maxReading) + `"}`, Deny, Allow},
		{"DOM.querySelectorAll", `{"nodeId":1,"selector":".a` + strings.Repeat(":not(.b .c .a)", 4000) + `"}`, Deny,
			Allow},
		{"DOM.querySelector", `{"nodeId":1,"selector":"` + strings.Repeat(`\u003a`, 1001) + `"}`, Deny, Allow},
		{"DOM.querySelector", `{"nodeId":1,"selector":"` + strings.Repeat(`\u003a`, 1000) + `"}`, Allow, Allow},
		{"DOM.querySelector", `{"nodeId":1,"selector":{"a":1}}`, Deny, Allow},
		{"DOMSnapshot.captureSnapshot", `{"computedStyles":` + list(101) + `}`, Deny, Allow},
		{"DOMSnapshot.captureSnapshot", `{"computedStyles":` + list(100) + `,"includePaintOrder":true}`, Allow, Allow},
		{"DOMSnapshot.captureSnapshot", `{"computedStyles":[]}`, Allow, Allow},
		{"CSS.resolveValues", `{"values":["1em"],"nodeId":1}`, Deny, Allow},
		{"CSS.resolveValues", `{"values":["1em"],"nodeId":1,"pseudoType":"interest-hint"}`, Deny, Deny},
		{"CSS.resolveValues", `{"values":["1em"],"nodeId":1,"pseudoType":"x","pseudoType":"interest-hint"}`, Deny,
			Deny},
		{"Page.printToPDF", `{"displayHeaderFooter":true,"headerTemplate":"<style>p { color: red }</style>"}`, Deny,
			Allow},
		{"Page.printToPDF", `{"displayHeaderFooter":true,"footerTemplate":"\u003cLINK rel=stylesheet href=x>"}`, Deny,
			Deny},
		{"Page.printToPDF", `{"displayHeaderFooter":false,"footerTemplate":"<link>"}`, Deny, Allow},
		{"Target.sendMessageToTarget", `{"message":"{\"method\":\"Page.enable\"}"}`, Deny, Allow},
		{"Target.sendMessageToTarget", `{"message":"{\"method\":\"Page.crash\"}"}`, Deny, Deny},
		{"Target.sendMessageToTarget", `{"message":"{\"method\":\"Browser.close\"}"}`, Deny, Disconnect},
		{"Target.sendMessageToTarget", `{"message":"{\"method\":\"Page.enable\",\"method\":\"Page.crash\"}"}`, Deny,
			Deny},
		{"Target.sendMessageToTarget", `{"message":"{}"}`, Deny, Deny},
		{"Target.sendMessageToTarget", `{"message":1}`, Deny, Deny},
		{"Target.sendMessageToTarget", ``, Deny, Deny},
	} {
		for mode, want := range map[Mode]Outcome{ModeView: c.view, ModeFull: c.full} {
			if d := DecideCommand(Permission{Mode: mode}, c.method, json.RawMessage(c.params)); d.Outcome != want {
				t.Errorf("%s: %s %.120s: %+v, want %v", mode, c.method, c.params, d, want)
			}
		}
	}
}

func TestNesting(t *testing.T) {
	params := json.RawMessage(`{"expression":"1"}`)
	method := "Runtime.evaluate"
	for depth := range nesting + 2 {
		want := Allow
		if depth > nesting {
			want = Deny // no client needs it
		}
		if d := DecideCommand(Permission{Mode: ModeFull}, method, params); d.Outcome != want {
			t.Errorf("%d deep: %+v, want %v", depth, d, want)
		}
		inner, _ := json.Marshal(map[string]any{"id": 1, "method": method, "params": params})
		params, _ = json.Marshal(map[string]string{"message": string(inner)})
		method = Carrier
	}
}

// TestParametersAreBounded: a method that carries files may have more.
func TestParametersAreBounded(t *testing.T) {
	big := `{"x":"` + strings.Repeat("x", maxParameters) + `"}`
	message, _ := json.Marshal(map[string]string{"message": `{"method":"DOM.setOuterHTML","params":` + big + `}`})
	for _, c := range []struct {
		method, params string
		outcome        Outcome
	}{
		{"DOM.setOuterHTML", big, Deny}, {"DOM.querySelector", big, Deny}, {"New.method", big, Deny}, {"Browser.close",
			big, Deny},
		{Carrier, string(message), Deny},
		{"DOM.setOuterHTML", big[:maxParameters], Allow}, {"Runtime.callFunctionOn", big,
			Allow}, {"Fetch.fulfillRequest", big, Allow},
	} {
		d := DecideCommand(Permission{Mode: ModeFull, AllowClose: true}, c.method, json.RawMessage(c.params))
		if d.Outcome != c.outcome || c.outcome == Deny && !strings.Contains(d.Err().Error(), "16 MB") {
			t.Errorf("%s: %+v", c.method, d)
		}
	}
}

// TestViewListIsStrict: a line that says nothing, or what another one says, is found at the
// start.
func TestViewListIsStrict(t *testing.T) {
	for _, list := range []string{"enable", "Page.enable\nPage.enable", "Page.x a=", "Page.x <=1", "Page.x a<=b",
		"Page.x a<=0", "Page.x =1", "Page.x ignored a"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q is taken", list)
				}
			}()
			parseView(list)
		}()
	}
	for _, list := range []string{"enable", "Page: enable enable", "Page: enable\nPage: enable"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q is taken", list)
				}
			}()
			parseMethods(list)
		}()
	}
}

// FuzzCommand: no parameters cause a panic, or two different results, and no command that
// ends the browser is allowed.
func FuzzCommand(f *testing.F) {
	f.Add("Runtime.evaluate", []byte(`{"expression":"1","timeout":500,"throwOnSideEffect":true}`))
	f.Add("Target.sendMessageToTarget", []byte(`{"message":"{\"id\":1,\"method\":\"Browser.close\"}"}`))
	f.Add("Page.navigate", []byte(`{"url":"\ud800"}`))
	f.Fuzz(func(t *testing.T, method string, params []byte) {
		for _, mode := range Modes {
			p := Permission{Mode: mode, Allowed: true}
			a, b := DecideCommand(p, method, params), DecideCommand(p, method, params)
			if a.Outcome != b.Outcome || (a.Err() == nil) != (b.Err() == nil) || a.Err() != nil &&
				a.Err().Error() != b.Err().Error() {
				t.Errorf("%s: %+v, then %+v", mode, a, b)
			}
			if condition, listed := destructive[method]; listed && condition == nil && a.Outcome == Allow {
				t.Errorf("%s: %s is allowed", mode, method)
			}
		}
	})
}

// TestDebugURLs: these URLs end the browser, or a process of it, in every spelling. The
// list has all that ended Chromium in trials.
func TestDebugURLs(t *testing.T) {
	for _, address := range []string{
		"chrome://crash", "chrome://crash/", "CHROME://CRASH", "chrome:crash", "chrome:/crash", "chrome:///crash",
		"chrome:/\\crash", `chrome:\\crash`,
		" \x00\t\nchrome://crash " +
			"\x1f", "chr\nome://cr\ta\rsh", "chrome://cr%61sh", "chrome://%63%72ash", "chrome://cr%2561sh%zz",
		"chrome://\uff43rash", "chrome://cra\u00adsh",
		"chrome://x@crash:80/", "chrome://a:b@crash", "chrome://crash:1", "chrome://crash?x#y", "chrome://crash#",
		"chrome://crash/rust", "chrome://crash/browser/use-after-free", "chrome://crash.",
		"view-source:chrome://crash", "View-Source:view-source: " +
			"chrome:crash", "about:crash", "about://crash", "about:kill", "edge://crash", "brave://quit",
		"vivaldi:restart",
		"chrome://inducebrowsercrashforrealz", "chrome://inducebrowserdcheckforrealz/", "chrome://kill",
		"chrome://hang", "chrome://shorthang", "chrome://gpucrash", "chrome://memory-exhaust",
		"chrome://quit", "chrome://restart", "chrome://badcastcrash",
	} {
		for _, method := range []string{"Page.navigate", "Target.createTarget"} {
			params, _ := json.Marshal(map[string]string{"url": address})
			if d := DecideCommand(Permission{Mode: ModeFull}, method, params); d.Outcome != Deny {
				t.Errorf("%s %q is allowed", method, address)
			}
		}
	}
	for _, address := range []string{
		"", "crash", "//crash", "http://crash/", "https://x/chrome://crash", "about:blank", "about:blank#crash",
		"about:srcdoc", "chrome://version", "chrome://crashes", "chrome://settings/crash",
		"chrome://gpu", "data:text/html,crash", "data:crash", "javascript:quit", "file:///crash",
		"view-source:http://crash", "view-source:", "devtools://devtools/bundled/inspector.html",
		"http://\u00e4.test/", "chrome://kill@version",
	} {
		params, _ := json.Marshal(map[string]string{"url": address})
		if d := DecideCommand(Permission{Mode: ModeFull}, "Page.navigate", params); d.Outcome != Allow {
			t.Errorf("%q: %v", address, d.Err())
		}
	}
	for params, want := range map[string]Outcome{
		`{"url":"about:blank","url":"chrome://crash"}`: Deny, `{"url":"\u0063hrome://crash"}`: Deny,
		`{"\u0075rl":"chrome://crash"}`: Deny, `{}`: Allow, ``: Allow, `{"url":7}`: Allow,
	} {
		if d := DecideCommand(Permission{Mode: ModeFull}, "Page.navigate", json.RawMessage(params)); d.Outcome != want {
			t.Errorf("%s: %v", params, d)
		}
	}
}
