package page

import (
	"context"
	"fmt"
	"strings"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/target"

	"browser-coordinator/coordinator/cdp"
)

// Request is one request that the page or a frame of it has made.
type Request struct {
	Seq       int64  // rises by one per request of the page
	Method    string // empty: not known, which is so only where Past is
	URL       string
	Type      string // document, script, fetch, xhr, image, …
	Status    int    // 0: no answer yet, or none
	MIMEType  string
	Failed    string // why there is no answer, for example net::ERR_FAILED
	Done      bool   // answered in full, or failed
	FromCache bool
	// Navigation says that it is the main frame's document, asked for first and not
	// by a redirect.
	Navigation bool
	Past       bool  // begun before the page was attached to: its request was not seen
	Size       int64 // bytes received
	Started    time.Time
	Duration   time.Duration // until it was done
	// Documents are the addresses of the page and of its frame that it was made for, as
	// far as they are known; empty for a document that the page navigates to.
	Documents [2]string
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

// enableNetwork has a session tell of its requests.
var enableNetwork = command{network.CommandEnable, network.EnableParams{MaxTotalBufferSize: new(int64(maxBodies)), MaxResourceBufferSize: new(int64(maxBody))}}

// entry is a request with what finds it again.
type entry struct {
	Request
	id              network.RequestID // empty: no event has told of it, see past
	session         *cdp.Session      // which told of it last
	began           protocol.MonotonicTime
	requestHeaders  network.Headers
	responseHeaders network.Headers
	hasBody         bool
	// What the id of one that was redirected finds is of where it went on to. Its own
	// body is kept here, until it is known that it is not.
	redirected bool
	posted     []*network.PostDataEntry
}

// maxPosted is how large a body of a redirected request is that is kept.
const maxPosted = 64 << 10

// requestLog keeps the last requests; Page.mu guards it.
type requestLog struct {
	size    int
	seq     int64
	entries []*entry // oldest first
	// open are the requests that are not done or not answered yet; nil: of no
	// interest, or forgotten.
	open map[requestKey]*entry
	// documents are those that a session shows, as Page.documents says.
	documents func(*cdp.Session) [2]string
	earlier
}

func newRequestLog(size int) *requestLog {
	return &requestLog{size: size, open: map[requestKey]*entry{}, earlier: newEarlier()}
}

// requestKey finds a request of which events tell. Ids of renderers are their own.
// Those of documents and of workers' scripts are unique: such a request begins in
// the session of the page, and ends in that of the frame or worker which it makes.
type requestKey struct {
	session target.SessionID // empty: whichever
	id      network.RequestID
}

func keyOf(s *cdp.Session, id network.RequestID) requestKey {
	if strings.Contains(string(id), ".") {
		return requestKey{s.ID(), id}
	}
	return requestKey{id: id}
}

func (l *requestLog) add(e *entry) {
	l.seq++
	e.Seq = l.seq
	if !e.Navigation && e.Documents == [2]string{} {
		e.Documents = l.documents(e.session)
	}
	if len(l.entries) == l.size {
		l.ignore(l.entries[0])
		copy(l.entries, l.entries[1:])
		l.entries = l.entries[:l.size-1]
	}
	l.entries = append(l.entries, e)
}

// ignore forgets a request, of which events may still come.
func (l *requestLog) ignore(e *entry) {
	if key := keyOf(e.session, e.id); l.open[key] == e {
		l.open[key] = nil
	}
}

// Network returns the kept requests in the order of their numbers: those since the
// page was attached to, and those before that as far as the browser and the
// documents still tell of them. Data URLs are left out.
func (p *Page) Network(ctx context.Context) []Request {
	p.browser.flush()
	if err := p.recall(ctx); err != nil {
		p.browser.log.Debug("page: it does not tell what it asked for before", "page", p.id, "err", err)
	}
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
	if found.redirected {
		for _, part := range found.posted {
			d.RequestBody = append(d.RequestBody, part.Bytes...)
		}
		return d, nil
	}
	if found.hasBody {
		r, err := protocol.Call(ctx, found.session, network.GetRequestPostData, network.GetRequestPostDataParams{RequestID: found.id})
		if err != nil && !cdp.Refused(err) {
			return d, p.explain(err, doing)
		}
		d.RequestBody = r.PostData
	}
	if !found.Done || found.Failed != "" || found.Type == webSocketType {
		return d, nil
	}
	if found.id != "" {
		r, err := protocol.Call(ctx, found.session, network.GetResponseBody, network.GetResponseBodyParams{RequestID: found.id})
		switch {
		case cdp.Refused(err):
			d.BodyError = "the browser has no body for it any more"
		case err != nil:
			return d, p.explain(err, doing)
		}
		d.ResponseBody = r.Body
	}
	// Of one that was under way, it may be only the rest, which is nothing.
	if found.Past && len(d.ResponseBody) == 0 {
		return p.pastBody(ctx, d)
	}
	return d, nil
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
	if e.Request == nil {
		return
	}
	key := keyOf(s, e.RequestID)
	if strings.HasPrefix(e.Request.URL, "data:") {
		p.requests.open[key] = nil
		return
	}
	if e.RedirectResponse != nil {
		// The same id goes on at the new address; what was redirected is done.
		before, known := p.requests.open[key]
		if !known {
			before = p.requests.answeredLate(s, e.RequestID, e.RedirectResponse, e.Type, e.Timestamp)
		}
		if before != nil {
			before.answer(e.RedirectResponse)
			before.redirected = true
			before.finish(e.Timestamp)
		}
	}
	sent := &entry{
		Request: Request{
			Method: e.Request.Method, URL: e.Request.URL, Type: strings.ToLower(string(e.Type)),
			Started: time.UnixMicro(int64(e.WallTime.Float64() * 1e6)),
		},
		id: e.RequestID, session: s, began: e.Timestamp, requestHeaders: e.Request.Headers, hasBody: e.Request.HasPostData,
	}
	size := 0
	for _, part := range e.Request.PostDataEntries {
		size += len(part.Bytes)
	}
	if size <= maxPosted {
		sent.posted = e.Request.PostDataEntries
	}
	navigates := e.Type == network.ResourceTypeDocument && e.FrameID == p.frames.Main()
	sent.Navigation = navigates && e.RedirectResponse == nil
	sent.Documents[1] = e.DocumentURL
	if !navigates {
		sent.Documents[0] = p.documents(s)[0]
	}
	p.requests.add(sent)
	p.requests.open[key] = sent
}

func (e *entry) answer(r *network.Response) {
	e.Status, e.MIMEType = int(r.Status), r.MimeType
	e.FromCache = r.FromDiskCache || r.FromPrefetchCache
	e.responseHeaders = r.Headers
}

func (e *entry) finish(at protocol.MonotonicTime) {
	e.Done = true
	if !e.redirected {
		e.posted = nil
	}
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
	key := keyOf(s, e.RequestID)
	r, known := p.requests.open[key]
	if !known && !p.rereads(s, e.Response) {
		r = p.requests.answeredLate(s, e.RequestID, e.Response, e.Type, e.Timestamp)
	}
	if !known {
		p.requests.open[key] = r
	}
	if r == nil {
		return
	}
	r.session = s
	r.answer(e.Response)
	if r.Done {
		delete(p.requests.open, key)
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
	key := keyOf(s, e.RequestID)
	r, known := p.requests.open[key]
	if !known {
		p.untold(s)
		return
	}
	if r == nil || r.Status != 0 {
		delete(p.requests.open, key)
	} // else it ends in another process than that which tells of the answer
	if r != nil {
		r.session = s
		r.Size = int64(e.EncodedDataLength)
		r.finish(e.Timestamp)
		p.learnKind(r)
		p.learnAnswer(r)
	}
}

func (p *Page) requestFailed(s *cdp.Session, e *network.EventLoadingFailed) {
	key := keyOf(s, e.RequestID)
	r, known := p.requests.open[key]
	delete(p.requests.open, key)
	reason := e.ErrorText
	if e.BlockedReason != "" {
		reason += " (" + string(e.BlockedReason) + ")"
	}
	if !known {
		p.requests.failedLate(key, reason)
		p.untold(s)
	}
	if r != nil {
		r.Failed = reason
		r.finish(e.Timestamp)
		p.learnKind(r)
	}
}
