package page

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"

	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/remote"
)

// FetchOptions of Fetch. Only URL is required.
type FetchOptions struct {
	URL     string // absolute, or relative to the page
	Method  string // empty: GET, or POST with a body
	Headers map[string]string
	Body    string
	Timeout time.Duration // until the whole response has arrived; 0: 30 s
}

// Fetched is the response to a Fetch.
type Fetched struct {
	URL       string // after redirects
	Status    int
	Text      string // of the status
	Headers   map[string]string
	MIMEType  string
	Body      []byte
	Truncated bool // the body is longer
}

// maxFetched bounds a body, in bytes.
const maxFetched = 4 << 20

// fetchFailed is the result of Fetch's script for a request without a response.
type fetchFailed struct{ Error, Policy string }

// Fetch makes a request as a script of the page would: with its cookies, its
// proxy and its service worker, under its content security policy and CORS.
func (p *Page) Fetch(ctx context.Context, o FetchOptions) (Fetched, error) {
	setDefault(&o.Timeout, defaultWait)
	if o.Method == "" {
		o.Method = http.MethodGet
		if o.Body != "" {
			o.Method = http.MethodPost
		}
	}
	o.Method = strings.ToUpper(o.Method)
	doing := "fetching " + o.URL
	ctx, end, err := p.begin(ctx, doing, o.Timeout)
	if err != nil {
		return Fetched{}, err
	}
	defer end()
	address, err := normalizeURL(o.URL, p.URL())
	if err != nil {
		return Fetched{}, err
	}
	guard := p.guardedBy()
	refusals := guard.refusals()
	var mark string
	if guard != nil {
		var endGuard func()
		if mark, endGuard, err = guard.fetch(ctx, address); err != nil {
			return Fetched{}, p.explain(err, doing)
		}
		defer endGuard()
	}
	request := map[string]any{"url": address, "mark": mark, "method": o.Method, "headers": o.Headers, "limit": maxFetched}
	if o.Body != "" {
		request["body"] = o.Body
	}
	args, err := json.Marshal(request)
	if err != nil {
		return Fetched{}, err
	}
	session, world, err := p.frames.World(ctx, p.frames.Main())
	if err != nil {
		return Fetched{}, p.explain(err, doing)
	}
	r, err := protocol.Call(ctx, session, runtime.CallFunctionOn, runtime.CallFunctionOnParams{
		FunctionDeclaration: frame.Call("fetch"), ExecutionContextID: world,
		Arguments: []*runtime.CallArgument{{Value: args}}, AwaitPromise: new(true), ReturnByValue: new(true),
	})
	if err != nil {
		return Fetched{}, p.explain(err, doing)
	}
	if r.ExceptionDetails != nil {
		return Fetched{}, fmt.Errorf("%s: %s", doing, remote.Exception(r.ExceptionDetails))
	}
	var got struct {
		fetchFailed
		Fetched
	}
	if err := json.Unmarshal(r.Result.Value, &got); err != nil {
		return Fetched{}, fmt.Errorf("%s: %w", doing, err)
	}
	if refused := guard.refusal(refusals); got.Error != "" && refused != nil {
		return Fetched{}, fmt.Errorf("%s: %w", doing, refused)
	}
	if got.Error != "" {
		return Fetched{}, fmt.Errorf("%s: %s", doing, p.fetchReason(ctx, got.fetchFailed, address))
	}
	// A cache may have responded, with a redirect that the page followed earlier.
	if err := guard.shows(got.URL); err != nil {
		return Fetched{}, fmt.Errorf("%s: %w", doing, err)
	}
	return got.Fetched, nil
}

// fetchReason returns why there is no response. The script itself gets no reason; the
// browser's record of the request has one.
func (p *Page) fetchReason(ctx context.Context, failed fetchFailed, address string) string {
	if failed.Policy != "" {
		return "the page's content security policy forbids it (" + failed.Policy + "): open that address in a tab instead"
	}
	reason := ""
	bounded, cancel := context.WithTimeout(ctx, noticePatience)
	defer cancel()
	_ = p.await(bounded, func() bool {
		reason = p.history.Network.Failure(address)
		return reason != ""
	})
	switch {
	case reason == "":
		return failed.Error
	case strings.Contains(reason, "CORS"), reason == "net::ERR_FAILED":
		return reason + ": the other site does not let this page read it (CORS): open that address in a tab instead"
	case navigationHints[reason] != "":
		return navigationHints[reason] + " (" + reason + ")"
	}
	return reason
}

// noticePatience bounds the wait for the browser's events about a failed request: they
// arrive separately from the script's result.
const noticePatience = 300 * time.Millisecond
