package cdpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"browser-coordinator/cdpproxy/browser"
	"browser-coordinator/cdpproxy/discovery"
	"browser-coordinator/policy"
)

// serveJSON forwards a discovery request to the browser, as Chromium defines it,
// and puts the proxy's own address into the response. See specs/platform-notes.md,
// "Chromium's DevTools server".
func (p *Proxy) serveJSON(w http.ResponseWriter, r *http.Request, mount, path string) {
	if changesSomething(path) && byWebBrowser(r) {
		p.refuse(w, r, forbidden("refused: a web browser may look at this endpoint, but not change anything by it, "+
			"since any web page could have caused this request. Use a CDP client, or a program such as curl."))
		return
	}
	host := ownHost(r) + mount
	var doc *document
	// The rule was asked about a mutating request, and must not be asked twice.
	no := p.withBrowser(r, changesSomething(path), func(ctx context.Context, b *Browser) (err error) {
		// Before the dial: a user who is asked may take longer than the timeout of an
		// exchange.
		if err := p.judgeRequest(ctx, r, b, path); err != nil {
			return err
		}
		if doc, err = p.document(ctx, b, r, path, host); errors.Is(err, errSent) {
			err = &refusal{http.StatusBadGateway, fmt.Sprintf("%s went away while it was asked for %s; whether it "+
				"was done is unknown, so it is not asked again: %v", b.label(), path, err)}
		}
		return err
	})
	if no != nil {
		p.refuse(w, r, no)
		return
	}
	header := w.Header()
	for _, name := range []string{"Content-Type", "Content-Security-Policy", "Allow"} {
		if v := doc.header.Get(name); v != "" {
			header.Set(name, v)
		}
	}
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
	// Without it a longer response would be chunked, which chrome://inspect cannot
	// read.
	if r.Method != http.MethodHead {
		header.Set("Content-Length", strconv.Itoa(len(doc.body)))
	}
	p.limitWrite(w)
	w.WriteHeader(doc.status)
	w.Write(doc.body)
}

// document is a response of a browser under /json/.
type document struct {
	status int
	header http.Header
	body   []byte
}

// errSent: a mutating request was sent, and must not be repeated.
var errSent = errors.New("no response")

// document returns the response of a browser to a discovery request. host is the proxy's
// HOST:PORT with the mount, for the addresses in it.
func (p *Proxy) document(ctx context.Context, b *Browser, r *http.Request, path, host string) (*document, error) {
	var doc *document
	var err error
	if b.InProcess == nil {
		if doc, err = p.dialedDocument(ctx, b, r, path, host); err != nil {
			return nil, err
		}
	} else if doc, err = inProcessDocument(ctx, b, r, path, host); err != nil {
		doc = textDocument(http.StatusServiceUnavailable, err.Error())
	}
	if !p.stillCurrent(b) {
		err = errChanged
		if changesSomething(path) {
			err = fmt.Errorf("%w: %w", errSent, err)
		}
		return nil, err
	}
	return doc, nil
}

func (p *Proxy) dialedDocument(
	ctx context.Context, b *Browser, r *http.Request, path, host string,
) (*document, error) {
	if err := p.acquire(ctx); err != nil {
		return nil, err
	}
	defer p.release()
	u, err := dialBrowser(ctx, b)
	if err != nil {
		return nil, err
	}
	defer u.close()
	if !p.stillCurrent(b) {
		return nil, errChanged
	}
	uri := path
	if r.URL.RawQuery != "" {
		uri += "?" + r.URL.RawQuery
	}
	res, body, err := u.do(r.Method, uri, maxResponse)
	if err != nil && changesSomething(path) {
		err = fmt.Errorf("%w: %w", errSent, err)
	}
	if err != nil {
		return nil, err
	}
	if namesTargets(path) && res.StatusCode == http.StatusOK && len(body) > 0 { // a response to HEAD has none
		if body, err = discovery.Rewrite(body, u.base, host); err != nil {
			text := fmt.Sprintf("the browser's answer to %s cannot be read: %v", path, err)
			return textDocument(http.StatusBadGateway, text), nil
		}
	}
	return &document{res.StatusCode, res.Header, body}, nil
}

// join asks the rule to admit a client. Its error is a [refusal], or the browser was
// replaced meanwhile.
func (p *Proxy) join(ctx context.Context, c *Client) error {
	err := p.opts.Rule.Join(ctx, c)
	switch {
	case ctx.Err() != nil:
		return errChanged
	case err != nil:
		return forbidden("refused: %v", err)
	}
	return nil
}

// judgeRequest passes a mutating request to the rule, as a client's only command: the one
// with the same effect.
func (p *Proxy) judgeRequest(ctx context.Context, r *http.Request, b *Browser, path string) error {
	if !changesSomething(path) {
		return nil
	}
	client, m := p.client(r, b, path), new(browser.Message)
	client.Done = ctx.Done()
	if err := p.join(ctx, client); err != nil {
		return err
	}
	_, id, _ := strings.Cut(strings.TrimPrefix(path, "/json/"), "/")
	params := map[string]string{"targetId": strings.TrimSuffix(id, "/")}
	switch command(path) {
	case "new":
		m.Method = "Target.createTarget"
		params = map[string]string{"url": discovery.NewAddress(r.URL.RawQuery)}
	case "activate":
		m.Method = "Target.activateTarget"
	case "close":
		m.Method = "Target.closeTarget"
	}
	var err error
	if m.Params, err = json.Marshal(params); err != nil {
		return err
	}
	if v := p.opts.Rule.Judge(client, m); v.Outcome != policy.Allow {
		return forbidden("refused: %s", v.Reason)
	}
	p.opts.Rule.Observe(client, m)
	return nil
}

// command returns the path segment after /json/, or "list" if there is none.
func command(path string) string {
	if path == "/json" {
		return "list"
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(path, "/json/"), "/")
	return name
}

func changesSomething(path string) bool {
	switch command(path) {
	case "new", "activate", "close":
		return true
	}
	return false
}

// namesTargets reports whether the response carries WebSocket URLs.
func namesTargets(path string) bool {
	switch command(path) {
	case "version", "list", "new":
		return true
	}
	return false
}
