package policy

import (
	"encoding/base64"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

func TestConditions(t *testing.T) {
	for _, c := range []struct {
		method, params string
		class          Class
	}{
		{"Runtime.evaluate", `{"expression":"1"}`, Mutating},
		{"Runtime.evaluate", ``, Mutating},
		{"Runtime.evaluate", `{"expression":"document.title"}`, Mutating},
		{"Runtime.evaluate", `{"expression":"1","timeout":500,"throwOnSideEffect":true}`, Mutating},
		{"Runtime.callFunctionOn", `{"functionDeclaration":"() => { return document.title; }"}`, Mutating},
		{"Debugger.evaluateOnCallFrame", `{"callFrameId":"1","expression":"x","timeout":500,"throwOnSideEffect":true}`, Mutating},
		{"Page.addScriptToEvaluateOnNewDocument", `{"source":"//# sourceURL=x\revil()"}`, Mutating},
		{"Page.addScriptToEvaluateOnNewDocument", `{"source":"//# sourceURL=x\u2028evil()"}`, Mutating},
		{"Page.addScriptToEvaluateOnNewDocument", `{"source":"","worldName":"w"}`, ReadOnly},
		{"Page.addScriptToEvaluateOnNewDocument", `{"source":"//# sourceURL=x"}`, ReadOnly},
		{"Page.addScriptToEvaluateOnNewDocument", `{"source":"//# sourceURL=x\nevil()"}`, Mutating},
		{"Page.addScriptToEvaluateOnNewDocument", `{"source":"evil()"}`, Mutating},
		{"Page.addScriptToEvaluateOnNewDocument", `{}`, Mutating},
		{"Fetch.continueRequest", `{"requestId":"1"}`, ReadOnly},
		{"Fetch.continueRequest", `{"requestId":"1","url":"http://x"}`, Mutating},
		{"Page.setInterceptFileChooserDialog", `{"enabled":false}`, ReadOnly},
		{"Page.setInterceptFileChooserDialog", `{"enabled":true}`, Mutating},
		{"Page.setInterceptFileChooserDialog", `{}`, Mutating},
		{"Page.captureScreenshot", `{"format":"png"}`, ReadOnly},
		{"Page.captureScreenshot", ``, ReadOnly},
		{"Page.captureScreenshot", `{"captureBeyondViewport":false,"fromSurface":true}`, ReadOnly},
		{"Page.captureScreenshot", `{"fromSurface":false}`, Mutating},
		{"Page.captureScreenshot", `{"clip":{"x":0,"y":0,"width":9,"height":9,"scale":1},"captureBeyondViewport":false}`, Mutating},
		{"Page.captureScreenshot", `{`, Mutating},
		{"Runtime.getProperties", `{"objectId":"1","ownProperties":true,"nonIndexedPropertiesOnly":false}`, ReadOnly},
		{"Runtime.getProperties", `{"objectId":"1","ownProperties":true,"nonIndexedPropertiesOnly":true}`, Mutating},
		{"Runtime.getProperties", `{"objectId":"1"}`, Mutating},
		{"Network.enable", `{"maxPostDataSize":65536}`, ReadOnly},
		{"Network.enable", `{"maxPostDataSize":1e12}`, Mutating},
		{"Network.enable", `{"maxPostDataSize":1000000000}`, Mutating},
		{"DOM.enable", `{"newParameter":1}`, Mutating},
		{"DOM.querySelector", `{"nodeId":1,"selector":"` + strings.Repeat("x", maxReading) + `"}`, Mutating},
		{"CSS.resolveValues", `{"values":["1em"],"nodeId":1}`, Mutating},
		{"CSS.resolveValues", `{"values":["1em"],"nodeId":1,"pseudoType":"interest-hint"}`, Destructive},
		{"CSS.resolveValues", `{"values":["1em"],"nodeId":1,"pseudoType":"x","pseudoType":"interest-hint"}`, Destructive},
		{"Page.printToPDF", `{"displayHeaderFooter":true,"headerTemplate":"<style>p { color: red }</style>"}`, Mutating},
		{"Page.printToPDF", `{"displayHeaderFooter":true,"footerTemplate":"\u003cLINK rel=stylesheet href=x>"}`, Destructive},
		{"Page.printToPDF", `{"displayHeaderFooter":false,"footerTemplate":"<link>"}`, Mutating},
		{"Page.captureScreenshot", `{"captureBeyondViewport":true}`, Mutating},
		{"Page.captureScreenshot", `{"\u0063aptureBeyondViewport":true}`, Mutating},
		{"Page.captureScreenshot", `{"captureBeyondViewport":false,"captureBeyondViewport":true}`, Mutating},
		{"Page.close", ``, Mutating},
		{"WebAuthn.disable", ``, Mutating},
		{"HeapProfiler.stopSampling", ``, Mutating},
		{"HeapProfiler.stopTrackingHeapObjects", ``, Mutating},
		{"Memory.stopSampling", ``, Mutating},
		{"Browser.close", ``, Destructive},
		{"Nobody.knows", `{}`, Mutating},
	} {
		if got := Command(c.method, json.RawMessage(c.params)).Class; got != c.class {
			t.Errorf("%s %s %v, want %v", c.method, c.params, got, c.class)
		}
	}
}

// TestCategory: what a user who allows a kind of action allows, and nothing that only
// resembles it.
func TestCategory(t *testing.T) {
	for want, operations := range map[string][]Operation{
		"input":      {Command("Input.insertText", nil)},
		"navigation": {Command("Page.navigate", json.RawMessage(`{"url":"https://shop.test/"}`))},
		"script":     {Command("Runtime.evaluate", nil)},
		"storage":    {Command("Network.setCookie", nil)},
		"debugger":   {Command("Debugger.resume", nil)},
		"": {
			Command("New.method", nil), Command("Page.reload", json.RawMessage(`{"scriptToEvaluateOnLoad":"x()"}`)),
			Command("Page.navigate", json.RawMessage(`{"url":"javascript:x()"}`)), Command("Page.navigate", json.RawMessage(`{"url":"chrome://crash"}`)),
			Command("Page.navigate", nil), Command("Page.navigate", json.RawMessage(`{`)),
			Command("Page.addScriptToEvaluateOnNewDocument", json.RawMessage(`{"source":""}`)),
		},
	} {
		for _, o := range operations {
			if o.Category != want {
				t.Errorf("%s has the category %q, want %q", o.Name, o.Category, want)
			}
		}
	}
}

func TestNesting(t *testing.T) {
	params := json.RawMessage(`{"expression":"1"}`)
	method := "Runtime.evaluate"
	for depth := range nesting + 1 {
		want := Mutating
		if depth >= nesting {
			want = Destructive // no client needs it
		}
		if got := Command(method, params); got.Class != want {
			t.Errorf("%d deep: %+v, want %v", depth, got, want)
		}
		inner, _ := json.Marshal(map[string]any{"id": 1, "method": method, "params": params})
		params, _ = json.Marshal(map[string]string{"message": string(inner)})
		method = "Target.sendMessageToTarget"
	}
}

func TestTarget(t *testing.T) {
	long := strings.Repeat("ä", 5000)
	for _, c := range []struct{ method, params, want string }{
		{"Page.navigate", `{"url":"http://shop.test/"}`, "http://shop.test/"},
		{"Page.navigate", `{"url":7}`, "7"},
		{"Page.navigate", `{}`, ""},
		{"Runtime.evaluate", `{"expression":"a(\n\t1\n)"}`, "a( 1 )"},
		{"Runtime.evaluate", `{"expression":"` + long + `"}`, strings.Repeat("ä", 40) + " …(9880 bytes left out)… " + strings.Repeat("ä", 20)},
		{"Runtime.evaluate", `{"expression":"1","expression":"evil()"}`, `{"expression":"1","expression":"evil()"}`},
		{"Page.reload", `{"ignoreCache":true,"scriptToEvaluateOnLoad":"evil()"}`, "scriptToEvaluateOnLoad: evil()"},
		{"Runtime.callFunctionOn", `{"functionDeclaration":"(f, x) => f(x)","objectId":"1","arguments":[{"objectId":"2"},{"value":["evil()"]}],"returnByValue":true}`, "(f, x) => f(x), value: evil()"},
		{"Debugger.setBreakpointByUrl", `{"lineNumber":1,"url":"http://x/","condition":"evil()"}`, "http://x/, condition: evil()"},
		{"Fetch.fulfillRequest", `{"requestId":"1","responseCode":200,"body":"` + base64.StdEncoding.EncodeToString([]byte("<script>evil()</script>")) + `"}`, "body: <script>evil()</script>"},
		{"Fetch.fulfillRequest", `{"body":"` + base64.StdEncoding.EncodeToString([]byte("begin"+strings.Repeat(" ", 100_000)+"evil()")) + `"}`, "body: begin …(100000 bytes left out)… evil()"},
		{"New.method", `{"code":"evil()"}`, "code: evil()"},
		{"New.method", `{"a":` + strings.Repeat("[", 12) + `"evil()"` + strings.Repeat("]", 12) + `}`, `a: [[[["evil()"]]]]`},
		{"PWA.launch", `{"manifestId":"https://evil.example/app"}`, "https://evil.example/app"},
		{"Network.setCookie", `{"name":"a","value":"secret","url":"http://x/"}`, "a, url: http://x/"},
		{"Network.setCookies", `{"cookies":[{"name":"a","value":"secret"}]}`, "name: a"},
		{"Input.insertText", `{"text":"secret"}`, ""},
		{"Input.dispatchKeyEvent", `{"type":"char","text":"s"}`, "char"},
		{"DOM.setFileInputFiles", `{"files":["/a","/b"]}`, `["/a","/b"]`},
		{"Page.captureScreenshot", `{}`, ""},
	} {
		if got := Command(c.method, json.RawMessage(c.params)).Detail(); got != c.want {
			t.Errorf("%s %.100s: %q, want %q", c.method, c.params, got, c.want)
		}
	}
}

// TestParametersAreBounded: a method that carries files may have more.
func TestParametersAreBounded(t *testing.T) {
	client := Actor{Kind: Client, ID: "c", AllowClose: true, Choice: Choice{State: State{Mode: ModeFull}, Granted: true}}
	big := `{"x":"` + strings.Repeat("x", maxParameters) + `"}`
	message, _ := json.Marshal(map[string]string{"message": `{"method":"DOM.setOuterHTML","params":` + big + `}`})
	for _, c := range []struct {
		method, params string
		outcome        Outcome
	}{
		{"DOM.setOuterHTML", big, Deny}, {"DOM.querySelector", big, Deny}, {"New.method", big, Deny}, {"Browser.close", big, Deny},
		{"Target.sendMessageToTarget", string(message), Deny},
		{"DOM.setOuterHTML", big[:maxParameters], Allow}, {"Runtime.callFunctionOn", big, Allow}, {"Fetch.fulfillRequest", big, Allow},
	} {
		d := Decide(client, Command(c.method, json.RawMessage(c.params)))
		if d.Outcome != c.outcome || c.outcome == Deny && !strings.Contains(d.Err().Error(), "16 MB") {
			t.Errorf("%s: %+v", c.method, d)
		}
	}
}

// TestPartsAreBounded: a selector or a list costs the page's thread the time of all nodes for
// each part of it, so that what only looks has few.
func TestPartsAreBounded(t *testing.T) {
	client := Actor{Kind: Client, ID: "c", Choice: Choice{State: State{Mode: ModeView}}}
	list := func(n int) string { return "[" + strings.Repeat(`"top",`, n-1) + `"top"]` }
	for _, c := range []struct {
		method, params string
		outcome        Outcome
	}{
		{"DOM.querySelectorAll", `{"nodeId":1,"selector":".a` + strings.Repeat(":not(.b .c .a)", 4000) + `"}`, Deny},
		{"DOM.querySelector", `{"nodeId":1,"selector":"` + strings.Repeat(`\u003a`, 1001) + `"}`, Deny},
		{"DOM.querySelector", `{"nodeId":1,"selector":"` + strings.Repeat(`\u003a`, 1000) + `"}`, Allow},
		{"DOM.querySelector", `{"nodeId":1,"selector":{"a":1}}`, Deny},
		{"DOMSnapshot.captureSnapshot", `{"computedStyles":` + list(101) + `}`, Deny},
		{"DOMSnapshot.captureSnapshot", `{"computedStyles":` + list(100) + `,"includePaintOrder":true}`, Allow},
		{"DOMSnapshot.captureSnapshot", `{"computedStyles":[]}`, Allow},
		{"CSS.trackComputedStyleUpdates", `{"propertiesToTrack":` + list(101) + `}`, Deny},
		{"Network.enable", `{"maxTotalBufferSize":-1}`, Deny},
		{"Network.enable", `{"maxTotalBufferSize":0}`, Allow},
	} {
		if d := Decide(client, Command(c.method, json.RawMessage(c.params))); d.Outcome != c.outcome {
			t.Errorf("%s %.80s: %+v", c.method, c.params, d)
		}
	}
}

// TestTableIsStrict: an empty or repeated entry is found at the start.
func TestTableIsStrict(t *testing.T) {
	for _, table := range []string{
		"read-only", "looks Page.enable", "unknown Page.enable", "read-only Page.enable\nmutating Page.enable",
		"mutating Page.navigate unless:never", "mutating Page.navigate destructive:never", "mutating Page.navigate shows", "mutating Page.navigate view:done",
		"mutating Page.navigate denied:ignored", "mutating Page.navigate shared:never", "mutating Page.navigate shared:ignored:never", "mutating Page.navigate shared:ignored:",
		"read-only Page.enable with", "read-only Page.enable with:", "read-only Page.enable with:a,", "read-only Page.enable with:a=", "read-only Page.enable with:a<=b", "mutating Page.navigate hides", "mutating Page.navigate large:1",
		"mutating Page.navigate category", "mutating Page.navigate category:never", "mutating Page.navigate category:input:never",
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q is taken", table)
				}
			}()
			parse("methods.txt", table)
		}()
	}
	for name := range conditions {
		if !regexp.MustCompile(` (unless|destructive|shared:\w+|category:\w+):` + name + `\b`).MatchString(methodTable) {
			t.Errorf("no operation uses the condition %s", name)
		}
	}
}

// FuzzCommand: no parameters cause a panic, or two different results.
func FuzzCommand(f *testing.F) {
	f.Add("Runtime.evaluate", []byte(`{"expression":"1","timeout":500,"throwOnSideEffect":true}`))
	f.Add("Target.sendMessageToTarget", []byte(`{"message":"{\"id\":1,\"method\":\"Browser.close\"}"}`))
	f.Add("Page.navigate", []byte(`{"url":"\ud800"}`))
	f.Fuzz(func(t *testing.T, method string, params []byte) {
		if a, b := Command(method, params), Command(method, params); a.Name != b.Name || a.Class != b.Class || a.Detail() != b.Detail() {
			t.Errorf("%+v, then %+v", a, b)
		}
	})
}

// TestDebugURLs: these URLs end the browser, or a process of it, in every spelling. The
// list has all that ended Chromium in trials.
func TestDebugURLs(t *testing.T) {
	for _, address := range []string{
		"chrome://crash", "chrome://crash/", "CHROME://CRASH", "chrome:crash", "chrome:/crash", "chrome:///crash", "chrome:/\\crash", `chrome:\\crash`,
		" \x00\t\nchrome://crash \x1f", "chr\nome://cr\ta\rsh", "chrome://cr%61sh", "chrome://%63%72ash", "chrome://cr%2561sh%zz", "chrome://\uff43rash", "chrome://cra\u00adsh",
		"chrome://x@crash:80/", "chrome://a:b@crash", "chrome://crash:1", "chrome://crash?x#y", "chrome://crash#", "chrome://crash/rust", "chrome://crash/browser/use-after-free", "chrome://crash.",
		"view-source:chrome://crash", "View-Source:view-source: chrome:crash", "about:crash", "about://crash", "about:kill", "edge://crash", "brave://quit", "vivaldi:restart",
		"chrome://inducebrowsercrashforrealz", "chrome://inducebrowserdcheckforrealz/", "chrome://kill", "chrome://hang", "chrome://shorthang", "chrome://gpucrash", "chrome://memory-exhaust",
		"chrome://quit", "chrome://restart", "chrome://badcastcrash",
	} {
		for _, method := range []string{"Page.navigate", "Target.createTarget"} {
			params, _ := json.Marshal(map[string]string{"url": address})
			if got := Command(method, params); got.Class != Destructive {
				t.Errorf("%s %q %v", method, address, got.Class)
			}
		}
	}
	for _, address := range []string{
		"", "crash", "//crash", "http://crash/", "https://x/chrome://crash", "about:blank", "about:blank#crash", "about:srcdoc", "chrome://version", "chrome://crashes", "chrome://settings/crash",
		"chrome://gpu", "data:text/html,crash", "data:crash", "javascript:quit", "file:///crash", "view-source:http://crash", "view-source:", "devtools://devtools/bundled/inspector.html",
		"http://\u00e4.test/", "chrome://kill@version",
	} {
		params, _ := json.Marshal(map[string]string{"url": address})
		if got := Command("Page.navigate", params); got.Class != Mutating {
			t.Errorf("%q %v", address, got.Class)
		}
	}
	for params, want := range map[string]Class{
		`{"url":"about:blank","url":"chrome://crash"}`: Destructive, `{"url":"\u0063hrome://crash"}`: Destructive, `{"\u0075rl":"chrome://crash"}`: Destructive, `{}`: Mutating, ``: Mutating, `{"url":7}`: Mutating,
	} {
		if got := Command("Page.navigate", json.RawMessage(params)); got.Class != want {
			t.Errorf("%s %v, want %v", params, got.Class, want)
		}
	}
}
