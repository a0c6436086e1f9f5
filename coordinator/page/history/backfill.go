package history

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/target"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/frame"
)

// Requests that began before their session was attached to. The browser replays a
// console, but not the network. For a request under way, it reports the response and the
// end, but not the request. The documents know completed requests (Resource Timing).

// Ask reads the past requests of the page's own documents. What cannot be read now is
// read when the requests are listed.
func (n *Network) Ask(ctx context.Context) (DocumentReport, error) { return n.ask(ctx, n.opts.Session) }

// LearnFirst adds what Ask has read, before any caller has seen the requests.
func (n *Network) LearnFirst(p DocumentReport) {
	n.history.mu.Lock()
	defer n.history.mu.Unlock()
	n.log.learn(n.opts.Session, p)
	n.log.renumber()
}

func (n *Network) ask(ctx context.Context, s *cdp.Session) (DocumentReport, error) {
	n.history.mu.Lock()
	delete(n.log.unread, s)
	n.history.mu.Unlock()
	report, err := n.readPast(ctx, s)
	n.opts.Frames.Flush() // or requests that events reported before would count as unread
	if err != nil && !errors.Is(err, cdp.ErrSessionGone) && !errors.Is(err, frame.ErrGone) {
		n.history.mu.Lock()
		n.log.unread[s] = true
		n.history.mu.Unlock()
	}
	return report, err
}

// Unread notes that a session's documents know of requests that no event reports, and
// starts to read them while the documents exist.
func (n *Network) Unread(s *cdp.Session) {
	n.history.mu.Lock()
	defer n.history.mu.Unlock()
	n.unread(s)
}

// unread is Unread with mu held.
func (n *Network) unread(s *cdp.Session) {
	n.log.unread[s] = true
	if !n.log.remembering {
		n.log.remembering = true
		_ = n.opts.Go(n.remember) // a browser that has gone has nothing to read
	}
}

// WorkerStarted notes a worker of the page. The request for its script has the
// worker's id.
func (n *Network) WorkerStarted(s *cdp.Session, id target.ID) {
	n.history.mu.Lock()
	defer n.history.mu.Unlock()
	n.log.scripts[s] = requestKey{id: network.RequestID(id)}
	n.unread(s)
}

// SessionEnded discards the pending reads of a session.
func (n *Network) SessionEnded(s *cdp.Session) {
	n.history.mu.Lock()
	defer n.history.mu.Unlock()
	delete(n.served, s)
	delete(n.log.unread, s)
	delete(n.log.firstReads, s)
	delete(n.log.scripts, s)
}

// remember runs recall for later callers.
func (n *Network) remember() {
	n.history.mu.Lock()
	n.log.remembering = false
	n.history.mu.Unlock()
	if err := n.recall(context.Background()); err != nil {
		n.opts.Logger.Debug("history: past requests cannot be read now", "err", err)
	}
}

// recall queries the documents that know of requests without an event.
func (n *Network) recall(ctx context.Context) error {
	n.reading.Lock()
	defer n.reading.Unlock()
	n.history.mu.Lock()
	sessions := slices.Collect(maps.Keys(n.log.unread))
	n.history.mu.Unlock()
	if len(sessions) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, n.opts.PastTimeout)
	defer cancel()
	ctx, end, err := n.opts.Lifecycle.Begin(ctx) // no call of [lifecycle.Run], which probes what is slow
	if err != nil {
		return err
	}
	defer end()
	var failures []error
	for _, s := range sessions {
		report, err := n.ask(ctx, s)
		if err != nil {
			failures = append(failures, err)
			continue
		}
		n.history.mu.Lock()
		n.log.learn(s, report)
		if e := n.log.workerRuns(s); e != nil {
			n.learnResponse(e)
		}
		if s == n.opts.Session && n.log.unreported() {
			n.log.unread[s] = true // the document lists a worker's script only after the worker has received it
		}
		n.history.mu.Unlock()
		n.opts.Lifecycle.Wake()
	}
	return errors.Join(failures...)
}

// pastTypes maps initiator types of Resource Timing to Chromium's types, where the
// names differ.
var pastTypes = map[string]string{
	"navigation": "document", "img": "image", "link": "stylesheet", "css": "stylesheet", "xmlhttprequest": "xhr",
	"iframe": "document", "frame": "document", "video": "media", "audio": "media", "beacon": "ping",
}

// pastMethods are the methods of requests whose method script cannot choose. A document
// that was requested with a form's POST cannot be distinguished.
var pastMethods = map[string]string{
	"document": "GET", "script": "GET", "stylesheet": "GET", "image": "GET", "font": "GET", "media": "GET",
	"manifest":  "GET",
	"texttrack": "GET", "ping": "POST",
}

func (t DocumentReport) requests(session *cdp.Session) []*entry {
	var entries []*entry
	for _, e := range t.Entries {
		if !strings.HasPrefix(e.Name, "http") {
			continue
		}
		r := Request{
			URL: e.Name, Type: e.Initiator, Status: e.Status, MIMEType: e.Type, Size: e.Size,
			Started:  time.UnixMicro(int64(e.Start * 1000)),
			Duration: time.Duration(e.Duration * float64(time.Millisecond)),
			Done:     e.Done, Backfilled: true, Navigation: e.Initiator == "navigation",
			Opened: e.Initiator == "navigation",
		}
		if kind := pastTypes[r.Type]; kind != "" {
			r.Type = kind
		}
		r.Method = pastMethods[r.Type]
		entries = append(entries, &entry{Request: r, session: session})
	}
	slices.SortStableFunc(entries, func(a, b *entry) int { return a.Started.Compare(b.Started) })
	return entries
}

// learn adds what the documents of a session report, except for requests that began
// after the first read: events report those.
func (l *requestLog) learn(s *cdp.Session, report DocumentReport) {
	firstRead, exists := l.firstReads[s]
	if !exists {
		firstRead = time.UnixMicro(int64(report.Now * 1000))
		l.firstReads[s] = firstRead
	}
	known := map[*entry]bool{} // each entry matches one request
	for _, r := range report.requests(s) {
		e := l.findEntry(r, known)
		switch {
		case e != nil:
			e.complete(r)
			if key := keyOf(e.session, e.id); e.Done && e.Status != 0 && l.open[key] == e {
				delete(l.open, key)
			}
		case r.Started.After(firstRead):
			continue
		default:
			l.add(r)
			e = r
		}
		known[e] = true
	}
}

// workerRuns ends the request for the script of a running worker, because no event does
// if the request ended before. It returns nil if the request has ended.
func (l *requestLog) workerRuns(s *cdp.Session) *entry {
	key, worker := l.scripts[s]
	if !worker {
		return nil
	}
	e := l.open[key]
	l.scripts[s] = requestKey{}
	if e != nil && !e.Done {
		e.Done, e.Duration = true, time.Since(e.Started)
	}
	return e
}

// learnResponse reads the response with a worker's script from the page, because no event
// reports it. mu is held.
func (n *Network) learnResponse(r *entry) {
	if r.unreported() {
		n.unread(n.opts.Session)
	}
}

// unreported reports whether no event reports the response of a request.
func (e *entry) unreported() bool {
	return e.Status == 0 && e.Failed == "" && e.id != "" && keyOf(e.session, e.id).session == ""
}

func (l *requestLog) unreported() bool {
	return slices.ContainsFunc(l.entries, func(e *entry) bool { return e.Done && e.Type == "script" && e.unreported() })
}

// samePast is how far the two clocks of one request may differ.
const samePast = 500 * time.Millisecond

// findEntry finds the entry of the request that a document reports. If events reported only
// the response, the entry's time is a guess.
func (l *requestLog) findEntry(r *entry, known map[*entry]bool) *entry {
	var found *entry
	var nearest time.Duration
	for _, e := range l.entries {
		if e.URL != r.URL || known[e] {
			continue
		}
		apart := e.Started.Sub(r.Started).Abs()
		guessed := e.Backfilled && e.id != ""
		if (guessed || apart < samePast) && (found == nil || apart < nearest) {
			found, nearest = e, apart
		}
	}
	return found
}

// complete copies what a document knows better than the events.
func (e *entry) complete(r *entry) {
	if e.Status == 0 && e.Failed == "" {
		e.Status, e.MIMEType = r.Status, r.MIMEType
	}
	if !e.Backfilled {
		// The document of a frame in another process may load completely before events of
		// that process are enabled.
		if r.Done && !e.Done && e.Status != 0 && e.Type == "document" {
			e.Done, e.Duration, e.Size = true, r.Duration, r.Size
		}
		return
	}
	if e.id == "" {
		seq, failed, documents := e.Seq, e.Failed, e.Documents
		if r.Status == 0 { // the parent document of a cross-origin frame does not know more
			r.Status, r.MIMEType = e.Status, e.MIMEType
		}
		e.Request = r.Request
		e.Seq, e.Failed, e.Documents = seq, failed, documents
		return
	}
	e.Started = r.Started
	if r.Done {
		e.Done, e.Duration = true, r.Duration
	}
	if e.Type == "" || e.Type == "other" {
		e.Type, e.Method = r.Type, r.Method
	}
}

// renumber sorts the entries by their start. No caller has seen their numbers yet.
func (l *requestLog) renumber() {
	slices.SortStableFunc(l.entries, func(a, b *entry) int { return a.Started.Compare(b.Started) })
	for i, e := range l.entries {
		e.Seq = int64(i + 1)
	}
	l.seq = int64(len(l.entries))
}

// addResponse adds a request whose first event is the response. It returns nil if the
// request is not listed.
func (l *requestLog) addResponse(
	s *cdp.Session, id network.RequestID, r *network.Response, kind network.ResourceType, timestamp protocol.MonotonicTime,
) *entry {
	if strings.HasPrefix(r.URL, "data:") {
		return nil
	}
	name := strings.ToLower(string(kind))
	e := &entry{
		Request: Request{
			Method: pastMethods[name], URL: r.URL, Type: name, Backfilled: true,
			Started: beganAt(r, timestamp),
		},
		id: id, session: s, start: timestamp,
	}
	if r.Timing != nil && r.Timing.RequestTime > 0 {
		e.start = protocol.MonotonicTime(r.Timing.RequestTime)
	}
	l.add(e)
	return e
}

// beganAt is when the request of a response began that has just come.
func beganAt(r *network.Response, timestamp protocol.MonotonicTime) time.Time {
	now := time.Now()
	if r.Timing == nil || r.Timing.RequestTime <= 0 {
		return now
	}
	return now.Add(-time.Duration((timestamp.Float64() - r.Timing.RequestTime) * float64(time.Second)))
}

// rereads reports whether a response without a request is one that the browser itself requested, of a
// resource that existed already: for [Network.Reread], or for that of another program. A request that
// was under way when the session was attached to began before. mu is held.
func (n *Network) rereads(s *cdp.Session, e *network.EventResponseReceived) bool {
	own := s == n.opts.Session && n.log.reread == n.history.document+1
	first, attached := n.log.firstReads[s]
	since := attached && beganAt(e.Response, e.Timestamp).After(first)
	return (own || since) && slices.ContainsFunc(n.log.entries, func(known *entry) bool {
		return known.URL == e.Response.URL && known.Done
	})
}

// learnType reads the type of a request of which events reported only the response:
// events omit the type of a request that script made. mu is held.
func (n *Network) learnType(r *entry) {
	if r.Backfilled && r.Type == "other" {
		n.unread(r.session)
	}
}

// maxFailed bounds how many failures wait for the log entry with their URL.
const maxFailed = 100

// addFailure notes why a request failed that has no other event.
func (l *requestLog) addFailure(key requestKey, reason string) {
	if len(l.failed) >= maxFailed {
		clear(l.failed)
	}
	l.failed[key] = reason
}

// failedAt adds such a request when the browser's log reports its URL.
func (l *requestLog) failedAt(s *cdp.Session, id network.RequestID, url string, moment time.Time) {
	key := keyOf(s, id)
	reason, noted := l.failed[key]
	if !noted {
		return
	}
	delete(l.failed, key)
	for _, e := range slices.Backward(l.entries) {
		if e.URL == url && e.Backfilled && e.Status == 0 && e.Failed == "" {
			e.Done, e.Failed = true, reason
			return
		}
	}
	l.add(&entry{
		Request: Request{URL: url, Type: "other", Failed: reason, Done: true, Backfilled: true, Started: moment}, id: id,
		session: s,
	})
}

// pastBody reads the body of a request that began before the page was attached to,
// if the document still has it.
func (n *Network) pastBody(ctx context.Context, d *RequestDetails) error {
	content, err := n.ResourceContent(ctx, d.URL)
	switch {
	case cdp.Refused(err):
		d.BodyNote = "the request was made before this session looked at the page: its body was not kept"
	case err != nil:
		return err
	}
	d.ResponseBody = content
	return nil
}

// Loaded is what the browser still has of a response.
type Loaded struct {
	Headers map[string]string
	Body    []byte
	Kept    bool // the browser has the whole body
}

// Load reads the last complete response for a URL. The result is zero if there is none.
func (n *Network) Load(ctx context.Context, address string) (Loaded, error) {
	n.history.mu.Lock()
	var last entry
	for _, e := range n.log.entries {
		if e.URL == address && e.Done && e.Failed == "" {
			last = *e
		}
	}
	n.history.mu.Unlock()
	l := Loaded{Headers: headerText(last.responseHeaders)}
	if last.id == "" {
		return l, nil
	}
	r, err := protocol.Call(ctx, last.session, network.GetResponseBody, network.GetResponseBodyParams{
		RequestID: last.id,
	})
	if err != nil {
		if cdp.Refused(err) {
			err = nil
		}
		return l, err
	}
	l.Body, l.Kept = r.Body, !(last.Backfilled && len(r.Body) == 0)
	return l, nil
}
