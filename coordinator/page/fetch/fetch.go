// Package fetch makes a request as a script of the page would.
package fetch

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"net/http"
	"strings"
	"time"

	"browser-coordinator/coordinator/page/address"
	"browser-coordinator/coordinator/page/frame"
	"browser-coordinator/coordinator/page/guard"
	"browser-coordinator/coordinator/page/history"
	"browser-coordinator/coordinator/page/lifecycle"
)

// Fetcher makes the requests of one page. All fields are required.
type Fetcher struct {
	Run       lifecycle.Run
	Lifecycle *lifecycle.Lifecycle
	Frames    *frame.Tree
	Guard     *guard.Guard
	Network   *history.Network
}

// Request is what to fetch. Only URL is required.
type Request struct {
	URL     string // absolute, or relative to the page
	Method  string // empty: GET, or POST with a body
	Headers map[string]string
	Body    string
	Place   string        // where the page is, see page.Page.Place: nothing is sent elsewhere; empty: from anywhere
	Timeout time.Duration // until the whole response has arrived; 0: 30 s
}

// Response is the response to a Request.
type Response struct {
	URL       string // after redirects
	Status    int
	Text      string // of the status
	Headers   map[string]string
	MIMEType  string
	Body      []byte
	Truncated bool // the body is longer
}

const (
	defaultTimeout = 30 * time.Second
	// maxBody bounds a body, in bytes.
	maxBody = 4 << 20
	// failureTimeout bounds the wait for the browser's events about a failed request: they
	// arrive separately from the script's result.
	failureTimeout = 300 * time.Millisecond
)

//go:embed fetch.js
var function string

// failure is the result of the script for a request without a response.
type failure struct{ Error, Policy string }

// Fetch makes a request as a script of the page would: with its cookies, its
// proxy and its service worker, under its content security policy and CORS.
func (f *Fetcher) Fetch(ctx context.Context, o Request) (Response, error) {
	var response Response
	if o.Method == "" {
		o.Method = http.MethodGet
		if o.Body != "" {
			o.Method = http.MethodPost
		}
	}
	url, err := address.Normalize(o.URL, f.Frames.PageURL())
	if err != nil {
		return Response{}, err
	}
	err = f.Run(ctx, "fetching "+o.URL, cmp.Or(o.Timeout, defaultTimeout), func(ctx context.Context) (err error) {
		response, err = f.fetch(ctx, url, o)
		return err
	})
	return response, err
}

func (f *Fetcher) fetch(ctx context.Context, url string, o Request) (Response, error) {
	before := f.Lifecycle.Seq()
	mark, end, err := f.Guard.Fetch(ctx, url)
	if err != nil {
		return Response{}, err
	}
	defer end()
	first, read := f.Network.Last(), ""
	defer func() {
		f.Network.Dismiss(func(r history.Request) bool { return r.Seq > first && (r.URL == url || r.URL == read) })
	}()
	request := map[string]any{
		"url": url, "mark": mark, "method": strings.ToUpper(o.Method), "headers": o.Headers, "limit": maxBody,
	}
	if o.Body != "" {
		request["body"] = o.Body
	}
	session, world, err := f.Frames.World(ctx, f.Frames.Main())
	if err != nil {
		return Response{}, err
	}
	var got struct {
		failure
		Response
	}
	declaration := "function (request) { " + frame.OnlyAt(o.Place) + "return (" + frame.InDOM(function) + ")(request) }"
	if err := frame.CallIn(ctx, session, world, declaration, request, &got); err != nil {
		return Response{}, err
	}
	if got.Error != "" && f.Lifecycle.After(before, lifecycle.Refused) {
		return Response{}, f.Lifecycle.Last(lifecycle.Refused).Err
	}
	if got.Error != "" {
		return Response{}, errors.New(f.reason(ctx, got.failure, url))
	}
	read = got.URL
	// A cache may have responded, with a redirect that the page followed earlier.
	return got.Response, f.Guard.Shows(got.URL)
}

// reason returns why there is no response. The script itself gets no reason; the
// browser's record of the request has one.
func (f *Fetcher) reason(ctx context.Context, failed failure, url string) string {
	if failed.Policy != "" {
		return "the page's content security policy forbids it (" + failed.Policy + "): open that address in a tab " +
			"instead"
	}
	code := ""
	_ = f.Lifecycle.AwaitFor(ctx, failureTimeout, func() bool {
		code = f.Network.Failure(url)
		return code != ""
	})
	hint := address.Hint(code)
	switch {
	case code == "":
		return failed.Error
	case strings.Contains(code, "CORS"), code == "net::ERR_FAILED":
		return code + ": the other site does not let this page read it with cookies (CORS): open that address in a " +
			"tab instead"
	case hint != "":
		return hint + " (" + code + ")"
	}
	return code
}
