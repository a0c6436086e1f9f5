package cdpproxy

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"browser-coordinator/cdpproxy/browser"
	"browser-coordinator/cdpproxy/discovery"
)

// How a browser in this process takes part in what Chromium's DevTools server does.

// openInProcess connects a client to a browser in this process.
func openInProcess(ctx context.Context, rel *relay) (browser.Conn, error) {
	page := ""
	if !forBrowser(rel.client.Path) {
		id, isPage := strings.CutPrefix(rel.client.Path, "/devtools/page/")
		if !isPage || id == "" {
			return nil, &answered{http.StatusNotFound, "no such WebSocket"}
		}
		page = id
	}
	conn, err := rel.client.browser.InProcess.Open(ctx, page, rel)
	if errors.Is(err, browser.ErrNoTarget) {
		err = &answered{http.StatusInternalServerError, noTarget + page}
	}
	return conn, err
}

const noTarget = "No such target id: " // Chromium's text

// inProcessDocument responds to a discovery request. host is HOST:PORT with the mount.
func inProcessDocument(ctx context.Context, b *Browser, r *http.Request, path, host string) (*document, error) {
	_, id, _ := strings.Cut(strings.TrimPrefix(path, "/json/"), "/")
	id = strings.TrimSuffix(id, "/")
	var answer any
	var err error
	switch command(path) {
	case "list":
		answer, err = inProcessList(ctx, b.InProcess, host)
	case "version":
		var p discovery.Product
		p, err = b.InProcess.Product(ctx)
		answer = p.Version("ws://" + host + "/devtools/browser/" + b.id())
	case "protocol":
		var text strings.Builder
		err = discovery.WriteProtocol(&text)
		return jsonDocument([]byte(text.String())), err
	case "new":
		if r.Method != http.MethodPut {
			d := textDocument(http.StatusMethodNotAllowed, "a page is opened with PUT")
			d.header.Set("Allow", http.MethodPut)
			return d, nil
		}
		var t discovery.Target
		t, err = b.InProcess.OpenPage(ctx, cmp.Or(discovery.NewAddress(r.URL.RawQuery), "about:blank"))
		answer = t.WithAddresses(host, revision(ctx, b.InProcess))
	case "activate":
		return act(ctx, b.InProcess, "Target.activateTarget", id, "Target activated")
	case "close":
		return act(ctx, b.InProcess, "Target.closeTarget", id, "Target is closing")
	default:
		return textDocument(http.StatusNotFound, "Unknown command: "+command(path)), nil
	}
	if err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(answer, "", "   ")
	return jsonDocument(text), err
}

func jsonDocument(text []byte) *document {
	return &document{http.StatusOK, http.Header{"Content-Type": {discovery.ContentType}}, text}
}

func textDocument(status int, text string) *document {
	return &document{status, http.Header{"Content-Type": {"text/plain; charset=utf-8"}}, []byte(text)}
}

func act(ctx context.Context, b browser.Browser, method, id, done string) (*document, error) {
	switch err := b.Act(ctx, method, id); {
	case errors.Is(err, browser.ErrNoTarget):
		return textDocument(http.StatusNotFound, noTarget+id), nil
	case err != nil:
		return nil, err
	}
	return textDocument(http.StatusOK, done), nil
}

func inProcessList(ctx context.Context, b browser.Browser, host string) ([]discovery.Target, error) {
	targets, err := b.Targets(ctx)
	if err != nil {
		return nil, err
	}
	revision := revision(ctx, b)
	list := []discovery.Target{}
	for _, t := range targets {
		list = append(list, t.WithAddresses(host, revision))
	}
	return list, nil
}

// revision is the browser's, for the address of the DevTools front end.
func revision(ctx context.Context, b browser.Browser) string {
	p, err := b.Product(ctx)
	if err != nil {
		return ""
	}
	return p.Revision
}
