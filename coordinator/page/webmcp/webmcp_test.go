package webmcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"browser-coordinator/coordinator/page"
	"browser-coordinator/internal/must"
	"browser-coordinator/internal/pagetest"
)

func TestMain(m *testing.M) { os.Exit(pagetest.Main(m)) }

const shop = `<!doctype html><title>Shop</title>
<form toolname=search tooldescription="Search the shop" action=/found><input name=q><button>Search</button></form>
<form toolname=jump tooldescription="Jump" toolautosubmit action=/jumped><input name=to></form>
<script>
function offer(name, execute, properties = {}) {
	const inputSchema = { type: "object", properties, required: [] };
	document.modelContext.registerTool({ name, description: "Does " + name, inputSchema, execute });
}
offer("add", ({ item }) => { document.title = "Cart " + item; return { added: item }; }, { item: { type: "string" } });
offer("fail", () => { throw new RangeError("too many") });
offer("leave", () => { location = "/left"; return new Promise(() => {}); });
offer("never", () => new Promise(() => {}));
offer("spin", () => { for (;;); });
offer("ask", () => confirm("Sure?"));
</script>`

func served(w http.ResponseWriter, r *http.Request) {
	_, port, _ := strings.Cut(r.Host, ":")
	switch r.URL.Path {
	case "/":
		fmt.Fprint(w, shop)
	case "/framed":
		fmt.Fprintf(w, `<title>Framed</title>
<iframe allow=tools src="http://localhost:%s/"></iframe><iframe src="/"></iframe>`, port)
	default:
		fmt.Fprintf(w, "<title>%s</title>", r.URL)
	}
}

func open(t *testing.T) (p *page.Page, url string) {
	t.Helper()
	return pagetest.Serve(t, http.HandlerFunc(served))
}

func names(t *testing.T, p *page.Page) string {
	t.Helper()
	var b strings.Builder
	for _, tool := range p.Tools().List() {
		fmt.Fprintf(&b, "%s(%s) ", tool.Name, tool.Parameters)
	}
	return b.String()
}

// A page's tools are those of its documents now.
func TestList(t *testing.T) {
	t.Parallel()
	p, url := open(t)
	must.Await(t, "scripts and forms have offered their tools", func() bool {
		return names(t, p) == "add(item?) ask() fail() jump(to?) leave() never() search(q?) spin() "
	})
	pagetest.Evaluate(t, p, `document.querySelectorAll("form").forEach((form) => form.remove())`)
	const scripts = "add(item?) ask() fail() leave() never() spin() "
	must.Await(t, "those of the forms have gone", func() bool { return names(t, p) == scripts })
	pagetest.Navigate(t, p, url+"/other")
	if got := names(t, p); got != "" {
		t.Errorf("another document has %q", got)
	}
	pagetest.Evaluate(t, p, `history.back()`)
	must.Await(t, "the first document is restored", func() bool { return names(t, p) == scripts })
	pagetest.Navigate(t, p, url+"/other")
	if _, _, err := p.CallTool(t.Context(), "add", nil); err == nil || !strings.Contains(err.Error(), "no tools") {
		t.Errorf("calling one: %v", err)
	}
}

// What a page can have stored of its tools is bounded for all of them together, with their names.
func TestManyTools(t *testing.T) {
	t.Parallel()
	p, _ := open(t)
	total := func() (n, size int) {
		for _, tool := range p.Tools().List() {
			n, size = n+1, size+len(tool.Name)+len(tool.Description)+len(tool.Input)
		}
		return n, size
	}
	before, _ := total()
	const script = `for (let i = 0; i < 30; i++) document.modelContext.registerTool({
		name: "big" + i, description: "x".repeat(%d), execute() {} })`
	pagetest.Evaluate(t, p, fmt.Sprintf(script, 90_000))
	if n, size := total(); size > 1_000_000 || n-before < 10 || n-before >= 12 {
		t.Errorf("%d tools of %d bytes", n-before, size)
	}
}

// Frames offer tools too, also those of other processes. A name that two documents use is refused.
func TestFrames(t *testing.T) {
	t.Parallel()
	p, url := open(t)
	pagetest.Navigate(t, p, url+"/framed")
	must.Await(t, "both frames offer their tools", func() bool {
		return strings.Count(names(t, p), "add(") == 2
	})
	_, _, err := p.CallTool(t.Context(), "add", nil)
	if err == nil || !strings.Contains(err.Error(), "2 documents of the page offer a tool \"add\"") {
		t.Errorf("an ambiguous name: %v", err)
	}
	p.LimitFrames(func(address string) error {
		if strings.Contains(address, "localhost") {
			return fmt.Errorf("%s is not allowed", address)
		}
		return nil
	})
	if got := names(t, p); strings.Count(got, "add(") != 1 {
		t.Errorf("with a frame out of bounds: %q", got)
	}
	outcome, _, err := p.CallTool(t.Context(), "add", json.RawMessage(`{"item":"Tea"}`))
	if err != nil || string(outcome.Output) != `{"added":"Tea"}` {
		t.Errorf("%s %v", outcome.Output, err)
	}
	pagetest.Expect(t, p, "frames[1].document.title", `"Cart Tea"`)
}

func TestCall(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, arguments, output, fails, title string
		filled                                bool
	}{
		{name: "add", arguments: `{"item":"Tea"}`, output: `{"added":"Tea"}`, title: "Cart Tea"},
		{name: "fail", arguments: "{}", fails: `the page's tool "fail" failed: RangeError: too many`, title: "Shop"},
		{name: "search", arguments: `{"q":"Tea"}`, filled: true, title: "Shop"},
		{name: "jump", arguments: `{"to":"Tea"}`, title: "/jumped?to=Tea"},
		{name: "leave", arguments: "{}", title: "/left"},
		{name: "buy", arguments: "{}", fails: `the page offers no tool "buy"; it offers add, ask`, title: "Shop"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, _ := open(t)
			outcome, _, err := p.CallTool(t.Context(), c.name, json.RawMessage(c.arguments))
			if c.fails == "" && err != nil || c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) {
				t.Errorf("the error is %v", err)
			}
			if output := string(outcome.Output); output != c.output ||
				outcome.Filled != c.filled {
				t.Errorf("output %s, filled %t", output, outcome.Filled)
			}
			pagetest.Expect(t, p, "document.title", fmt.Sprintf("%q", c.title))
			if c.filled {
				pagetest.Expect(t, p, "document.querySelector('[name=q]').value", `"Tea"`)
			}
		})
	}
}

// A tool that opens a dialog has not ended.
func TestToolThatOpensDialog(t *testing.T) {
	t.Parallel()
	p, _ := open(t)
	outcome, change, err := p.CallTool(t.Context(), "ask", nil)
	if err != nil || change.Dialog == nil || change.Dialog.Message != "Sure?" || outcome.Output != nil {
		t.Errorf("%+v %+v %v", outcome, change.Dialog, err)
	}
	if _, err := p.HandleDialog(t.Context(), true, ""); err != nil {
		t.Fatal(err)
	}
}

// A tool that never ends, or computes without an end, is given up.
func TestEndlessCalls(t *testing.T) {
	t.Parallel()
	b := pagetest.ConnectWith(t, &page.Options{ActionTimeout: time.Second, CallTimeout: 3 * time.Second})
	p, _ := pagetest.ServeIn(t, b, http.HandlerFunc(served))
	for name, ends := range map[string]string{"never": "3s", "spin": "was stopped"} {
		if _, _, err := p.CallTool(t.Context(), name, nil); err == nil || !strings.Contains(err.Error(), ends) {
			t.Errorf("%s: %v", name, err)
		}
		pagetest.Expect(t, p, "document.title", `"Shop"`)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	if _, _, err := p.CallTool(cancelled, "never", nil); err == nil {
		t.Error("no error")
	}
}
