package cdpproxy_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"browser-coordinator/internal/must"
	"browser-coordinator/policy"
)

// watchedPage has one of everything that a script could change despite V8's
// side-effect check. state() returns all of it.
const watchedPage = `<!doctype html><title>watched</title><canvas id=canvas width=2 height=2></canvas><p>text</p>
<script>
var seen = [];
var bytes = new Uint8Array(8), view = new DataView(bytes.buffer);
var memory = new WebAssembly.Memory({ initial: 1, maximum: 4 });
var table = new WebAssembly.Table({ initial: 1, maximum: 4, element: "anyfunc" });
var shared = new Uint8Array(memory.buffer);
var pixels = new ImageData(1, 1);
var taken = 0;
var steps = (function* () { for (;;) { taken++; yield taken; } })();
var entries = new Map([[1, 2], [3, 4]]).entries();
var letters = "abc"[Symbol.iterator]();
var matcher = /a/g;
var list = [3, 1, 2], set = new Set([1]), when = new Date(0);
async function echo(x) { return x; }
class Loud {
	get it() { seen.push("getter"); return 1; }
	toJSON() { seen.push("toJSON"); return {}; }
	toString() { seen.push("toString"); return ""; }
	[Symbol.toPrimitive]() { seen.push("toPrimitive"); return 1; }
	get [Symbol.toStringTag]() { seen.push("toStringTag"); return "Loud"; }
	get then() { seen.push("then"); }
}
var loud = new Loud();
Object.defineProperty(loud, "own", { enumerable: true, get() { seen.push("own getter"); return 1; } });
var proxy = new Proxy({}, Object.fromEntries(Reflect.ownKeys(Reflect).filter((k) => typeof k === "string")
  .map((k) => [k, (...a) => { seen.push("proxy " + k); return Reflect[k](...a); }])));
var reject, promise = new Promise((_, no) => { reject = no; });
addEventListener("unhandledrejection", (e) => { seen.push("unhandled rejection"); e.preventDefault(); });
addEventListener("beforeprint", () => seen.push("printed"));
new MutationObserver((all) => all.forEach((m) => seen.push("mutation " + m.type))).observe(document, {
  subtree: true, childList: true, attributes: true, characterData: true });
const names = new Set([...Object.getOwnPropertyNames(window), "state", "script"]);
function state() {
	const added = Object.getOwnPropertyNames(window).filter((n) => !names.has(n));
	return JSON.stringify([seen, [...bytes], shared[0], memory.buffer.byteLength, table.length, [...pixels.data],
		taken, matcher.lastIndex, list, [...set], +when, added, document.title,
		navigator.userActivation.hasBeenActive, localStorage.length, location.hash, history.length,
		[...document.getElementById("canvas").getContext("2d").getImageData(0, 0, 1, 1).data]]);
}
</script>
<script>var script = 1; // aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
//# sourceURL=searched
</script>`

// evasions are scripts by which a client changes a page, or blocks it for its user,
// although throwOnSideEffect is set.
var evasions = map[string][]string{
	"plain": {"window.evil = 1", "document.title = 'evil'", "document.body.click()", "fetch('/')",
		"eval('window.evil = 1')", "let evil = 1", "function evil() {}"},
	"a getter runs while the result is serialised": {
		"({ get x() { window.evil = 1 } })", "({ a: { get x() { window.evil = 1 } } })", "[{ get x() { window.evil = " +
			"1 } }]", "Object.defineProperty([], 0, { get() { window.evil = 1 }, enumerable: true })",
		"new (class { get x() { window.evil = 1 } })", "loud", "proxy", "({ loud, proxy })", "new Map([[{ get x() { " +
			"window.evil = 1 } }, 1]])",
		"new Proxy({}, { ownKeys() { window.evil = 1; return [] }, get() { window.evil = 1 }, " +
			"getOwnPropertyDescriptor() { window.evil = 1 }, getPrototypeOf() { window.evil = 1; return null } })",
	},
	"JSON serialisation": {"({ toJSON() { window.evil = 1 } })",
		"({ a: { toJSON() { window.evil = 1 } } })", "({ get toJSON() { window.evil = 1 } })"},
	"the description of an error": {"class E extends Error { get name() { window.evil = 1 } get message() { " +
		"window.evil = 1 } get stack() { window.evil = 1 } }; new E", "(() => { throw new (class extends Error { get " +
		"name() { window.evil = 1 } get message() { window.evil = 1 } }) })()", "Object.defineProperty(new " +
		"Error, 'name', { get() { window.evil = 1 } })", "Object.defineProperty(new Error, 'stack', { get() " +
		"{ window.evil = 1 } })", "Object.assign(new Error, { name: { [Symbol.toPrimitive]() { " +
		"window.evil = 1 } }, message: { toString() { window.evil = 1 } } })"},
	"what is thrown": {"throw { get x() { window.evil = 1 } }",
		"throw { toString() { window.evil = 1 } }", "throw new (class extends Error { get name() { window.evil = 1 } " +
			"})"},
	"names of a class": {"({ get constructor() { window.evil = 1 } })",
		"({ get [Symbol.toStringTag]() { window.evil = 1 } })", "({ [Symbol.toPrimitive]() { window.evil = 1 } }) + " +
			"''", "Object.defineProperty(new Date, Symbol.toPrimitive, { value() { window.evil = 1 } })"},
	"a view on the page's buffers": {"bytes[0] = 1", "bytes.fill(1)", "bytes.set([1])",
		"new Uint8Array(bytes.buffer)[0] " +
			"= 1", "new Uint8Array(bytes.buffer).fill(1)", "new Uint8Array(bytes.buffer).set([1])",
		"view.setUint8(0, 1)", "new DataView(bytes.buffer).setUint8(0, 1)",
		"Atomics.add(new Int32Array(bytes.buffer), 0, 1)", "bytes.sort().reverse().copyWithin(0, 1)",
		"new TextEncoder().encodeInto('evil', bytes)", "crypto.getRandomValues(bytes)",
		"bytes.buffer.transfer()"},
	"memory of WebAssembly": {"shared[0] = 1", "new Uint8Array(memory.buffer)[0] = 1",
		"new Uint8Array(memory.buffer).fill(1)", "memory.grow(1)", "table.grow(1)"},
	"image data": {"pixels.data[0] = 1", "pixels.data.fill(1)",
		"new Uint8Array(pixels.data.buffer).fill(1)", "canvas.getContext('2d').fillRect(0, 0, 2, " +
			"2)", "canvas.getContext('2d').putImageData(new ImageData(new Uint8ClampedArray(4).fill(255), 1, 1), 0, " +
			"0)"},
	"the page's iterators": {"steps.next()", "[...steps].length", "for (const x of steps) break",
		"const [a] = steps", "steps.return()", "entries.next()", "letters.next()", "Array.from({ length: 1, " +
			"[Symbol.iterator]: () => steps })", "new Set({ [Symbol.iterator]: () => ({ next: () => steps.next() }) " +
			"})"},
	"state of the page's own objects": {"matcher.test('aa')", "matcher.exec('a')", "'aa'.replace(matcher, 'b')",
		"list.sort()", "list.push(1)", "set.add(2)", "when.setTime(1)"},
	"what runs later": {"setTimeout(() => { window.evil = 1 }, 0)",
		"Promise.resolve().then(() => { window.evil = 1 })", "new Promise((r) => r({ then() { window.evil = 1 } " +
			"}))", "({ then(r) { window.evil = 1; r() } })", "(async () => ({ then(r) { window.evil = 1; r() } " +
			"}))()", "(async () => { await 0; window.evil = 1 })()", "echo({ then(r) { window.evil = 1; r() } " +
			"})", "queueMicrotask(() => { window.evil = 1 })", "new FinalizationRegistry(() => { window.evil " +
			"= 1 }).register({})"},
	"time and memory without end": {"for (;;);", "for (;;) { try { for (;;); } finally { continue } }",
		"/(a+)+b/.test('a'.repeat(50))", "'a'.repeat(2 ** 29 - 24).split('')", "(() => { const all = []; for (;;) " +
			"all.push(new Float64Array(1 << 24).fill(1)) })()", "(() => { let s = 'x'; for (;;) s = [s, s].join('') " +
			"})()", "(() => { const all = []; for (;;) all.push({}) })()"},
	"what clients send to look at pages": {"document.title", "location.href", "() => { return document.title; }",
		"document.documentElement.outerHTML"},
}

// ways are the parameters besides the script.
var ways = []string{
	`"throwOnSideEffect":true,"timeout":500`,
	`"throwOnSideEffect":true,"timeout":500,"returnByValue":true`,
	`"throwOnSideEffect":true,"timeout":500,"generatePreview":true`,
	`"throwOnSideEffect":true,"timeout":500,"serializationOptions":{"serialization":"deep"}`,
	`"throwOnSideEffect":true,"timeout":500,"serializationOptions":{"serialization":"json"}`,
	`"throwOnSideEffect":true,"timeout":500,"replMode":true,"includeCommandLineAPI":true`,
	`"throwOnSideEffect":true,"timeout":500,"awaitPromise":true,"userGesture":true`,
	`"throwOnSideEffect":true,"throwOnSideEffect":false`,
}

// watched opens the watched page in the browser itself and joins it in view mode.
func watched(t *testing.T, up upstream) (c *websocket.Conn, state func() string, own *websocket.Conn) {
	t.Helper()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, watchedPage)
	}))
	t.Cleanup(site.Close)
	_, addr := ruled(t, newUser(policy.ModeView), up.url, nil)
	id, own := directTab(t, site.URL)
	must.Do(t, up.handOver(id))
	return dial(t, addr, "/devtools/page/"+id), func() string {
		t.Helper()
		reply := exchange(t, own, `{"id":3,"method":"Runtime.evaluate","params":{"expression":"state()"}}`)
		result, _ := reply["result"].(map[string]any)
		value, _ := result["result"].(map[string]any)
		if text, ok := value["value"].(string); ok {
			return text
		}
		t.Fatalf("the page does not answer any more: %v", reply)
		return ""
	}, own
}

// inspect is a CDP message with these parameters.
func inspect(method string, params map[string]any) string {
	b, _ := json.Marshal(map[string]any{"id": 1, "method": method, "params": params})
	return string(b)
}

func refusedInView(reply map[string]any, method string) bool {
	return strings.HasPrefix(refusal(reply), method+` refused: the access mode is "view"`)
}

// TestNoCodeInView: in view mode no script of a client runs in the page, even if V8
// considers it harmless. Each class of evasion leaves the page unchanged.
func TestNoCodeInView(t *testing.T) { inEach(t, noCodeInView) }

func noCodeInView(t *testing.T, up upstream) {
	c, state, _ := watched(t, up)
	tree := exchange(t, c, `{"id":1,"method":"Page.getFrameTree"}`)["result"].(map[string]any)["frameTree"]
	world := tree.(map[string]any)["frame"].(map[string]any)["id"]
	isolated := exchange(t, c, inspect("Page.createIsolatedWorld", map[string]any{"frameId": world, "worldName": "w",
		"grantUniveralAccess": true}))
	if isolated["result"] == nil {
		t.Fatalf("clients that look need an isolated world: %v", isolated)
	}
	context := fmt.Sprint(isolated["result"].(map[string]any)["executionContextId"])
	before := state()
	for class, codes := range evasions {
		t.Run(class, func(t *testing.T) {
			for _, code := range codes {
				b, _ := json.Marshal(code)
				function, _ := json.Marshal("function () { return (" + code + ") }")
				for _, way := range ways {
					for method, params := range map[string]string{
						"Runtime.evaluate": `"expression":` + string(b),
						"Runtime.callFunctionOn": `"executionContextId":` + context + `,"functionDeclaration":` +
							string(function),
						"Debugger.evaluateOnCallFrame": `"callFrameId":"1.1.0","expression":` + string(b),
						"Runtime.compileScript":        `"persistScript":true,"sourceURL":"","expression":` + string(b),
						"Runtime.runScript":            `"scriptId":"1"`,
					} {
						reply := exchange(t, c, `{"id":1,"method":"`+method+`","params":{`+params+`,`+way+`}}`)
						if !refusedInView(reply, method) && !strings.Contains(refusal(reply), "stands twice") {
							t.Errorf("%s %s, %s: %v", method, code, way, reply)
						}
					}
				}
				if after := state(); after != before {
					t.Fatalf("%s: the page was\n%s\nand is\n%s", code, before, after)
				}
			}
		})
	}
}

// TestNoOccupationInView: a command that can occupy the page's thread or process
// for any time, or that shows in the page, is refused too. Each was observed to do
// so on Chromium 156.
func TestNoOccupationInView(t *testing.T) { inEach(t, noOccupationInView) }

func noOccupationInView(t *testing.T, up upstream) {
	c, state, own := watched(t, up)
	ask := func(method string, params map[string]any) map[string]any {
		t.Helper()
		result, _ := exchange(t, c, inspect(method, params))["result"].(map[string]any)
		return result
	}
	// A promise of the page, and its script, as a read-only client gets them.
	exchange(t, own, `{"id":3,"method":"Runtime.evaluate","params":{"expression":"console.log(promise, loud, proxy)"}}`)
	ask("DOM.enable", nil)
	handles := eventWith(t, c, `{"id":1,"method":"Runtime.enable"}`, "Runtime.consoleAPICalled", "args")["args"].([]any)
	handle := func(i int) any { return handles[i].(map[string]any)["objectId"] }
	script := eventWith(t, c, `{"id":1,"method":"Debugger.enable"}`, "Debugger.scriptParsed", `"searched"`)
	tree := ask("Page.getResourceTree", nil)["frameTree"].(map[string]any)["frame"].(map[string]any)
	ask("Page.enable", nil)
	before := state()

	// Reading the handles of objects runs no script of the page.
	for i := range handles {
		for _, params := range []map[string]any{{"ownProperties": true},
			{"ownProperties": true, "generatePreview": true}, {"ownProperties": true, "accessorPropertiesOnly": true,
				"generatePreview": true}} {
			params["objectId"] = handle(i)
			ask("Runtime.getProperties", params)
		}
		ask("DOM.describeNode", map[string]any{"objectId": handle(i)})
		ask("DOMDebugger.getEventListeners", map[string]any{"objectId": handle(i)})
	}
	if after := state(); after != before {
		t.Errorf("the page was\n%s\nand is\n%s", before, after)
	}

	const slow = `(a+)+$|(.*)*(.*)*(.*)*(.*)*Q`
	for _, act := range []struct {
		method string
		params map[string]any
	}{
		{"Runtime.awaitPromise", map[string]any{"promiseObjectId": handle(0), "returnByValue": true}},
		{"Runtime.queryObjects", map[string]any{"prototypeObjectId": handle(0)}},
		{"Debugger.searchInContent", map[string]any{"scriptId": script["scriptId"], "query": slow, "isRegex": true}},
		{"Page.searchInResource", map[string]any{"frameId": tree["id"], "url": tree["url"], "query": slow,
			"isRegex": true}},
		{"Network.searchInResponseBody", map[string]any{"requestId": tree["loaderId"], "query": slow, "isRegex": true}},
		{"Runtime.compileScript", map[string]any{"expression": strings.Repeat("x", 8<<20), "sourceURL": "",
			"persistScript": true}},
		{"LayerTree.loadSnapshot", map[string]any{"tiles": []any{}}},
		{"LayerTree.replaySnapshot", map[string]any{"snapshotId": "1", "scale": 1e6}},
		{"LayerTree.profileSnapshot", map[string]any{"snapshotId": "1", "minRepeatCount": 1 << 30}},
		{"Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": "window.evil = 1", "runImmediately": true}},
		{"Page.addScriptToEvaluateOnLoad", map[string]any{"scriptSource": "window.evil = 1"}},
		{"Page.reload", map[string]any{"scriptToEvaluateOnLoad": "window.evil = 1"}},
		{"Page.navigate", map[string]any{"url": "javascript:window.evil=1"}},
		{"Page.setDocumentContent", map[string]any{"frameId": tree["id"], "html": "<script>evil = 1</script>"}},
		{"Debugger.setBreakpoint", map[string]any{"location": map[string]any{"scriptId": script["scriptId"],
			"lineNumber": 0}, "condition": "window.evil = 1"}},
		{"Debugger.setBreakpointByUrl", map[string]any{"lineNumber": 0, "urlRegex": ".*",
			"condition": "window.evil = 1"}},
		{"Debugger.setBreakpointOnFunctionCall", map[string]any{"objectId": handle(1), "condition": "window.evil = 1"}},
		{"Debugger.setScriptSource", map[string]any{"scriptId": script["scriptId"], "scriptSource": "window.evil = 1"}},
		{"Runtime.addBinding", map[string]any{"name": "evil"}},
		{"Runtime.setCustomObjectFormatterEnabled", map[string]any{"enabled": true}},
		{"DOM.setOuterHTML", map[string]any{"nodeId": 1, "outerHTML": "<img src=x onerror='evil = 1'>"}},
		{"DOM.setAttributeValue", map[string]any{"nodeId": 1, "name": "onclick", "value": "evil = 1"}},
		{"CSS.setStyleSheetText", map[string]any{"styleSheetId": "1", "text": "*{}"}},
		// These end the page's process or fill its memory.
		{"CSS.resolveValues", map[string]any{"values": []string{"1em"}, "nodeId": 1, "pseudoType": "interest-hint"}},
		{"Runtime.getProperties", map[string]any{"objectId": handle(1), "nonIndexedPropertiesOnly": true}},
		{"Runtime.getProperties", map[string]any{"objectId": handle(1), "ownProperties": false}},
		{"Accessibility.queryAXTree", map[string]any{"nodeId": 1}},
		{"Page.captureScreenshot", map[string]any{"clip": map[string]any{"x": 0, "y": 0, "width": 80, "height": 60,
			"scale": 2}}},
		{"Page.captureScreenshot", map[string]any{"clip": map[string]any{"x": 0, "y": 0, "width": 80, "height": 60,
			"scale": 1}, "captureBeyondViewport": false}},
		{"HeapProfiler.takeHeapSnapshot", nil},
		{"Tracing.start", nil},
		{"Network.enable", map[string]any{"maxTotalBufferSize": 1 << 40}},
		// This makes a hidden tab visible.
		{"Page.startScreenRecording", map[string]any{}},
		// This runs getters of the page.
		{"Runtime.getExceptionDetails", map[string]any{"errorObjectId": handle(1)}},
		// No rule knows it.
		{"DOM.getDocument", map[string]any{"depth": 1, "new": true}},
		{"DOM.querySelector", map[string]any{"nodeId": 1, "selector": strings.Repeat("* ", 40_000)}},
		{"DOM.performSearch",
			map[string]any{"query": "//*[count(//*[count(//*[count(//*[count(//*[count(//*[count(//*)>1])>1])>1])>1])>1])>1]"}},
		{"Page.printToPDF", map[string]any{"displayHeaderFooter": true,
			"headerTemplate": `<link rel=stylesheet href="http://127.0.0.1:1/"><script>for (;;);</script>`,
			"footerTemplate": "x"}},
	} {
		if reply := exchange(t, c, inspect(act.method, act.params)); !refusedInView(reply, act.method) {
			t.Errorf("%s: %v", act.method, reply)
		}
		if after := state(); after != before {
			t.Fatalf("%s: the page was\n%s\nand is\n%s", act.method, before, after)
		}
	}
	// The page still gets its rejection.
	exchange(t, own,
		`{"id":3,"method":"Runtime.evaluate","params":{"expression":"reject(new Error('late')); `+
			`new Promise((done) => setTimeout(done, 0))","awaitPromise":true}}`)
	if after := state(); !strings.Contains(after, "unhandled rejection") {
		t.Errorf("the page did not get its rejection: %s", after)
	}
}

// eventWith sends message and returns the parameters of the first event of that
// method that contains text.
func eventWith(t *testing.T, c *websocket.Conn, message, method, text string) map[string]any {
	t.Helper()
	send(t, c, message)
	var found map[string]any
	for {
		_, b, err := c.Read(testContext(t))
		if err != nil {
			t.Fatal(err)
		}
		var m struct {
			ID     int
			Method string
			Params map[string]any
		}
		if err := json.Unmarshal(b, &m); err != nil {
			t.Fatal(err)
		}
		if m.Method == method && found == nil && strings.Contains(string(b), text) {
			found = m.Params
		}
		if m.ID != 0 && found != nil { // its response follows the replayed events
			return found
		}
	}
}
