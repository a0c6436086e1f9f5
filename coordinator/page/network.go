package page

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"

	"browser-coordinator/coordinator/cdp"
)

// Request is one request that the page or a frame of it has made.
type Request struct {
	Seq       int64 // rises by one per request of the page
	Method    string
	URL       string
	Type      string // document, script, fetch, xhr, image, …
	Status    int    // 0: no answer yet, or none
	MIMEType  string
	Failed    string // why there is no answer, for example net::ERR_FAILED
	Done      bool   // answered in full, or failed
	FromCache bool
	Past      bool  // from before the page was attached to: only what its document told
	Size      int64 // bytes received
	Started   time.Time
	Duration  time.Duration // until it was done
}

// RequestDetails is a request with its headers and bodies.
type RequestDetails struct {
	Request
	RequestHeaders  map[string]string
	ResponseHeaders map[string]string
	RequestBody     []byte
	ResponseBody    []byte
	BodyError       string // why there is no response body, if there should be one
}

const (
	defaultNetworkSize = 1000
	// The browser keeps bodies for us within these bounds.
	maxBodies = 16 << 20
	maxBody   = 4 << 20
)

// entry is a request with what finds it again.
type entry struct {
	Request
	id              network.RequestID
	session         *cdp.Session
	began           protocol.MonotonicTime
	requestHeaders  network.Headers
	responseHeaders network.Headers
	hasBody         bool
}

// requestLog keeps the last requests; Page.mu guards it.
type requestLog struct {
	size    int
	seq     int64
	entries []*entry // oldest first
	open    map[string]*entry
}

func newRequestLog(size int) *requestLog {
	return &requestLog{size: size, open: map[string]*entry{}}
}

// requestKey: request ids are unique within a renderer only.
func requestKey(s *cdp.Session, id network.RequestID) string {
	return string(s.ID()) + "/" + string(id)
}

func (l *requestLog) add(key string, e *entry) {
	l.seq++
	e.Seq = l.seq
	if len(l.entries) == l.size {
		oldest := l.entries[0]
		if k := requestKey(oldest.session, oldest.id); l.open[k] == oldest {
			delete(l.open, k)
		}
		copy(l.entries, l.entries[1:])
		l.entries = l.entries[:l.size-1]
	}
	l.entries = append(l.entries, e)
	l.open[key] = e
}

// Network returns the kept requests, oldest first: those since the page was
// attached to, and those of its document before that as far as the document
// itself knows them. Data URLs are left out.
func (p *Page) Network() []Request {
	p.browser.flush()
	p.mu.Lock()
	defer p.mu.Unlock()
	requests := make([]Request, 0, len(p.requests.entries))
	for _, e := range p.requests.entries {
		requests = append(requests, e.Request)
	}
	return requests
}

// RequestDetails returns one of the requests with its headers and, as long as
// the browser has them, its bodies.
func (p *Page) RequestDetails(ctx context.Context, seq int64) (RequestDetails, error) {
	const doing = "reading a request"
	ctx, end, err := p.begin(ctx, doing, p.browser.opts.CallTimeout)
	if err != nil {
		return RequestDetails{}, err
	}
	defer end()
	p.mu.Lock()
	var found *entry
	for _, e := range p.requests.entries {
		if e.Seq == seq {
			copied := *e
			found = &copied
		}
	}
	p.mu.Unlock()
	if found == nil {
		return RequestDetails{}, fmt.Errorf("there is no request %d: list them again, old ones are forgotten", seq)
	}
	d := RequestDetails{Request: found.Request, RequestHeaders: headerText(found.requestHeaders), ResponseHeaders: headerText(found.responseHeaders)}
	if found.hasBody {
		r, err := protocol.Call(ctx, found.session, network.GetRequestPostData, network.GetRequestPostDataParams{RequestID: found.id})
		if err != nil && !refused(err) {
			return d, p.explain(err, doing)
		}
		d.RequestBody = r.PostData
	}
	if !found.Done || found.Failed != "" {
		return d, nil
	}
	if found.id == "" {
		return p.pastBody(ctx, d)
	}
	r, err := protocol.Call(ctx, found.session, network.GetResponseBody, network.GetResponseBodyParams{RequestID: found.id})
	switch {
	case refused(err):
		d.BodyError = "the browser has no body for it any more"
	case err != nil:
		return d, p.explain(err, doing)
	}
	d.ResponseBody = r.Body
	return d, nil
}

func refused(err error) bool {
	var refusal *cdp.Error
	return errors.As(err, &refusal)
}

func headerText(h network.Headers) map[string]string {
	if len(h) == 0 {
		return nil
	}
	text := make(map[string]string, len(h))
	for name, value := range h {
		text[name] = fmt.Sprint(value)
	}
	return text
}

func (p *Page) requestSent(s *cdp.Session, e *network.EventRequestWillBeSent) {
	if e.Request == nil || strings.HasPrefix(e.Request.URL, "data:") {
		return
	}
	key := requestKey(s, e.RequestID)
	if e.RedirectResponse != nil {
		// The same id goes on at the new address; what was redirected is done.
		if before := p.requests.open[key]; before != nil {
			before.answer(e.RedirectResponse)
			before.finish(e.Timestamp)
		}
	}
	p.requests.add(key, &entry{
		Request: Request{
			Method: e.Request.Method, URL: e.Request.URL, Type: strings.ToLower(string(e.Type)),
			Started: time.UnixMicro(int64(e.WallTime.Float64() * 1e6)),
		},
		id: e.RequestID, session: s, began: e.Timestamp, requestHeaders: e.Request.Headers, hasBody: e.Request.HasPostData,
	})
}

func (e *entry) answer(r *network.Response) {
	e.Status, e.MIMEType = int(r.Status), r.MimeType
	e.FromCache = r.FromDiskCache || r.FromPrefetchCache
	e.responseHeaders = r.Headers
}

func (e *entry) finish(at protocol.MonotonicTime) {
	e.Done = true
	e.Duration = time.Duration((at.Float64() - e.began.Float64()) * float64(time.Second))
}

func (p *Page) responseReceived(s *cdp.Session, e *network.EventResponseReceived) {
	if e.Response == nil {
		return
	}
	if e.Response.FromServiceWorker && !p.worked[s] {
		p.worked[s] = true
		p.keepWorkersBodies(s)
	}
	if r := p.requests.open[requestKey(s, e.RequestID)]; r != nil {
		r.answer(e.Response)
	}
}

// keepWorkersBodies makes the browser keep the bodies of a session for their
// document only, once a service worker answers there: Chromium keeps those that
// a worker makes in no other way. That of the first answer is lost.
func (p *Page) keepWorkersBodies(s *cdp.Session) {
	ctx, cancel := context.WithTimeout(context.Background(), frameStartTimeout)
	defer cancel()
	if _, err := s.Start(ctx, network.CommandConfigureDurableMessages, network.ConfigureDurableMessagesParams{}); err != nil {
		p.browser.log.Debug("page: a session ended before its bodies were kept", "err", err)
	}
}

func (p *Page) requestFinished(s *cdp.Session, e *network.EventLoadingFinished) {
	key := requestKey(s, e.RequestID)
	if r := p.requests.open[key]; r != nil {
		r.Size = int64(e.EncodedDataLength)
		r.finish(e.Timestamp)
		delete(p.requests.open, key)
	}
}

func (p *Page) requestFailed(s *cdp.Session, e *network.EventLoadingFailed) {
	key := requestKey(s, e.RequestID)
	if r := p.requests.open[key]; r != nil {
		r.Failed = e.ErrorText
		if e.BlockedReason != "" {
			r.Failed += " (" + string(e.BlockedReason) + ")"
		}
		r.finish(e.Timestamp)
		delete(p.requests.open, key)
	}
}
