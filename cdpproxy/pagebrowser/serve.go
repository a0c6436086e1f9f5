package pagebrowser

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"browser-coordinator/cdpproxy/discovery"
)

// pagePatience bounds how long a request waits for the first page.
const pagePatience = 15 * time.Second

// handle answers as Chromium's DevTools server does, below the secret.
func (b *Browser) handle(w http.ResponseWriter, r *http.Request) {
	path, ok := strings.CutPrefix(r.URL.EscapedPath(), "/"+b.secret)
	if !ok || r.Header.Get("Origin") != "" {
		http.Error(w, "this address is for the coordinator alone; `coordinator endpoint` prints the one for CDP clients", http.StatusForbidden)
		return
	}
	b.start()
	if path == "/json" {
		path = "/json/list"
	}
	switch {
	case path == "/devtools/browser/"+b.guid:
		b.ready(r.Context())
		b.serveClient(w, r, nil)
	case strings.HasPrefix(path, "/devtools/page/"):
		b.servePage(w, r, strings.TrimPrefix(path, "/devtools/page/"))
	case strings.HasPrefix(path, "/json/"):
		b.serveJSON(w, r, path)
	default:
		answer(w, http.StatusNotFound, htmlType, "")
	}
}

func (b *Browser) servePage(w http.ResponseWriter, r *http.Request, id string) {
	b.ready(r.Context())
	b.mu.Lock()
	t, tab := b.byID(id)
	b.mu.Unlock()
	if t == nil || tab {
		answer(w, http.StatusInternalServerError, htmlType, "No such target id: "+id)
		return
	}
	b.serveClient(w, r, t)
}

func (b *Browser) serveJSON(w http.ResponseWriter, r *http.Request, path string) {
	name, id, _ := strings.Cut(strings.TrimPrefix(path, "/json/"), "/")
	if name != "protocol" && !b.ready(r.Context()) {
		answerText(w, http.StatusServiceUnavailable, "the debugger has no page that answers")
		return
	}
	switch name {
	case "list":
		b.refresh(r.Context())
		answerJSON(w, b.list())
	case "version":
		answerJSON(w, b.about())
	case "protocol":
		w.Header().Set("Content-Type", jsonType)
		discovery.WriteProtocol(w) // fails where the client has gone
	case "new":
		b.serveNew(w, r)
	case "activate", "close":
		method, done := "Target.activateTarget", "Target activated"
		if name == "close" {
			method, done = "Target.closeTarget", "Target is closing"
		}
		ctx, cancel := context.WithTimeout(r.Context(), callTimeout)
		defer cancel()
		switch _, err := b.act(ctx, method, id); {
		case err == errNoTarget:
			answerText(w, http.StatusNotFound, "No such target id: "+id)
		case err != nil:
			answerText(w, http.StatusInternalServerError, err.Error())
		default:
			answerText(w, http.StatusOK, done)
		}
	default:
		answerText(w, http.StatusNotFound, "Unknown command: "+name)
	}
}

func (b *Browser) serveNew(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPut {
		w.Header().Set("Allow", http.MethodPut)
		answerText(w, http.StatusMethodNotAllowed, "Using unsafe HTTP verb "+r.Method+" to invoke /json/new. This action supports only PUT verb.")
		return
	}
	address, err := url.QueryUnescape(r.URL.RawQuery)
	if err != nil || address == "" {
		address = "about:blank"
	}
	ctx, cancel := context.WithTimeout(r.Context(), callTimeout+offerPatience)
	defer cancel()
	t, err := b.create(ctx, encode(struct {
		URL string `json:"url"`
	}{address}))
	if err != nil {
		answerText(w, http.StatusInternalServerError, "Could not create new page: "+err.Error())
		return
	}
	t.refresh(ctx)
	b.mu.Lock()
	described := b.describe(t)
	b.mu.Unlock()
	answerJSON(w, described)
}

// described is an entry of /json/list.
type described struct {
	Description string `json:"description"`
	Frontend    string `json:"devtoolsFrontendUrl"`
	ID          string `json:"id"`
	Parent      string `json:"parentId,omitempty"`
	Title       string `json:"title"`
	Type        string `json:"type"`
	URL         string `json:"url"`
	WebSocket   string `json:"webSocketDebuggerUrl"`
}

func (b *Browser) list() []described {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := []described{}
	for _, t := range b.order {
		list = append(list, b.describe(t))
	}
	return list
}

// describe is called with mu held.
func (b *Browser) describe(t *target) described {
	address := b.address + "/" + b.secret + "/devtools/page/" + t.info.ID
	d := described{ID: t.info.ID, Title: t.info.Title, Type: t.info.Type, URL: t.info.URL, WebSocket: "ws://" + address}
	if parent := b.targets[t.page.Parent]; parent != nil {
		d.Parent = parent.info.ID
	}
	if b.version != nil {
		d.Frontend = "https://chrome-devtools-frontend.appspot.com/serve_rev/" + b.version.Revision + "/inspector.html?ws=" + address
	}
	return d
}

type browserAbout struct {
	Browser   string `json:"Browser"`
	Protocol  string `json:"Protocol-Version"`
	UserAgent string `json:"User-Agent"`
	V8        string `json:"V8-Version"`
	WebKit    string `json:"WebKit-Version"`
	WebSocket string `json:"webSocketDebuggerUrl"`
}

func (b *Browser) about() browserAbout {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := browserAbout{WebSocket: "ws://" + b.address + b.browserPath(), Protocol: "1.3"}
	if v := b.version; v != nil {
		a.Browser, a.Protocol, a.UserAgent, a.V8 = v.Product, v.Protocol, v.UserAgent, v.JS
		if _, engine, ok := strings.Cut(v.UserAgent, "AppleWebKit/"); ok {
			engine, _, _ = strings.Cut(engine, " ")
			a.WebKit = engine + " (" + v.Revision + ")"
		}
	}
	return a
}

// Chromium's, whatever the answer is.
const (
	jsonType = discovery.ContentType // of /json/*
	htmlType = "text/html"           // of what is no WebSocket
)

func answerText(w http.ResponseWriter, status int, text string) { answer(w, status, jsonType, text) }

func answer(w http.ResponseWriter, status int, kind, text string) {
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	w.Write([]byte(text))
}

func answerJSON(w http.ResponseWriter, v any) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "   ")
	if err := encoder.Encode(v); err != nil {
		answerText(w, http.StatusInternalServerError, err.Error())
		return
	}
	answerText(w, http.StatusOK, out.String())
}
