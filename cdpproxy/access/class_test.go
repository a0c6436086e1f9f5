package access

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestConditions(t *testing.T) {
	for _, c := range []struct {
		method, params string
		class          Class
	}{
		{"Runtime.evaluate", `{"expression":"1"}`, Acts},
		{"Runtime.evaluate", ``, Acts},
		{"Runtime.evaluate", `{"expression":"document.title"}`, Acts},
		{"Runtime.evaluate", `{"expression":"1","timeout":500,"throwOnSideEffect":true}`, Acts},
		{"Runtime.callFunctionOn", `{"functionDeclaration":"() => { return document.title; }"}`, Acts},
		{"Debugger.evaluateOnCallFrame", `{"callFrameId":"1","expression":"x","timeout":500,"throwOnSideEffect":true}`, Acts},
		{"Page.addScriptToEvaluateOnNewDocument", `{"source":"//# sourceURL=x\revil()"}`, Acts},
		{"Page.addScriptToEvaluateOnNewDocument", `{"source":"//# sourceURL=x\u2028evil()"}`, Acts},
		{"Page.addScriptToEvaluateOnNewDocument", `{"source":"","worldName":"w"}`, Reads},
		{"Page.addScriptToEvaluateOnNewDocument", `{"source":"//# sourceURL=x"}`, Reads},
		{"Page.addScriptToEvaluateOnNewDocument", `{"source":"//# sourceURL=x\nevil()"}`, Acts},
		{"Page.addScriptToEvaluateOnNewDocument", `{"source":"evil()"}`, Acts},
		{"Page.addScriptToEvaluateOnNewDocument", `{}`, Acts},
		{"Fetch.continueRequest", `{"requestId":"1"}`, Reads},
		{"Fetch.continueRequest", `{"requestId":"1","url":"http://x"}`, Acts},
		{"Page.setInterceptFileChooserDialog", `{"enabled":false}`, Reads},
		{"Page.setInterceptFileChooserDialog", `{"enabled":true}`, Acts},
		{"Page.setInterceptFileChooserDialog", `{}`, Acts},
		{"Page.captureScreenshot", `{"format":"png"}`, Reads},
		{"Page.captureScreenshot", ``, Reads},
		{"Page.captureScreenshot", `{"clip":{"x":0,"y":0,"width":9,"height":9,"scale":1},"captureBeyondViewport":false}`, Reads},
		{"Page.captureScreenshot", `{"captureBeyondViewport":true}`, Acts},
		{"Page.captureScreenshot", `{"\u0063aptureBeyondViewport":true}`, Acts},
		{"Page.captureScreenshot", `{"captureBeyondViewport":false,"captureBeyondViewport":true}`, Acts},
		{"Page.close", ``, Acts},
		{"WebAuthn.disable", ``, Acts},
		{"HeapProfiler.stopSampling", ``, Acts},
		{"HeapProfiler.stopTrackingHeapObjects", ``, Acts},
		{"Memory.stopSampling", ``, Acts},
		{"Browser.close", ``, Ends},
		{"Nobody.knows", `{}`, Acts},
	} {
		if got := Classify(c.method, json.RawMessage(c.params)).Class; got != c.class {
			t.Errorf("%s %s %v, want %v", c.method, c.params, got, c.class)
		}
	}
}

func TestNesting(t *testing.T) {
	params := json.RawMessage(`{"expression":"1"}`)
	method := "Runtime.evaluate"
	for depth := range nesting + 1 {
		want := Acts
		if depth >= nesting {
			want = Ends // nobody needs that
		}
		if got := Classify(method, params); got.Class != want {
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
		{"Runtime.evaluate", `{"expression":"` + long + `"}`, long[:shownBytes] + "…"},
		{"Input.insertText", `{"text":"secret"}`, ""},
		{"Input.dispatchKeyEvent", `{"type":"char","text":"s"}`, "char"},
		{"DOM.setFileInputFiles", `{"files":["/a","/b"]}`, `["/a","/b"]`},
		{"Page.captureScreenshot", `{}`, ""},
	} {
		if got := Classify(c.method, json.RawMessage(c.params)).Target; got != c.want {
			t.Errorf("%s %.100s: %q, want %q", c.method, c.params, got, c.want)
		}
	}
}

// TestTableIsStrict: a line that says nothing, or twice, is found at the start.
func TestTableIsStrict(t *testing.T) {
	for _, table := range []string{
		"reads", "looks Page.enable", "reads Page", "reads Page.enable\nacts Page.enable",
		"acts Page.navigate unless:never", "acts Page.navigate ends:never", "acts Page.navigate shows", "acts Page.navigate view:done",
	} {
		if _, err := parse(table); err == nil {
			t.Errorf("%q is taken", table)
		}
	}
	for name := range conditions {
		if !strings.Contains(table, " unless:"+name) && !strings.Contains(table, " ends:"+name) {
			t.Errorf("no method uses the condition %s", name)
		}
	}
}

// FuzzClassify: whatever the parameters, no panic, and never two answers.
func FuzzClassify(f *testing.F) {
	f.Add("Runtime.evaluate", []byte(`{"expression":"1","timeout":500,"throwOnSideEffect":true}`))
	f.Add("Target.sendMessageToTarget", []byte(`{"message":"{\"id\":1,\"method\":\"Browser.close\"}"}`))
	f.Add("Page.navigate", []byte(`{"url":"\ud800"}`))
	f.Fuzz(func(t *testing.T, method string, params []byte) {
		if a, b := Classify(method, params), Classify(method, params); a != b {
			t.Errorf("%+v, then %+v", a, b)
		}
	})
}

// TestDebugURLs: at these the browser, or a process of it, ends, however they are
// written. All that were tried out on Chromium with that result are here.
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
			if got := Classify(method, params); got.Class != Ends {
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
		if got := Classify("Page.navigate", params); got.Class != Acts {
			t.Errorf("%q %v", address, got.Class)
		}
	}
	for params, want := range map[string]Class{
		`{"url":"about:blank","url":"chrome://crash"}`: Ends, `{"url":"\u0063hrome://crash"}`: Ends, `{"\u0075rl":"chrome://crash"}`: Ends, `{}`: Acts, ``: Acts, `{"url":7}`: Acts,
	} {
		if got := Classify("Page.navigate", json.RawMessage(params)); got.Class != want {
			t.Errorf("%s %v, want %v", params, got.Class, want)
		}
	}
}
