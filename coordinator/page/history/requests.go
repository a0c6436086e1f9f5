package history

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/target"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/remote"
)

// Request is a request of the page or of one of its frames.
type Request struct {
	Seq       int64  // rises by one per request of the page
	Method    string // empty: unknown, which requires Past
	URL       string
	Type      string // document, script, fetch, xhr, image, …
	Status    int    // 0: no response yet, or none
	MIMEType  string
	Failed    string // why there is no response, for example net::ERR_FAILED
	Done      bool   // its response is complete, or it failed
	FromCache bool
	// Navigation reports that it is the main frame's document, and not the target of a
	// redirect.
	Navigation bool
	// Opened: the page has shown that document. A download, or a navigation that was cancelled, opens none.
	Opened     bool
	Backfilled bool  // begun before the page was attached, so no event reported its start
	Size       int64 // bytes received
	Started    time.Time
	Duration   time.Duration // until it was done
	// Documents are the URLs of the page and of the frame that made the request, as far as
	// they are known; empty for a document that the page navigates to.
	Documents [2]string
	// Calls are the calls in scripts that made it, the innermost first; nil: none did, or unknown.
	Calls []remote.Position
	// Place is that of its maker in the workspace, as file:line:column; empty: unknown, or not
	// looked up.
	Place string
}

// RequestDetails is a request with its headers and bodies.
type RequestDetails struct {
	Request
	// The headers that were sent and received, with cookies. A name with several values has
	// one on each line. Headers of requests that the network never saw are the page's own.
	RequestHeaders  map[string]string
	ResponseHeaders map[string]string
	RequestBody     []byte
	RequestNote     string // why there is no request body, although there was one
	ResponseBody    []byte
	BodyNote        string // why there is no response body, if there should be one, or what it lacks
	Transport
	Messages []SocketMessage // of a WebSocket, the oldest first
	Omitted  int             // messages before them, which are no longer kept
}

// Transport is how a response was received.
type Transport struct {
	StatusText string
	Protocol   string // for example http/1.1 or h2; empty: unknown
	Address    string // the server's IP address; empty: there was none
	// Timing has the phases; nil: unknown. Began is when the request began, in seconds on
	// Timing's clock.
	Timing *network.ResourceTiming
	Began  float64
}

// Addresses are the URLs of a request and of its documents.
func (r Request) Addresses() []string { return append(r.Documents[:], r.URL) }

// These bound the bodies that the browser keeps for this connection.
const (
	maxBodies = 16 << 20
	maxBody   = 4 << 20
)

// Enable makes a session report its requests, without waiting for the response.
func Enable(ctx context.Context, s *cdp.Session) error {
	_, err := s.Start(ctx, network.CommandEnable, network.EnableParams{
		MaxTotalBufferSize: new(int64(maxBodies)), MaxResourceBufferSize: new(int64(maxBody)),
	})
	return err
}

// KeepBodies makes the bodies of a session outlive their document. Older browsers
// refuse it. It does not wait for the response.
func KeepBodies(ctx context.Context, s *cdp.Session) error {
	_, err := s.Start(ctx, network.CommandConfigureDurableMessages, network.ConfigureDurableMessagesParams{
		MaxTotalBufferSize: new(int64(maxBodies)), MaxResourceBufferSize: new(int64(maxBody)),
	})
	return err
}

// entry is a request with the data to match its events.
type entry struct {
	Request
	id              network.RequestID // empty: no event has reported it, see backfill.go
	session         *cdp.Session      // the last session that reported it
	document        int               // History.document when it began
	start           protocol.MonotonicTime
	requestHeaders  network.Headers
	responseHeaders network.Headers
	transport       Transport
	hasBody         bool
	streamed        stream // of a response that goes on
	// raw are the raw headers of all requests with this id, nil if there are none for this
	// one; hop is its place in them.
	raw *rawHeaders
	hop int
	// failure is the place of this request in the order in which requests failed; 0: it did
	// not.
	failure int64
	// dismissed reports that the agent knows its failure from another answer.
	dismissed  bool
	messages   int    // of a WebSocket so far
	redirected bool   // the id now belongs to the redirect's target
	posted     []byte // its body, for when the browser no longer has it; empty: not known, or too long
}

// maxPosted bounds the body of a request that is kept: those of all requests take as much as the
// responses that the browser keeps.
const maxPosted = 16 << 10

// Network keeps the most recent requests.
type Network struct {
	history *History
	opts    Options
	reading sync.Mutex // serializes reading past requests; taken before mu
	log     *requestLog
	served  map[*cdp.Session]bool // a service worker has responded there
	raw     rawLog
	sockets socketLog
}

func newNetwork(h *History, opts Options) *Network {
	n := &Network{
		history: h, opts: opts, served: map[*cdp.Session]bool{}, raw: rawLog{byRequest: map[requestKey]*rawHeaders{}},
	}
	n.log = &requestLog{
		size: opts.NetworkSize, open: map[requestKey]*entry{}, history: h,
		unread: map[*cdp.Session]bool{opts.Session: true}, firstReads: map[*cdp.Session]time.Time{},
		failed: map[requestKey]string{}, scripts: map[*cdp.Session]requestKey{},
	}
	return n
}

// requestLog is the requests of a page in the order of their numbers. Network.mu guards it.
type requestLog struct {
	size    int
	seq     int64
	failure int64    // number of the last failure
	entries []*entry // oldest first
	// open are the requests that are not done or have no response yet. A nil entry is
	// ignored or dropped.
	open    map[requestKey]*entry
	history *History

	// The state of reading requests from before the attachment, see backfill.go.

	// unread are sessions whose documents know of requests that no event reported.
	unread map[*cdp.Session]bool
	// firstReads is when a session's documents were first queried: events report requests that
	// began later.
	firstReads map[*cdp.Session]time.Time
	// failed is why requests failed whose URL is not known yet.
	failed map[requestKey]string
	// scripts are the requests that made workers; empty: the worker runs.
	scripts     map[*cdp.Session]requestKey
	remembering bool // remember is about to start
	reread      int  // 1 + History.document of the document whose content was requested; 0: none
}

// requestKey identifies a request in events. Ids from renderers are unique only per
// session. Ids of documents and of workers' scripts are unique everywhere: such a request
// begins in the page's session, and ends in the session of the new frame or worker.
type requestKey struct {
	session target.SessionID // empty: any session
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
	e.Seq, e.document = l.seq, l.history.document
	if !e.Navigation && e.Documents == [2]string{} {
		e.Documents = l.history.documents(e.session)
	}
	if len(l.entries) == l.size {
		oldest := l.entries[0]
		if key := keyOf(oldest.session, oldest.id); l.open[key] == oldest {
			l.open[key] = nil // it may still have events
		}
		l.entries = slices.Delete(l.entries, 0, 1)
	}
	l.entries = append(l.entries, e)
}

// Requests returns the kept requests in the order of their numbers. Those from before the
// attachment are included as far as the browser and the documents still report them. Data
// URLs are omitted.
func (n *Network) Requests(ctx context.Context) []Request {
	n.opts.Frames.Flush()
	if err := n.recall(ctx); err != nil {
		n.opts.Logger.Debug("history: past requests were not read", "err", err)
	}
	n.history.mu.Lock()
	defer n.history.mu.Unlock()
	requests := make([]Request, 0, len(n.log.entries))
	for _, e := range n.log.entries {
		requests = append(requests, e.Request)
	}
	return requests
}

// ErrForgotten reports that the log no longer has a request.
var ErrForgotten = errors.New("list them again, old ones are forgotten")

// Request returns one of the requests with its headers and with the bodies that the
// browser still has.
func (n *Network) Request(ctx context.Context, seq int64) (RequestDetails, error) {
	n.history.mu.Lock()
	i := slices.IndexFunc(n.log.entries, func(e *entry) bool { return e.Seq == seq })
	var found entry
	var messages []SocketMessage
	if i >= 0 {
		found = *n.log.entries[i]
		messages = n.sockets.of(seq)
	}
	n.history.mu.Unlock()
	if i < 0 {
		return RequestDetails{}, fmt.Errorf("there is no request %d: %w", seq, ErrForgotten)
	}
	sent, received := found.headers()
	d := RequestDetails{Request: found.Request, RequestHeaders: headerText(sent), ResponseHeaders: headerText(received),
		Transport: found.transport, Messages: messages, Omitted: found.messages - len(messages)}
	d.Began = found.start.Float64()
	err := n.opts.Run(ctx, "reading a request", 0, func(ctx context.Context) error {
		return n.readBodies(ctx, &found, &d)
	})
	return d, err
}

func (n *Network) readBodies(ctx context.Context, found *entry, d *RequestDetails) error {
	// A frame or a worker takes what its session has with it.
	isGone := func(err error) bool {
		return cdp.Refused(err) || errors.Is(err, cdp.ErrSessionGone) && found.session != n.opts.Session
	}
	if found.hasBody && !found.redirected {
		r, err := protocol.Call(ctx, found.session, network.GetRequestPostData, network.GetRequestPostDataParams{
			RequestID: found.id,
		})
		if err != nil && !isGone(err) {
			return err
		}
		d.RequestBody = r.PostData
	}
	if found.hasBody && len(d.RequestBody) == 0 {
		if d.RequestBody = found.posted; len(d.RequestBody) == 0 {
			d.RequestNote = fmt.Sprintf("the browser no longer has it: read a body of more than %d kB, or with files, "+
				"before the page leaves its document or the request is redirected", maxPosted>>10)
		}
	}
	if found.redirected {
		return nil
	}
	if found.Type == webSocketType {
		return nil
	}
	if !found.Done || found.Failed != "" {
		d.ResponseBody = found.streamed.end
	}
	if !found.Done {
		if len(d.ResponseBody) > 0 {
			d.BodyNote = "still arriving: " + found.streamed.note()
		}
		return nil
	}
	if found.Failed != "" {
		switch {
		case len(d.ResponseBody) > 0:
			d.BodyNote = "it ended too early: " + found.streamed.note()
		case len(d.ResponseHeaders) > 0:
			d.BodyNote = "the browser keeps no body of a response that it has blocked or that ended too early"
		}
		return nil
	}
	if found.id != "" {
		r, err := protocol.Call(ctx, found.session, network.GetResponseBody, network.GetResponseBodyParams{
			RequestID: found.id,
		})
		switch {
		case isGone(err):
			d.BodyNote = "the browser no longer has a body for it"
		case err != nil:
			return err
		}
		d.ResponseBody = r.Body
	}
	// For a request that was under way, the browser may have kept nothing of the body.
	if found.Backfilled && len(d.ResponseBody) == 0 {
		return n.pastBody(ctx, d)
	}
	return nil
}

// Header is the value of a header, whatever the case of its name.
func Header(headers map[string]string, name string) string {
	for each, value := range headers {
		if strings.EqualFold(each, name) {
			return value
		}
	}
	return ""
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

func (n *Network) requestSent(s *cdp.Session, e *network.EventRequestWillBeSent) {
	if e.Request == nil {
		return
	}
	key := keyOf(s, e.RequestID)
	if strings.HasPrefix(e.Request.URL, "data:") {
		n.log.open[key] = nil
		return
	}
	hop := 0
	if e.RedirectResponse != nil {
		// The redirect's target reuses the id; the redirected request is done.
		before, known := n.log.open[key]
		if !known {
			before = n.log.addResponse(s, e.RequestID, e.RedirectResponse, e.Type, e.Timestamp)
		}
		if before != nil {
			before.respond(e.RedirectResponse, e.RedirectHasExtraInfo)
			before.redirected = true
			before.finish(e.Timestamp)
			if hop = before.hop; before.raw != nil {
				hop++
			}
		}
	}
	sent := &entry{
		Request: Request{
			Method: e.Request.Method, URL: e.Request.URL, Type: strings.ToLower(string(e.Type)),
			Started: time.UnixMicro(int64(e.WallTime.Float64() * 1e6)),
		},
		id: e.RequestID, session: s, start: e.Timestamp, requestHeaders: e.Request.Headers,
		hasBody: e.Request.HasPostData,
		raw:     n.raw.get(key), hop: hop,
	}
	sent.Calls = callsOf(e.Initiator)
	for _, part := range e.Request.PostDataEntries {
		sent.posted = append(sent.posted, part.Bytes...)
		if len(part.Bytes) == 0 || len(sent.posted) > maxPosted { // a file, or too long
			sent.posted = nil
			break
		}
	}
	navigates := e.Type == network.ResourceTypeDocument && e.FrameID == n.opts.Frames.Main()
	sent.Navigation = navigates && e.RedirectResponse == nil
	sent.Documents[1] = e.DocumentURL
	if !navigates {
		sent.Documents[0] = n.history.documents(s)[0]
	}
	n.log.add(sent)
	n.log.open[key] = sent
}

// maxCalls bounds how many calls of a request are kept.
const maxCalls = 10

// callsOf are the calls that made a request.
func callsOf(i *network.Initiator) []remote.Position {
	if i == nil {
		return nil
	}
	calls := remote.Calls(i.Stack)
	if len(calls) == 0 && i.URL != "" && i.Type == network.InitiatorTypeScript { // it imports a module
		calls = []remote.Position{remote.NewPosition(i.URL, i.LineNumber, i.ColumnNumber)}
	}
	return calls[:min(len(calls), maxCalls)]
}

// respond notes a response. Where its raw headers are not reported, there are none of its
// request either.
func (e *entry) respond(r *network.Response, hasRaw bool) {
	if !hasRaw {
		e.raw = nil
	}
	e.Status, e.MIMEType = int(r.Status), r.MimeType
	e.FromCache = r.FromDiskCache || r.FromPrefetchCache
	e.responseHeaders = r.Headers
	e.transport = Transport{StatusText: r.StatusText, Protocol: r.Protocol, Address: r.RemoteIPAddress, Timing: r.Timing}
}

func (e *entry) finish(timestamp protocol.MonotonicTime) {
	e.Done = true
	if e.Failed == "" {
		e.streamed = stream{} // the browser has the whole body
	}
	// The browser may have received a prefetched response before the page requested it.
	e.Duration = max(0, time.Duration((timestamp.Float64()-e.start.Float64())*float64(time.Second)))
}

func (n *Network) responseReceived(s *cdp.Session, e *network.EventResponseReceived) {
	if e.Response == nil {
		return
	}
	if e.Response.FromServiceWorker && !n.served[s] {
		n.served[s] = true
		n.keepWorkersBodies(s)
	}
	key := keyOf(s, e.RequestID)
	r, known := n.log.open[key]
	if !known && !n.rereads(s, e) {
		r = n.log.addResponse(s, e.RequestID, e.Response, e.Type, e.Timestamp)
	}
	if !known {
		n.log.open[key] = r
	}
	if r == nil {
		return
	}
	r.session = s
	r.respond(e.Response, e.HasExtraInfo)
	if r.Status >= http.StatusBadRequest {
		n.log.fail(r)
	}
	if streamTypes[r.MIMEType] && r.Type != eventSourceType && !r.Done {
		n.streamBody(s, r)
	}
	if r.Done {
		delete(n.log.open, key)
	}
}

// startTimeout bounds how long queueing a command may take.
const startTimeout = time.Second

// keepWorkersBodies limits the lifetime of a session's bodies to their document once a
// service worker responds there. Chromium keeps bodies of a worker's responses in no
// other way. The body of the first response is lost.
func (n *Network) keepWorkersBodies(s *cdp.Session) {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	if _, err := s.Start(ctx, network.CommandConfigureDurableMessages,
		network.ConfigureDurableMessagesParams{}); err != nil {
		n.opts.Logger.Debug("history: a session ended before its bodies were kept", "err", err)
	}
}

func (n *Network) requestFinished(s *cdp.Session, e *network.EventLoadingFinished) {
	key := keyOf(s, e.RequestID)
	r, known := n.log.open[key]
	if !known {
		n.unread(s)
		return
	}
	if r == nil || r.Status != 0 {
		delete(n.log.open, key)
	} // otherwise it ends in another process than the one that reports the response
	if r != nil {
		r.session = s
		r.Size = int64(e.EncodedDataLength)
		r.finish(e.Timestamp)
		n.learnType(r)
		n.learnResponse(r)
	}
}

func (n *Network) requestFailed(s *cdp.Session, e *network.EventLoadingFailed) {
	key := keyOf(s, e.RequestID)
	r, known := n.log.open[key]
	delete(n.log.open, key)
	reason := e.ErrorText
	if e.BlockedReason != "" {
		reason += " (" + string(e.BlockedReason) + ")"
	}
	if !known {
		n.log.addFailure(key, reason)
		n.unread(s)
	}
	if r != nil {
		r.Failed = reason
		if !e.Canceled {
			n.log.fail(r)
		}
		r.finish(e.Timestamp)
		n.learnType(r)
	}
}

// fail numbers a request that has failed; mu is held.
func (l *requestLog) fail(e *entry) {
	if e.failure == 0 && !strings.HasSuffix(e.URL, "/favicon.ico") {
		l.failure++
		e.failure = l.failure
	}
}
