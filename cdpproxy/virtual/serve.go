package virtual

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"browser-coordinator/cdpproxy/discovery"
)

// pageTimeout bounds how long a request waits for the first page.
const pageTimeout = 15 * time.Second

// handle responds like Chromium's DevTools server, below the secret.
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
		discovery.Answer(w, http.StatusNotFound, discovery.HTMLType, "")
	}
}

func (b *Browser) servePage(w http.ResponseWriter, r *http.Request, id string) {
	b.ready(r.Context())
	b.mu.Lock()
	t, tab := b.byID(id)
	b.mu.Unlock()
	if t == nil || tab {
		discovery.Answer(w, http.StatusInternalServerError, discovery.HTMLType, "No such target id: "+id)
		return
	}
	b.serveClient(w, r, t)
}

func (b *Browser) serveJSON(w http.ResponseWriter, r *http.Request, path string) {
	name, id, _ := strings.Cut(strings.TrimPrefix(path, "/json/"), "/")
	if name != "protocol" && !b.ready(r.Context()) {
		discovery.AnswerText(w, http.StatusServiceUnavailable, "the debugger has no page that answers")
		return
	}
	switch name {
	case "list":
		b.refresh(r.Context())
		discovery.AnswerJSON(w, b.list())
	case "version":
		discovery.AnswerJSON(w, b.about())
	case "protocol":
		w.Header().Set("Content-Type", discovery.ContentType)
		discovery.WriteProtocol(w) // fails if the client has gone
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
			discovery.AnswerText(w, http.StatusNotFound, "No such target id: "+id)
		case err != nil:
			discovery.AnswerText(w, http.StatusInternalServerError, err.Error())
		default:
			discovery.AnswerText(w, http.StatusOK, done)
		}
	default:
		discovery.AnswerText(w, http.StatusNotFound, "Unknown command: "+name)
	}
}

func (b *Browser) serveNew(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPut {
		discovery.RefuseVerb(w, r.Method)
		return
	}
	address, err := url.QueryUnescape(r.URL.RawQuery)
	if err != nil || address == "" {
		address = "about:blank"
	}
	ctx, cancel := context.WithTimeout(r.Context(), callTimeout+offerTimeout)
	defer cancel()
	t, err := b.create(ctx, encode(struct {
		URL string `json:"url"`
	}{address}))
	if err != nil {
		discovery.AnswerText(w, http.StatusInternalServerError, "Could not create new page: "+err.Error())
		return
	}
	t.refresh(ctx)
	b.mu.Lock()
	described := b.describe(t)
	b.mu.Unlock()
	discovery.AnswerJSON(w, described)
}

func (b *Browser) list() []discovery.Target {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := []discovery.Target{}
	for _, t := range b.order {
		list = append(list, b.describe(t))
	}
	return list
}

// describe is called with mu held.
func (b *Browser) describe(t *target) discovery.Target {
	d := discovery.Target{ID: t.info.ID, Title: t.info.Title, Type: t.info.Type, URL: t.info.URL}
	if parent := b.targets[t.page.Parent]; parent != nil {
		d.Parent = parent.info.ID
	}
	revision := ""
	if b.version != nil {
		revision = b.version.Revision
	}
	return d.At(b.address+"/"+b.secret, revision)
}

func (b *Browser) about() discovery.Version {
	b.mu.Lock()
	defer b.mu.Unlock()
	var p discovery.Product
	if b.version != nil {
		p = *b.version
	}
	return p.Version("ws://" + b.address + b.browserPath())
}
