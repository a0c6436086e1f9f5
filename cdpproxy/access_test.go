package cdpproxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"browser-coordinator/cdpproxy"
	"browser-coordinator/cdpproxy/access"
	"browser-coordinator/internal/cdptest"
	"browser-coordinator/policy"
)

// ruled serves an endpoint with the rule of h.
func ruled(t testing.TB, h *user, browser string, o *access.RuleOptions) (*access.Rule, string) {
	t.Helper()
	rule := access.NewRule(h, o)
	t.Cleanup(func() { rule.Close() }) // after the endpoint is closed
	_, addr := serve(t, newSource(browser), &cdpproxy.Options{Rule: rule})
	return rule, addr
}

// directTab opens a tab in the browser itself, as the user does, and waits until
// url is loaded in it. It returns the tab's id and a connection to it. The tab is
// closed at the end of the test.
func directTab(t testing.TB, address string) (string, *websocket.Conn) {
	t.Helper()
	host := strings.Split(cdptest.BrowserURL(t), "/")[2]
	id := openTab(t, host)
	conn := dial(t, host, "/devtools/page/"+id)
	t.Cleanup(func() {
		tryGet(host, "/json/close/"+id, nil)
		// The tab closes asynchronously; its connection ends with it.
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		for err := error(nil); err == nil; {
			_, _, err = conn.Read(ctx)
		}
	})
	exchange(t, conn, `{"id":1,"method":"Page.enable"}`)
	byHand(t, conn, address)
	waitEvent(t, conn, "Page.loadEventFired", "")
	return id, conn
}

func byHand(t testing.TB, conn *websocket.Conn, address string) {
	t.Helper()
	send(t, conn, fmt.Sprintf(`{"id":2,"method":"Page.navigate","params":{"url":%q}}`, address))
}

// waitEvent waits for an event that contains text.
func waitEvent(t testing.TB, conn *websocket.Conn, method, text string) {
	t.Helper()
	for {
		_, b, err := conn.Read(testContext(t))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), `"method":"`+method+`"`) && strings.Contains(string(b), text) {
			return
		}
	}
}

// TestViewList: this Chromium has each method of the policy's list and each parameter that
// its lines name.
func TestViewList(t *testing.T) {
	_, addr := serve(t, newSource(cdptest.BrowserURL(t)), nil)
	_, body := get(t, addr, "/json/protocol", nil)
	var p protocolOf
	if err := json.Unmarshal([]byte(body), &p); err != nil {
		t.Fatal(err)
	}
	has := map[string][]string{}
	for _, d := range p.Domains {
		for _, c := range d.Commands {
			has[d.Domain+"."+c.Name] = []string{}
			for _, one := range c.Parameters {
				has[d.Domain+"."+c.Name] = append(has[d.Domain+"."+c.Name], one.Name)
			}
		}
	}
	if len(has) < 500 {
		t.Fatalf("only %d methods in /json/protocol", len(has))
	}
	list, err := os.ReadFile("../policy/clientview.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(list)) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		method := words[0]
		if has[method] == nil {
			t.Errorf("%s is in policy/clientview.txt, but this Chromium does not have it any more", method)
			continue
		}
		for _, word := range words[1:] {
			if name, _, _ := strings.Cut(word, "="); word != "ignored" &&
				!slices.Contains(has[method], strings.TrimSuffix(name, "<")) {
				t.Errorf("%s: the parameter %s is in policy/clientview.txt, but this Chromium does not have it any more",
					method, name)
			}
		}
	}
}

// refusal returns the text of a response's error.
func refusal(reply map[string]any) string {
	e, _ := reply["error"].(map[string]any)
	text, _ := e["message"].(string)
	return text
}

// TestView: clients may read, events arrive, and every other command is refused by
// name, in any spelling.
func TestView(t *testing.T) {
	h := newUser(policy.ModeView)
	var reported sync.Map
	_, addr := ruled(t, h, cdptest.BrowserURL(t), &access.RuleOptions{Activity: func(e access.Entry) {
		reported.Store(e.Method, fmt.Sprint(e.OK, " ", e.Address, " ", e.Outcome))
	}})
	id, connection := directTab(t, "data:text/html,<title>looked at</title>")
	c := dial(t, addr, "/devtools/page/"+id)

	for n, message := range []string{
		`{"id":1,"\u006dethod":"Page.enable"}`, // forwarded as it is
		`{"id":1,"method":"Runtime.enable"}`,
		`{"id":1,"method":"Page.captureScreenshot"}`,
		`{"id":1,"method":"DOM.getDocument"}`,
		`{"id":1,"method":"Accessibility.getFullAXTree"}`,
		`{"id":1,"method":"Target.setAutoAttach","params":{"autoAttach":true,"waitForDebuggerOnStart":true,"flatten":true}}`,
		`{"id":1,"method":"Page.addScriptToEvaluateOnNewDocument","params":{"source":"//# sourceURL=x","worldName":"w"}}`,
		`{"id":1,"method":"Emulation.setFocusEmulationEnabled","params":{"enabled":true}}`, // ignored
	} {
		if reply := exchange(t, c, message); reply["result"] == nil {
			t.Errorf("%d: %s: %v", n, message, reply)
		}
	}

	const set = `"params":{"expression":"document.title='evaded'"}`
	nested := func(inner string) string {
		b, _ := json.Marshal(inner)
		return `{"id":1,"method":"Target.sendMessageToTarget","params":{"message":` + string(b) + `}}`
	}
	act := `{"id":1,"method":"Runtime.evaluate",` + set + `}`
	// In forms that a parser may read as another command, or as none: the answer is an
	// error, of whichever side.
	for name, message := range map[string]string{
		"twice":           `{"id":1,"method":"Page.enable","method":"Runtime.evaluate",` + set + `}`,
		"twice, escaped":  `{"id":1,"method":"Runtime.evaluate","\u006dethod":"Page.enable",` + set + `}`,
		"comment":         `{"id":1,/*"method":"Page.enable",*/"method":"Runtime.evaluate",` + set + `}`,
		"other case":      `{"id":1,"method":"Runtime.evaluate","METHOD":"Page.enable",` + set + `}`,
		"trailing":        `{"id":1,"method":"Page.enable"}{"id":1,"method":"Runtime.evaluate",` + set + `}`,
		"byte order mark": "\ufeff" + act,
		"no method":       `{"id":1,` + set + `}`,
		"number":          `{"id":1,"method":7}`,
		"array":           `[` + act + `]`,
		"deep":            strings.Repeat("[", 20_000),
		"deep, whole": `{"id":1,"params":{"x":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) +
			`},"method":"Runtime.evaluate"}`,
		"empty": ``,
	} {
		if reply := exchange(t, c, message); reply["error"] == nil {
			t.Errorf("%s: %v, want an error", name, reply)
		}
	}
	for name, message := range map[string]string{
		"plain":           act,
		"method last":     `{"id":1,` + set + `,"method":"Runtime.evaluate"}`,
		"escaped":         `{"id":1,"\u006dethod":"Runtime.\u0065valuate",` + set + `}`,
		"leading newline": "\n\t {\"id\":1,\r\n\"method\"\n:\t\"Runtime.evaluate\"," + set + "}",
		"nested":          nested(act),
		"nested twice":    nested(nested(act)),
		"nested, escaped": nested(`{"id":1,"\u006dethod":"Runtime.\u0065valuate",` + set + `}`),
		"nested, two":     nested(`{"id":1,"method":"Page.enable","method":"Runtime.evaluate",` + set + `}`),
		"nested, twice": `{"id":1,"method":"Target.sendMessageToTarget","params":` +
			`{"message":"{\"id\":1,\"method\":\"Page.enable\"}","m\u0065ssage":"{}"}}`,
		"nested, none": `{"id":1,"method":"Target.sendMessageToTarget"}`,
		"unknown":      `{"id":1,"method":"Page.doWhatNobodyKnows"}`,
		"script": `{"id":1,"method":"Page.addScriptToEvaluateOnNewDocument",` +
			`"params":{"source":"//# sourceURL=x\ndocument.title='evaded'"}}`,
		"input":            `{"id":1,"method":"Input.dispatchMouseEvent","params":{"type":"mousePressed","x":1,"y":1}}`,
		"navigate":         `{"id":1,"method":"Page.navigate","params":{"url":"about:blank#evaded"}}`,
		"expose":           `{"id":1,"method":"Target.exposeDevToolsProtocol","params":{"targetId":"` + id + `"}}`,
		"close":            `{"id":1,"method":"Page.close"}`,
		"crash":            `{"id":1,"method":"Page.crash"}`,
		"browser":          `{"id":1,"method":"Browser.close"}`,
		"browser, crashed": `{"id":1,"method":"Browser.crash"}`,
	} {
		reply := exchange(t, c, message)
		if text := refusal(reply); !strings.Contains(text, `the access mode is "view"`) {
			// An unreadable message is refused as such.
			if !strings.Contains(text, "stands twice") {
				t.Errorf("%s: %v", name, reply)
			}
		}
	}
	// In fragments, with a ping between any two.
	conn, br := rawUpgrade(t, addr)
	io.WriteString(conn, fragments(`{"id":2,"met`, `hod":"Runtime.eval`, `uate",`, set+`}`))
	got := pingText
	for got == pingText {
		got = readFrame(t, br)
	}
	if !strings.HasPrefix(got, `{"id":2,`) || !strings.Contains(got, `\"view\"`) {
		t.Errorf("fragments: %s", got)
	}

	for _, path := range []string{"/json/close/" + id, "/json/activate/" + id} {
		if status, body := get(t, addr, path, nil); status != 403 || !strings.Contains(body, `"view"`) {
			t.Errorf("%s: HTTP %d %s", path, status, body)
		}
	}
	req, _ := http.NewRequest(http.MethodPut, "http://"+addr+"/json/new?about:blank%23evaded", nil)
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != 403 {
		t.Errorf("/json/new: HTTP %d", res.StatusCode)
	}

	_, list := get(t, addr, "/json/list", nil)
	if strings.Contains(list, "evaded") || !strings.Contains(list, "looked at") {
		t.Errorf("the browser is not as it was: %s", list)
	}
	// The user navigates in the browser itself, and the client gets the event.
	byHand(t, connection, "data:text/html,by-hand")
	waitEvent(t, c, "Page.frameNavigated", "by-hand")
	if e, _ := reported.Load("Page.navigate"); !strings.HasPrefix(fmt.Sprint(e), "false about:blank#evaded refused") {
		t.Errorf("the embedding program got %+v", e)
	}
	if e, ok := reported.Load("Page.captureScreenshot"); ok {
		t.Errorf("it got %+v, which only reads", e)
	}
}

// TestBrowserClose: no client closes the browser for the others, unless that is
// allowed.
func TestBrowserClose(t *testing.T) {
	t.Parallel()
	browser := cdptest.Launch(t)
	h := newUser(policy.ModeFull)
	_, addr := ruled(t, h, browser.URL(), nil)
	for name, message := range map[string]string{
		"plain": `{"id":1,"method":"Browser.close"}`,
		"nested": `{"id":1,"method":"Target.sendMessageToTarget",` +
			`"params":{"message":"{\"id\":1,\"method\":\"Browser.close\"}"}}`,
	} {
		c := dial(t, addr, "/devtools/browser/x")
		if reply := exchange(t, c, message); reply["result"] == nil {
			t.Errorf("%s: %v", name, reply)
		}
		if _, _, err := c.Read(testContext(t)); !closes(err, websocket.StatusNormalClosure, "stays open") {
			t.Errorf("%s: then %v", name, err)
		}
	}
	c := dial(t, addr, "/devtools/browser/x")
	for _, method := range []string{"Browser.crash", "Browser.crashGpuProcess", "Page.crash",
		"Target.exposeDevToolsProtocol"} {
		if reply := exchange(t, c,
			`{"id":1,"method":"`+method+`","params":{"targetId":"x"}}`); !strings.Contains(refusal(reply), "--allow-close") {
			t.Errorf("%s: %v", method, reply)
		}
	}
	// A client cannot use a URL that crashes the browser either.
	tab, _ := exchange(t, c,
		`{"id":1,"method":"Target.createTarget","params":{"url":"about:blank"}}`)["result"].(map[string]any)
	onPage := dial(t, addr, fmt.Sprintf("/devtools/page/%v", tab["targetId"]))
	exchange(t, onPage, `{"id":1,"method":"Inspector.enable"}`)
	for _, address := range []string{"chrome://inducebrowsercrashforrealz", "chrome://crash", "chrome://kill",
		"chrome:\\\\x@cr%61sh:1/", "view-source:chrome://hang", "about:quit"} {
		for _, act := range []string{`"Page.navigate","params":{"transitionType":"address_bar",`,
			`"Target.createTarget","params":{`} {
			if reply := exchange(t, onPage,
				`{"id":1,"method":`+act+`"url":"`+address+`"}}`); !strings.Contains(refusal(reply), "--allow-close") {
				t.Errorf("%s%s: %v", act, address, reply)
			}
		}
		for _, query := range []string{address, url.PathEscape(address), address + "&for_tab", address + "&more",
			url.QueryEscape(address) + "/%zz", url.QueryEscape(address) + "?%"} {
			a := ask(t, addr, "PUT /json/new?"+query+" HTTP/1.1\r\nHost: localhost\r\n\r\n")
			if a.status != http.StatusForbidden || !strings.Contains(a.body, "--allow-close") {
				t.Errorf("/json/new?%s: HTTP %d %s", query, a.status, a.body)
			}
		}
	}
	if reply := exchange(t, onPage,
		`{"id":1,"method":"Page.navigate","params":{"url":"chrome://version"}}`); reply["result"] == nil {
		t.Errorf("a page of the browser's own: %v", reply)
	}
	if got := call(t, c, getVersion); !strings.Contains(got, "Chrome/") {
		t.Errorf("the browser says %s", got)
	}

	_, open := ruled(t, h, browser.URL(), &access.RuleOptions{AllowClose: true})
	c = dial(t, open, "/devtools/browser/x")
	send(t, c, `{"id":1,"method":"Browser.close"}`)
	select {
	case <-browser.Done():
	case <-time.After(20 * time.Second):
		t.Error("with AllowClose the browser did not end")
	}
}

// TestViewPaths: in view mode no form of a request closes a tab, opens one or
// brings one to the front.
func TestViewPaths(t *testing.T) {
	_, addr := ruled(t, newUser(policy.ModeView), cdptest.BrowserURL(t), nil)
	id, _ := directTab(t, "data:text/html,stays")
	other, _ := directTab(t, "data:text/html,in-front") // the most recently used one comes first
	_, before := get(t, addr, "/json/list", nil)
	if strings.Index(before, other) > strings.Index(before, id) {
		t.Fatalf("the tab that was opened last is not the first: %s", before)
	}
	for _, verb := range []string{"close", "activate", "new"} {
		target := "/" + id
		if verb == "new" {
			target = "?about:blank#" + "made"
		}
		for _, path := range []string{
			"/json/" + verb + target, "/json/" + verb + target + "/", "/json//" + verb + target, "//json/" + verb +
				target, "/json/./" + verb + target,
			"/json/list/../" + verb + target, "/json/list/%2e%2e/" + verb + target, "/json/list#/../" + verb +
				target, "/./json/" + verb + target,
			"/json/%" + fmt.Sprintf("%x", verb[0]) + verb[1:] + target, "/json%2f" + verb + target, "/%6ason/" + verb +
				target, "/json/" + strings.ToUpper(verb) + target,
			"/json/" + verb + strings.Replace(target, "/", "%2f", 1), "/json/" + verb + ";" + target, "/json/" + verb +
				"?" + target, "/json/" + verb + "%00" + target,
			"/json/" + verb + "\\" + id, "/json/ " + verb + target, "/json/" + verb + "%20" +
				target, "/json/list?/../" + verb + target, "/json?/" + verb + target,
			"http://127.0.0.1/json/" + verb + target, "/devtools/../json/" + verb +
				target, "/devtools/page/../../json/" + verb + target,
		} {
			for _, method := range []string{"GET", "PUT", "POST", "get"} {
				conn := connect(t, addr)
				fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", method, path)
				answer, err := io.ReadAll(conn)
				conn.Close()
				if text := string(answer); err != nil || strings.Contains(text, "Target is closing") ||
					strings.Contains(text, "Target activated") || strings.Contains(text, "#made") {
					t.Errorf("%s %s: %v %s", method, path, err, text)
				}
			}
		}
	}
	_, after := get(t, addr, "/json/list", nil)
	if strings.Index(after, other) > strings.Index(after, id) || !strings.Contains(after, id) ||
		!strings.Contains(after, other) || strings.Contains(after, "made") {
		t.Errorf("the tabs are not as they were: %s", after)
	}
}
