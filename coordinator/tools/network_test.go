package tools_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"browser-coordinator/internal/toolstest"
)

// requestNumber is the number of the request whose URL ends so.
func requestNumber(t *testing.T, agent *toolstest.Agent, path string) int {
	t.Helper()
	list := agent.Must("browser_network_requests", args{"static": true, "filter": regexp.QuoteMeta(path) + "$"})
	index, _, found := strings.Cut(list, ".")
	if !found {
		t.Fatalf("no request of %s: %s", path, list)
	}
	return number(t, index)
}

// A form with a file that is no text: its fields are readable.
func TestFormWithBinaryFile(t *testing.T) {
	t.Parallel()
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			_, _ = io.Copy(io.Discard, r.Body)
		}
		fmt.Fprint(w, `<!doctype html><form action=/sent method=post enctype=multipart/form-data target=out>
<input name=who value="Ada Lovelace"><input type=file name=portrait><input name=note value="für später">
<button>Send</button></form><iframe name=out></iframe>`)
	})
	agent := toolstest.OpenWindow(t).Agent()
	agent.Open(url)
	file := filepath.Join(agent.Dir, "portrait.png")
	if err := os.WriteFile(file, []byte("\x89PNG\r\n\x1a\n\xff\xfe\x00\x01"), 0o600); err != nil {
		t.Fatal(err)
	}
	agent.Must("browser_file_upload", args{"target": "input[type=file]", "paths": []string{file}})
	agent.Must("browser_click", args{"target": "button"})
	agent.Must("browser_evaluate", args{"function": `async () => {
		const form = new FormData();
		form.append("item", "seven");
		form.append("data", new Blob([new Uint8Array([0, 255, 254])]), "data.bin");
		await fetch("/fetched", { method: "POST", body: form });
	}`})

	agent.Expect("browser_network_request", args{"index": requestNumber(t, agent, "/fetched")},
		`Content-Disposition: form-data; name="item"`, "\n\nseven\n", `filename="data.bin"`, "(3 bytes)")
	agent.Expect("browser_network_request", args{"index": requestNumber(t, agent, "/sent")},
		"Ada Lovelace", `filename="portrait.png"`, "für später")
}

// The body of a response that goes on can be read while it does.
func TestBodyOfAStream(t *testing.T) {
	t.Parallel()
	next := map[string]chan string{"/stream/events": make(chan string), "/stream/fetched": make(chan string)}
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		texts, streams := next[r.URL.Path]
		if !streams {
			fmt.Fprint(w, `<!doctype html><script>
				seen = "";
				new EventSource("/stream/events").addEventListener("price", e => seen += e.data);
				fetch("/stream/fetched").then(async r => {
					const reader = r.body.pipeThrough(new TextDecoderStream()).getReader();
					for (let part; !(part = await reader.read()).done;) seen += part.value;
				});
			</script><p>Prices</p>`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for {
			w.(http.Flusher).Flush()
			select {
			case text := <-texts:
				io.WriteString(w, text)
			case <-r.Context().Done():
				return
			}
		}
	})
	agent := toolstest.OpenWindow(t).Agent()
	agent.Open(url)
	events, fetched := requestNumber(t, agent, "/events"), requestNumber(t, agent, "/fetched")
	next["/stream/events"] <- "event: price\ndata: 41\n\n"
	next["/stream/fetched"] <- "data: 42\n\n"
	agent.Must("browser_wait_for", args{"expression": `seen.includes("41") && seen.includes("42")`})
	agent.Expect("browser_network_request", args{"index": events}, "response-body:\nevent: price\ndata: 41\n",
		"(still arriving: 23 bytes so far)")
	agent.Expect("browser_network_request", args{"index": fetched}, "response-body:\ndata: 42\n",
		"(still arriving: 10 bytes so far)")
	if body := agent.Must("browser_network_request",
		args{"index": fetched, "part": "response-body"}); !strings.HasPrefix(body, "data: 42\n") {
		t.Errorf("the body alone: %q", body)
	}
}

// The body of a request outlives its document, also after a redirect. One that does not is announced.
func TestRequestBodyOutlivesItsDocument(t *testing.T) {
	t.Parallel()
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, "/end", http.StatusSeeOther)
		}
		io.WriteString(w, "<!doctype html><title>Shop</title>")
	})
	agent := toolstest.OpenWindow(t).Agent()
	agent.Open(url)
	agent.Must("browser_evaluate", args{"function": `async () => {
		const post = async (path, body) => (await fetch(path, { method: "POST", body })).text();
		await post("/small", "two cups"); await post("/moved", "three cups"); await post("/large", "x".repeat(1 << 16));
		const form = new FormData();
		form.append("file", new File(["four cups"], "order.txt"));
		await post("/file", form); await fetch("/get");
	}`})
	small, moved := requestNumber(t, agent, "/small"), requestNumber(t, agent, "/moved")
	large, file, get := requestNumber(t, agent, "/large"), requestNumber(t, agent, "/file"), requestNumber(t, agent,
		"/get")
	agent.Expect("browser_network_request", args{"index": large, "part": "request-body"}, "xxxxxxxx")
	agent.Expect("browser_network_request", args{"index": file, "part": "request-body"}, "four cups")
	for _, next := range []string{url + "/next", strings.Replace(url, "127.0.0.1", "localhost", 1)} {
		agent.Open(next)
		agent.Expect("browser_network_request", args{"index": small}, "request-body:\ntwo cups")
		agent.Expect("browser_network_request", args{"index": small, "part": "request-body"}, "two cups")
		agent.Expect("browser_network_request", args{"index": moved, "part": "request-body"}, "three cups")
		for _, index := range []int{large, file} {
			agent.Expect("browser_network_request", args{"index": index}, "request-body:\n(the browser no longer has it")
			agent.Refused("browser_network_request", args{"index": index, "part": "request-body"}, "no longer has it")
		}
		if text := agent.Must("browser_network_request", args{"index": get}); strings.Contains(text, "request-body") {
			t.Errorf("a request without a body: %s", text)
		}
	}
}

// A request has the place of the code that made it, in the workspace's files: the call of a
// library's function, not the library.
func TestPlaceOfARequest(t *testing.T) {
	t.Parallel()
	const sources = `{"version":3,"sources":["node_modules/http/send.js","src/order.ts"],` +
		`"sourcesContent":["","export const order = () => send('/api/order')"],"names":[],"mappings":"AAAA;ACAA"}`
	const script = `const send = (path) => fetch(path, { method: "POST" });
const order = () => send("/api/order");
//# sourceMappingURL=order.js.map
`
	url := toolstest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/order.js":
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprint(w, script)
		case "/order.js.map":
			fmt.Fprint(w, sources)
		case "/plain":
			fmt.Fprint(w, `<!doctype html><button onclick="fetch('/api/plain')">Plain</button>`)
		case "/api/order":
			w.WriteHeader(http.StatusInternalServerError)
		default:
			fmt.Fprint(w, `<!doctype html><button onclick="order()">Order</button><script src=/order.js></script>`)
		}
	})
	w := toolstest.OpenWindow(t)
	source := []byte("export const order = () => send('/api/order')")
	if err := os.WriteFile(filepath.Join(w.Folder, "src", "order.ts"), source, 0o600); err != nil {
		t.Fatal(err)
	}
	agent := w.Agent()
	agent.Open(url)
	const place = "@ src/order.ts:1:1"
	agent.Expect("browser_click", args{"target": "button"}, "POST /api/order → 500", place)
	agent.Expect("browser_network_requests", args{"filter": "api"}, "=> 500", place)
	agent.Expect("browser_network_request", args{"index": requestNumber(t, agent, "/api/order")}, "=> 500", place)
	if text := agent.Must("browser_network_requests", args{"static": true, "filter": "js$"}); strings.Contains(text, "@") {
		t.Errorf("no script has made it: %s", text)
	}
	agent.Open(url + "/plain")
	agent.Must("browser_click", args{"target": "button"})
	agent.Expect("browser_network_request", args{"index": requestNumber(t, agent, "/api/plain")},
		"made at "+url+"/plain:1:")
}
