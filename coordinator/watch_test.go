package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"

	protocol "github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"browser-coordinator/coordinator/cdp"
)

// developer is the user: another client of the window's browser, who works in its page
// without the agent.
type developer struct {
	conn *cdp.Conn
	page target.ID
}

// sitAt connects to a browser with one page.
func sitAt(t *testing.T, endpoint string) *developer {
	t.Helper()
	conn, err := cdp.Dial(t.Context(), endpoint, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	targets, err := protocol.Call(t.Context(), conn, target.GetTargets, target.GetTargetsParams{})
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range targets.TargetInfos {
		if info.Type == "page" {
			return &developer{conn, info.TargetID}
		}
	}
	t.Fatal("the browser has no page")
	return nil
}

// watchingHost is a host that learns from the server's log when the agent watches its
// window's browser.
func watchingHost(t *testing.T, dir, workspace string) (session *mcp.ClientSession, watching <-chan struct{}) {
	t.Helper()
	told := make(chan struct{}, 10)
	//lint:ignore SA1019 hosts that show a server's log will do so for years
	session = hostWith(t, &mcp.ClientOptions{LoggingMessageHandler: func(_ context.Context, req *mcp.LoggingMessageRequest) {
		if strings.Contains(fmt.Sprint(req.Params.Data), "watching the browser") {
			told <- struct{}{}
		}
	}}, "2025-11-25", dir, workspace, "--no-launch")
	//lint:ignore SA1019 as above
	if err := session.SetLoggingLevel(t.Context(), &mcp.SetLoggingLevelParams{Level: "info"}); err != nil {
		t.Fatal(err)
	}
	return session, told
}

// browse navigates the page and waits for its load event.
func (d *developer) browse(t *testing.T, url string) {
	t.Helper()
	session, err := d.conn.Attach(t.Context(), d.page)
	if err != nil {
		t.Fatal(err)
	}
	loaded := session.Listen(cdppage.LoadEventFired.Method)
	defer loaded.Close()
	if err := session.Call(t.Context(), "Page.enable", nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := session.Call(t.Context(), "Page.navigate", map[string]any{"url": url}, nil); err != nil {
		t.Fatal(err)
	}
	select {
	case <-loaded.C():
	case <-t.Context().Done():
		t.Fatalf("%s was not loaded", url)
	}
}

// evaluate runs a script in the page and returns its value as JSON.
func (d *developer) evaluate(t *testing.T, expression string) string {
	t.Helper()
	session, err := d.conn.Attach(t.Context(), d.page)
	if err != nil {
		t.Fatal(err)
	}
	r, err := protocol.Call(t.Context(), session, runtime.Evaluate, runtime.EvaluateParams{
		Expression: expression, AwaitPromise: new(true), ReturnByValue: new(true),
	})
	if err != nil || r.ExceptionDetails != nil {
		t.Fatalf("%s: %+v %v", expression, r.ExceptionDetails, err)
	}
	return string(r.Result.Value)
}

const talkingPage = `<!doctype html><title>Talking</title><script>
console.error("said early");
const request = new XMLHttpRequest();
request.open("POST", "/order", false);
request.send("three of them");
</script>`

// The agent knows the page's console and requests from before its first call: the
// coordinator starts before the window, and the window before the page.
func TestHistoryBeginsWithTheBrowser(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/order" {
			body, _ := io.ReadAll(r.Body)
			w.WriteHeader(http.StatusConflict)
			fmt.Fprintf(w, "cannot deliver %s", body)
			return
		}
		io.WriteString(w, talkingPage)
	}))
	t.Cleanup(server.Close)
	dir, shop, other := t.TempDir(), folder(t, "shop"), folder(t, "other")
	agent, watching := watchingHost(t, dir, shop)
	window := start(t, dir, "window", "--workspace", shop, "--headless")
	<-watching
	user := sitAt(t, window.first)
	user.browse(t, server.URL)
	user.browse(t, server.URL+"/again")

	if text := mustTool(t, agent, "browser_console_messages", map[string]any{"level": "error"}); strings.Count(text, "said early") != 1 {
		t.Errorf("the console of the page:\n%s", text)
	}
	if text := mustTool(t, agent, "browser_console_messages", map[string]any{"all": true}); strings.Count(text, "said early") != 2 {
		t.Errorf("the whole console:\n%s", text)
	}
	list := mustTool(t, agent, "browser_network_requests", map[string]any{"filter": "/order"})
	if strings.Count(list, "409") != 2 {
		t.Fatalf("requests:\n%s", list)
	}
	number, _, _ := strings.Cut(list, ".")
	if body := mustTool(t, agent, "browser_network_request", map[string]any{"index": atoi(t, number), "part": "response-body"}); body != "cannot deliver three of them" {
		t.Errorf("the body of the first order: %q", body)
	}

	// A choice of window persists, and can be undone. Each window has its own page.
	start(t, dir, "window", "--workspace", other, "--headless")
	title := func() string {
		return mustTool(t, agent, "browser_evaluate", map[string]any{"function": "() => document.title"})
	}
	mustTool(t, agent, "window_select", map[string]any{"window": other})
	if got := title(); got != `""` {
		t.Errorf("in the selected window the title is %s", got)
	}
	if list := mustTool(t, agent, "window_list", nil); !strings.Contains(list, "* "+canonicalShop(t, other)) {
		t.Errorf("window_list does not know of the choice:\n%s", list)
	}
	if _, err := tool(t, agent, "window_select", map[string]any{"window": "nowhere"}); err == nil || !strings.Contains(err.Error(), "no window fits") {
		t.Errorf("a window that is not there: %v", err)
	}
	mustTool(t, agent, "window_select", map[string]any{"window": ""})
	if got := title(); got != `"Talking"` {
		t.Errorf("back in its own window the title is %s", got)
	}
}

// A page that was loaded before the coordinator watched it reports what it has loaded.
func TestHistoryOfAPageThatWasThere(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/data.json" {
			w.WriteHeader(http.StatusBadGateway)
		}
		io.WriteString(w, `<!doctype html><script>console.warn("long ago"); fetch("/data.json").then((r) => r.text()).then(() => document.title = "Done")</script>`)
	}))
	t.Cleanup(server.Close)
	dir, shop := t.TempDir(), folder(t, "shop")
	start(t, dir, "window", "--workspace", shop, "--headless")
	first := host(t, dir, shop, "--no-launch")
	mustTool(t, first, "browser_navigate", map[string]any{"url": server.URL})
	mustTool(t, first, "browser_evaluate", map[string]any{"function": `new Promise((r) => { const look = () => document.title ? r() : requestAnimationFrame(look); look() })`})

	if err := first.Close(); err != nil { // otherwise the other would get its own tab
		t.Fatal(err)
	}
	late := host(t, dir, shop, "--no-launch")
	if text := mustTool(t, late, "browser_console_messages", nil); !strings.Contains(text, "long ago") {
		t.Errorf("the console: %s", text)
	}
	if list := mustTool(t, late, "browser_network_requests", nil); !strings.Contains(list, "/data.json => 502") || !strings.Contains(list, "GET "+server.URL+"/ => 200") {
		t.Errorf("the requests: %s", list)
	}
}

// Agents that work in one window at the same time have a page each: the first has the
// developer's, the next its own. A page that the first leaves is free for another.
func TestParallelAgentsHavePagesOfTheirOwn(t *testing.T) {
	dir, shop := t.TempDir(), folder(t, "shop")
	url := servePage(t)
	window := start(t, dir, "window", "--workspace", shop, "--headless")
	first, second := host(t, dir, shop, "--no-launch"), host(t, dir, shop, "--no-launch")
	mustTool(t, first, "browser_navigate", map[string]any{"url": url + "/first"})
	if text := mustTool(t, second, "browser_navigate", map[string]any{"url": url + "/second"}); !strings.Contains(text, "Another agent works") {
		t.Errorf("the second is not told: %s", text)
	}
	for agent, want := range map[*mcp.ClientSession]string{first: url + "/first", second: url + "/second"} {
		if got := mustTool(t, agent, "browser_evaluate", map[string]any{"function": "() => location.href"}); got != strconv.Quote(want) {
			t.Errorf("an agent is at %s, want %s", got, want)
		}
	}
	if got := titles(t, window.first); len(got) != 2 {
		t.Errorf("the window's pages are %q", got)
	}
	// Neither can select the other's.
	list := mustTool(t, second, "browser_tabs", map[string]any{"action": "list"})
	index := regexp.MustCompile(`(?m)^(\d+): .*/first$`).FindStringSubmatch(list)
	if index == nil {
		t.Fatalf("the tabs: %s", list)
	}
	choose := map[string]any{"action": "select", "index": atoi(t, index[1])}
	if _, err := tool(t, second, "browser_tabs", choose); err == nil || !strings.Contains(err.Error(), "another agent works") {
		t.Errorf("choosing the other's tab: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := tool(t, second, "browser_tabs", choose); err != nil {
		t.Errorf("choosing a tab that was left: %v", err)
	}
}

// A tab that the page opens has its complete history from its first request on, also for
// an agent that selects it later.
func TestHistoryOfATabThatAnActOpens(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/app.js":
			w.Header().Set("Content-Type", "text/javascript")
			io.WriteString(w, "document.title = 'Ready'")
		case "/order":
			io.WriteString(w, `<!doctype html><script>console.warn("said early")</script><script src=/app.js></script>`)
		default:
			io.WriteString(w, `<!doctype html><a href=/order target=_blank>Order</a>`)
		}
	}))
	t.Cleanup(server.Close)
	dir, shop := t.TempDir(), folder(t, "shop")
	start(t, dir, "window", "--workspace", shop, "--headless")
	agent := host(t, dir, shop, "--no-launch")
	mustTool(t, agent, "browser_navigate", map[string]any{"url": server.URL})
	if text := mustTool(t, agent, "browser_click", map[string]any{"target": "a"}); !strings.Contains(text, server.URL+"/order") {
		t.Errorf("the click: %s", text)
	}
	list := mustTool(t, agent, "browser_tabs", map[string]any{"action": "list"})
	for i, line := range strings.Split(list, "\n") {
		if strings.Contains(line, "/order") {
			mustTool(t, agent, "browser_tabs", map[string]any{"action": "select", "index": i})
		}
	}
	mustTool(t, agent, "browser_wait_for", map[string]any{"expression": "document.title === 'Ready'"})
	requests := mustTool(t, agent, "browser_network_requests", map[string]any{"static": true})
	for _, want := range []string{"GET " + server.URL + "/order => 200", "GET " + server.URL + "/app.js => 200"} {
		if strings.Count(requests, want) != 1 {
			t.Errorf("%q is not there once:\n%s", want, requests)
		}
	}
	if text := mustTool(t, agent, "browser_console_messages", nil); !strings.Contains(text, "said early") {
		t.Errorf("the console: %s", text)
	}
}
