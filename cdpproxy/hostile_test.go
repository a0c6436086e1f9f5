package cdpproxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy/discovery"
	"browser-coordinator/coordinator/chrome"
	"browser-coordinator/internal/cdptest"
	"browser-coordinator/policy"
)

// strangePage has nodes of every kind.
const strangePage = `<!doctype html><title>strange</title><!-- comment -->
<style>p::before { content: "x" } p::marker { color: red } ::highlight(a) { color: red }</style>
<div id=host><template shadowrootmode=open><p>in a shadow root</p><slot></slot></template><b>in a slot</b></div>
<div><template shadowrootmode=closed><p>in a closed one</p></template></div>
<template><p>in a template</p><template><i>in two</i></template></template>
<p style="display: list-item; width: 10px">text</p>
<input placeholder=x><input type=file><input type=range><textarea>x</textarea><progress></progress>
<details open><summary>s</summary>y</details>
<select><option>1</select><select multiple><optgroup label=l><option>2</optgroup></select>
<svg width=9 height=9><circle r=4 /><use href="#host" /></svg>
<math><mi>x</mi></math><canvas></canvas><video controls></video><img alt=x><dialog open>d</dialog>
<iframe srcdoc="<p>in a frame"></iframe>
<object></object><table><caption>c</caption><tr><td>1</table><div hidden>h</div><div popover>p</div><a href="#x">a</a>
<script>
var list = [1], proxy = new Proxy({}, {}), typed = new Uint8Array(9), map = new Map([[1, {}]]);
new WebAssembly.Memory({ initial: 1 });
for (const one of [list, proxy, typed, map, document, window, document.body, document.all,
  getComputedStyle(document.body), function () {}, new Error("e")]) console.log(one);
</script>`

// protocolOf is the part of /json/protocol that the tests need.
type protocolOf struct {
	Domains []struct {
		Domain   string
		Types    []*protocolType
		Commands []protocolCommand
	}
	types map[string]*protocolType // by full name
}

type protocolCommand struct {
	Name       string
	Parameters []*protocolType
}

type protocolType struct {
	ID, Name, Type string
	Ref            string `json:"$ref"`
	Enum           []string
	Optional       bool
	Items          *protocolType
	Properties     []*protocolType
}

func protocol(t *testing.T) *protocolOf {
	t.Helper()
	var b strings.Builder
	if err := discovery.WriteProtocol(&b); err != nil {
		t.Fatal(err)
	}
	p := &protocolOf{types: map[string]*protocolType{}}
	if err := json.Unmarshal([]byte(b.String()), p); err != nil {
		t.Fatal(err)
	}
	for _, d := range p.Domains {
		for _, one := range d.Types {
			p.types[d.Domain+"."+one.ID] = one
		}
	}
	return p
}

// resolve follows the reference of a type that a domain uses. It returns the name of the
// last one.
func (p *protocolOf) resolve(domain string, one *protocolType) (name string, inDomain string, found *protocolType) {
	for one.Ref != "" {
		name = one.Ref
		if !strings.Contains(name, ".") {
			name = domain + "." + name
		}
		domain, _, _ = strings.Cut(name, ".")
		one = p.types[name]
	}
	return name, domain, one
}

// strange opens strangePage in a browser of the test's own, and joins it at an endpoint in
// that mode.
func strange(t *testing.T, mode policy.Mode) (c *websocket.Conn, h *user, addr, id string) {
	t.Helper()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, strangePage)
	}))
	t.Cleanup(site.Close)
	browser := cdptest.Launch(t)
	host := strings.Split(browser.URL(), "/")[2]
	id = openTab(t, host)
	conn := dial(t, host, "/devtools/page/"+id)
	exchange(t, conn, `{"id":1,"method":"Page.enable"}`)
	byHand(t, conn, site.URL)
	waitEvent(t, conn, "Page.loadEventFired", "")
	h = newUser(mode)
	_, addr = ruled(t, h, browser.URL(), nil)
	return dial(t, addr, "/devtools/page/"+id), h, addr, id
}

// crashed reports whether the page's process ends before the response to a command comes.
func crashed(t *testing.T, c *websocket.Conn, message string) (reply map[string]any, ended bool) {
	t.Helper()
	send(t, c, message)
	for {
		_, b, err := c.Read(testContext(t))
		if err != nil {
			t.Fatalf("%.300s: %v", message, err)
		}
		reply = nil
		if err := json.Unmarshal(b, &reply); err != nil {
			t.Fatal(err)
		}
		if reply["method"] == "Inspector.targetCrashed" || reply["id"] != nil {
			return reply, reply["id"] == nil
		}
	}
}

// nodeOf is a node as DOM.getDocument describes it.
type nodeOf struct {
	NodeID, BackendNodeID            int
	NodeName                         string
	Children, ShadowRoots            []*nodeOf
	PseudoElements                   []*nodeOf
	ContentDocument, TemplateContent *nodeOf
}

func (n *nodeOf) all() (all []*nodeOf) {
	if n == nil {
		return nil
	}
	all = []*nodeOf{n}
	for _, child := range slices.Concat(n.Children, n.ShadowRoots, n.PseudoElements, []*nodeOf{n.ContentDocument,
		n.TemplateContent}) {
		all = append(all, child.all()...)
	}
	return all
}

// hostile are the values that a parameter is tried with.
func (p *protocolOf) hostile(domain string, one *protocolType, handles map[string][]any) []any {
	name, in, found := p.resolve(domain, one)
	if values := handles[name]; values != nil {
		return values
	}
	if found == nil {
		return []any{nil}
	}
	if len(found.Enum) > 0 {
		var all []any
		for _, value := range found.Enum {
			all = append(all, value)
		}
		return append(all, "none-of-them")
	}
	switch found.Type {
	case "boolean":
		return []any{true, false}
	case "integer":
		return []any{0, -1, 1, 1<<31 - 1, -1 << 31}
	case "number":
		return []any{0, -1, 1e300, 0.5}
	case "string":
		return []any{"", "x", "*", "::before", "#host", ":is(*, ::slotted(*))", strings.Repeat("x", 10_000)}
	case "array":
		all := []any{[]any{}}
		if found.Items != nil {
			items := p.hostile(in, found.Items, handles)
			all = append(all, items, items[:1])
		}
		return all
	default:
		return []any{map[string]any{}}
	}
}

// TestHostileReadsEndNoPage: whatever a client that may only look sends, with nodes and
// objects of every kind, the page's process goes on.
func TestHostileReadsEndNoPage(t *testing.T) {
	t.Parallel()
	p := protocol(t)
	c, _, _, _ := strange(t, policy.ModeView)
	result := func(method string, params map[string]any, out any) {
		t.Helper()
		reply := exchange(t, c, inspect(method, params))
		b, _ := json.Marshal(reply["result"])
		if err := json.Unmarshal(b, out); err != nil || reply["result"] == nil {
			t.Fatalf("%s: %v %v", method, reply, err)
		}
	}
	for _, domain := range []string{"Inspector", "DOM", "CSS", "Page", "Overlay", "Accessibility", "DOMStorage",
		"Network", "Animation", "DOMSnapshot"} {
		exchange(t, c, inspect(domain+".enable", nil))
	}
	var tree struct {
		FrameTree struct{ Frame struct{ ID, URL string } }
	}
	result("Page.getFrameTree", nil, &tree)
	var world struct{ ExecutionContextID int }
	result("Page.createIsolatedWorld", map[string]any{"frameId": tree.FrameTree.Frame.ID, "worldName": "w"}, &world)
	var document struct{ Root *nodeOf }
	result("DOM.getDocument", map[string]any{"depth": -1, "pierce": true}, &document)
	handles := map[string][]any{
		"Page.FrameId": {tree.FrameTree.Frame.ID,
			"x"}, "Target.SessionID": {"x"}, "Runtime.ExecutionContextId": {world.ExecutionContextID, -1},
	}
	for _, n := range document.Root.all() {
		handles["DOM.NodeId"] = append(handles["DOM.NodeId"], n.NodeID)
		handles["DOM.BackendNodeId"] = append(handles["DOM.BackendNodeId"], n.BackendNodeID)
		reply := exchange(t, c, inspect("DOM.resolveNode", map[string]any{"nodeId": n.NodeID}))
		if object, ok := reply["result"].(map[string]any); ok { // not a node of a template
			handles["Runtime.RemoteObjectId"] = append(handles["Runtime.RemoteObjectId"],
				object["object"].(map[string]any)["objectId"])
		}
	}
	if len(handles["Runtime.RemoteObjectId"]) < 60 {
		t.Fatalf("only %d objects of %d nodes", len(handles["Runtime.RemoteObjectId"]), len(handles["DOM.NodeId"]))
	}
	logged := eventsWith(t, c, `{"id":1,"method":"Runtime.enable"}`, "Runtime.consoleAPICalled")
	for _, one := range logged {
		handles["Runtime.RemoteObjectId"] = append(handles["Runtime.RemoteObjectId"],
			one["args"].([]any)[0].(map[string]any)["objectId"])
	}

	count := 0
	try := func(method string, params map[string]any) {
		b, _ := json.Marshal(params)
		if policy.DecideCommand(policy.Permission{Mode: policy.ModeView}, method, b).Outcome != policy.Allow {
			return // it is refused: see TestNoOccupationInView
		}
		count++
		if _, ended := crashed(t, c, inspect(method, params)); ended {
			t.Fatalf("%s %.500s ends the page", method, b)
		}
	}
	for _, d := range p.Domains {
		for _, command := range d.Commands {
			method := d.Domain + "." + command.Name
			switch {
			case command.Name == "disable", d.Domain == "Target", strings.HasPrefix(command.Name,
				"release"), method == "Fetch.continueRequest":
				continue // it takes away what the next ones need, or other connections
			}
			// One value of each parameter that is needed, all combinations of switches, and
			// then each other parameter by itself.
			switches := []map[string]any{{}}
			base := map[string]any{}
			for _, one := range command.Parameters {
				values := p.hostile(d.Domain, one, handles)
				if !one.Optional {
					base[one.Name] = values[0]
				}
				if values[0] == true && one.Optional {
					for _, so := range slices.Clone(switches) {
						for _, value := range values {
							extra := maps.Clone(so)
							extra[one.Name] = value
							switches = append(switches, extra)
						}
					}
				}
			}
			for _, so := range switches {
				with := maps.Clone(base)
				maps.Copy(with, so)
				try(method, with)
				for _, one := range command.Parameters {
					if so[one.Name] != nil {
						continue
					}
					for _, value := range p.hostile(d.Domain, one, handles) {
						other := maps.Clone(with)
						other[one.Name] = value
						try(method, other)
					}
				}
			}
		}
	}
	if count < 3000 {
		t.Errorf("only %d commands were tried", count)
	}
	t.Logf("%d commands", count)
}

// eventsWith sends a message and returns the parameters of those events that come before
// the response.
func eventsWith(t *testing.T, c *websocket.Conn, message, method string) (all []map[string]any) {
	t.Helper()
	send(t, c, message)
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
		if m.ID != 0 {
			return all
		}
		if m.Method == method {
			all = append(all, m.Params)
		}
	}
}

// TestCommandsThatEndAPage: where a client may do everything, it gets an error for the
// commands that are known to end a page's process.
func TestCommandsThatEndAPage(t *testing.T) {
	t.Parallel()
	c, _, _, _ := strange(t, policy.ModeFull)
	for _, domain := range []string{"Inspector", "DOM", "CSS"} {
		exchange(t, c, inspect(domain+".enable", nil))
	}
	exchange(t, c, inspect("DOM.getDocument", map[string]any{"depth": -1, "pierce": true}))
	node := exchange(t, c, inspect("DOM.querySelector", map[string]any{"nodeId": 1,
		"selector": "p"}))["result"].(map[string]any)["nodeId"]
	for _, one := range []struct {
		method string
		params map[string]any
	}{
		{"CSS.resolveValues", map[string]any{"values": []string{"1em"}, "nodeId": node, "propertyName": "width",
			"pseudoType": "interest-hint"}},
		{"CSS.resolveValues", map[string]any{"values": []string{"1em"}, "nodeId": node, "propertyName": "width",
			"pseudoType": "overscroll-area-parent"}},
		{"Page.printToPDF", map[string]any{"displayHeaderFooter": true,
			"headerTemplate": `<link rel=stylesheet href="http://127.0.0.1:1/">`, "footerTemplate": "x"}},
		{"Page.printToPDF", map[string]any{"displayHeaderFooter": true, "headerTemplate": "x",
			"footerTemplate": `<style>@import "http://127.0.0.1:1/";</style>`}},
		{"Page.captureScreenshot", map[string]any{"clip": map[string]any{"x": 0, "y": 0, "width": 80, "height": 60,
			"scale": 1000}}},
		{"Emulation.setDisplayFeaturesOverride", map[string]any{"features": []any{}}},
	} {
		reply, ended := crashed(t, c, inspect(one.method, one.params))
		if ended || !strings.Contains(refusal(reply), "it would end the browser or a page") {
			t.Errorf("%s %v: %v, the page has ended: %v", one.method, one.params, reply, ended)
		}
	}
	for _, one := range []struct {
		method string
		params map[string]any
	}{
		{"CSS.resolveValues", map[string]any{"values": []string{"1em"}, "nodeId": node, "propertyName": "width"}},
		{"Page.printToPDF", map[string]any{"displayHeaderFooter": true,
			"headerTemplate": "<style>p { color: red }</style><p>x", "footerTemplate": "x"}},
		{"Page.captureScreenshot", map[string]any{"clip": map[string]any{"x": 0, "y": 0, "width": 80, "height": 60,
			"scale": 3}}},
	} {
		if reply, ended := crashed(t, c, inspect(one.method, one.params)); ended || reply["result"] == nil {
			t.Errorf("%s %v: %v, the page has ended: %v", one.method, one.params, reply, ended)
		}
	}
}

// TestLargeParameters: no command stops the browser for the other clients by its size. It
// is the same for a browser with a port and for one with a pipe.
func TestLargeParameters(t *testing.T) {
	t.Parallel()
	found, err := chrome.Find(chrome.FindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	piped, err := chrome.Launch(t.Context(), chrome.Options{Executable: found, Headless: true,
		Args: []string{"--disable-gpu"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { piped.Close(context.Background()) })
	for name, url := range map[string]string{"port": cdptest.BrowserURL(t), "pipe": piped.URL()} {
		for _, mode := range []policy.Mode{policy.ModeView, policy.ModeFull} {
			_, addr := ruled(t, newUser(mode), url, nil)
			c, other := dial(t, addr, "/devtools/browser/x"), dial(t, addr, "/devtools/browser/x")
			for _, method := range []string{"Target.getTargets", "DOM.querySelector", "No.such", "Browser.getVersion"} {
				message := fmt.Sprintf(`{"id":1,"method":%q,"params":{"selector":%q}}`, method,
					strings.Repeat("x", 30<<20))
				if reply := exchange(t, c, message); !strings.Contains(refusal(reply),
					method+" refused: it has more than 16 MB of parameters") {
					t.Errorf("%s, %s, %s: %.300v", name, mode, method, reply)
				}
			}
			for description, message := range map[string]string{
				"unknown member": `{"id":1,"method":"Browser.getVersion","other":[` + strings.Repeat("1,", 1<<20) +
					`1]}`,
				"session": `{"id":1,"method":"Browser.getVersion","sessionId":"` + strings.Repeat("x", 1<<20) +
					`"}`,
				"method": `{"id":1,"method":"Browser.` + strings.Repeat("x", 1<<20) + `"}`,
				"id":     `{"id":` + strings.Repeat("1", 1<<20) + `,"method":"Browser.getVersion"}`,
				"blanks": `{"id":1,"method":"Browser.getVersion"` + strings.Repeat(" ", 1<<20) + `}`,
			} {
				if reply := exchange(t, c, message); !strings.Contains(refusal(reply),
					"more than 64 kB beside the parameters") {
					t.Errorf("%s, %s, %s: %.300v", name, mode, description, reply)
				}
			}
			if got := call(t, other, getVersion); !strings.Contains(got, "Chrome/") {
				t.Errorf("%s, %s: another client gets %s", name, mode, got)
			}
		}
	}
	// A method that carries files may.
	_, addr := ruled(t, newUser(policy.ModeFull), cdptest.BrowserURL(t), nil)
	id, _ := directTab(t, "about:blank")
	c := dial(t, addr, "/devtools/page/"+id)
	reply := exchange(t, c, fmt.Sprintf(`{"id":1,"method":"Runtime.evaluate","params":{"expression":"'%s'.length"}}`,
		strings.Repeat("x", 20<<20)))
	if !strings.Contains(fmt.Sprint(reply), "2.097152e+07") {
		t.Errorf("a large script: %.300v", reply)
	}
}
