package page

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/frame"
)

// Requests that began before their session was attached to. The browser replays a
// console, but not the network: of what was under way it tells the answer and the
// end, without the request. The documents know what is done (Resource Timing).

// earlier is what it takes to learn of them.
type earlier struct {
	// untold are sessions whose documents know of requests that no event told of.
	untold map[*cdp.Session]bool
	// asked is when a session's documents were first asked: what began later is
	// told by events.
	asked map[*cdp.Session]time.Time
	// failed is why requests failed whose address is still to come.
	failed map[requestKey]string
	// scripts are the requests that made workers; empty: the worker has answered.
	scripts     map[*cdp.Session]requestKey
	remembering bool // remember is about to ask
	reread      int  // 1 + Page.commits of the document whose content was asked for; 0: none
}

func newEarlier() earlier {
	return earlier{untold: map[*cdp.Session]bool{}, asked: map[*cdp.Session]time.Time{}, failed: map[requestKey]string{}, scripts: map[*cdp.Session]requestKey{}}
}

// ask reads the past of a session's documents; what cannot be read now is still
// untold.
func (p *Page) ask(ctx context.Context, s *cdp.Session) (past, error) {
	p.mu.Lock()
	delete(p.requests.untold, s)
	p.mu.Unlock()
	told, err := p.readPast(ctx, s)
	p.browser.flush() // or what events told before would be taken for untold
	if err != nil && !errors.Is(err, cdp.ErrSessionGone) && !errors.Is(err, frame.ErrGone) {
		p.mu.Lock()
		p.requests.untold[s] = true
		p.mu.Unlock()
	}
	return told, err
}

// untold notes that a session's documents know of requests that no event tells of,
// and has them asked while they are there; mu is held.
func (p *Page) untold(s *cdp.Session) {
	p.requests.untold[s] = true
	if !p.requests.remembering {
		p.requests.remembering = true
		p.browser.recording.Go(p.remember)
	}
}

// remember is recall on behalf of whoever will look at the requests later.
func (p *Page) remember() {
	p.mu.Lock()
	p.requests.remembering = false
	p.mu.Unlock()
	if err := p.recall(context.Background()); err != nil {
		p.browser.log.Debug("page: it does not tell now what it asked for before", "page", p.id, "err", err)
	}
}

// recall asks the documents that know of requests which no event has told of.
func (p *Page) recall(ctx context.Context) error {
	p.asking.Lock()
	defer p.asking.Unlock()
	p.mu.Lock()
	sessions := slices.Collect(maps.Keys(p.requests.untold))
	p.mu.Unlock()
	if len(sessions) == 0 {
		return nil
	}
	ctx, end, err := p.beginOperation(ctx, "reading past requests", p.browser.opts.CallTimeout/attachShare, &operation{patient: true})
	if err != nil {
		return err
	}
	defer end()
	var failures []error
	for _, s := range sessions {
		told, err := p.ask(ctx, s)
		if err != nil {
			failures = append(failures, err)
			continue
		}
		p.mu.Lock()
		p.requests.learn(s, told)
		if e := p.requests.workerRuns(s); e != nil {
			p.learnAnswer(e)
		}
		if s == p.session && p.requests.unanswerable() {
			p.requests.untold[s] = true // it notes a worker's script only after the worker has it
		}
		p.notify()
		p.mu.Unlock()
	}
	return errors.Join(failures...)
}

// leave forgets what was to be learnt from a session that has ended.
func (e *earlier) leave(s *cdp.Session) {
	delete(e.untold, s)
	delete(e.asked, s)
	delete(e.scripts, s)
}

// pastTypes are the initiator types of Resource Timing that Chromium's own types
// call otherwise.
var pastTypes = map[string]string{
	"navigation": "document", "img": "image", "link": "stylesheet", "css": "stylesheet", "xmlhttprequest": "xhr",
	"iframe": "document", "frame": "document", "video": "media", "audio": "media", "beacon": "ping",
}

// pastMethods are the methods of requests that script has no say in. A document
// that a form was posted to cannot be told from others.
var pastMethods = map[string]string{
	"document": "GET", "script": "GET", "stylesheet": "GET", "image": "GET", "font": "GET", "media": "GET", "manifest": "GET",
	"texttrack": "GET", "ping": "POST",
}

func (t past) requests(session *cdp.Session) []*entry {
	var entries []*entry
	for _, e := range t.Entries {
		if !strings.HasPrefix(e.Name, "http") {
			continue
		}
		r := Request{
			URL: e.Name, Type: e.Initiator, Status: e.Status, MIMEType: e.Type, Size: e.Size,
			Started: time.UnixMicro(int64(e.Start * 1000)), Duration: time.Duration(e.Duration * float64(time.Millisecond)),
			Done: e.Done, Past: true, Navigation: e.Initiator == "navigation",
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

// learn takes in what the documents of a session told, but for what events have
// told of too.
func (l *requestLog) learn(s *cdp.Session, told past) {
	until, again := l.asked[s]
	if !again {
		until = time.UnixMicro(int64(told.Now * 1000))
		l.asked[s] = until
	}
	known := map[*entry]bool{} // each is one request
	for _, r := range told.requests(s) {
		e := l.same(r, known)
		switch {
		case e != nil:
			e.complete(r)
			if key := keyOf(e.session, e.id); e.Done && e.Status != 0 && l.open[key] == e {
				delete(l.open, key)
			}
		case r.Started.After(until):
			continue
		default:
			l.add(r)
			e = r
		}
		known[e] = true
	}
}

// workerRuns ends the request for the script of a worker that has answered, which no
// event does where it came before; nil: it has ended.
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

// learnAnswer asks the page for the answer that one of its workers was made of: no
// event tells of it. mu is held.
func (p *Page) learnAnswer(r *entry) {
	if r.unanswerable() {
		p.untold(p.session)
	}
}

// unanswerable is a request whose answer no event tells of.
func (e *entry) unanswerable() bool {
	return e.Status == 0 && e.Failed == "" && e.id != "" && keyOf(e.session, e.id).session == ""
}

func (l *requestLog) unanswerable() bool {
	return slices.ContainsFunc(l.entries, func(e *entry) bool { return e.Done && e.Type == "script" && e.unanswerable() })
}

// samePast is how far the two clocks of one request may differ.
const samePast = 500 * time.Millisecond

// same finds the entry of the request that a document tells of. Of one that was
// only answered before our eyes, the time is a guess.
func (l *requestLog) same(r *entry, known map[*entry]bool) *entry {
	var found *entry
	var nearest time.Duration
	for _, e := range l.entries {
		if e.URL != r.URL || known[e] {
			continue
		}
		apart := e.Started.Sub(r.Started).Abs()
		guessed := e.Past && e.id != ""
		if (guessed || apart < samePast) && (found == nil || apart < nearest) {
			found, nearest = e, apart
		}
	}
	return found
}

// complete takes over what a document knows better.
func (e *entry) complete(r *entry) {
	if e.Status == 0 && e.Failed == "" {
		e.Status, e.MIMEType = r.Status, r.MIMEType
	}
	if !e.Past {
		// The document of a frame in another process may be there in full before
		// that process is asked for its events.
		if r.Done && !e.Done && e.Status != 0 && e.Type == "document" {
			e.Done, e.Duration, e.Size = true, r.Duration, r.Size
		}
		return
	}
	if e.id == "" {
		seq, failed, documents := e.Seq, e.Failed, e.Documents
		if r.Status == 0 { // the document around a frame of another origin knows no more
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

// renumber brings the entries into the order of their beginnings. Nobody has seen
// their numbers yet.
func (l *requestLog) renumber() {
	slices.SortStableFunc(l.entries, func(a, b *entry) int { return a.Started.Compare(b.Started) })
	for i, e := range l.entries {
		e.Seq = int64(i + 1)
	}
	l.seq = int64(len(l.entries))
}

// answeredLate adds a request whose answer is the first that is told of it; nil:
// it is not to be listed.
func (l *requestLog) answeredLate(s *cdp.Session, id network.RequestID, r *network.Response, kind network.ResourceType, at protocol.MonotonicTime) *entry {
	if strings.HasPrefix(r.URL, "data:") {
		return nil
	}
	began := at
	if r.Timing != nil && r.Timing.RequestTime > 0 {
		began = protocol.MonotonicTime(r.Timing.RequestTime)
	}
	typed := strings.ToLower(string(kind))
	e := &entry{
		Request: Request{
			Method: pastMethods[typed], URL: r.URL, Type: typed, Past: true,
			Started: time.Now().Add(-time.Duration((at.Float64() - began.Float64()) * float64(time.Second))),
		},
		id: id, session: s, began: began,
	}
	l.add(e)
	return e
}

// rereads tells an answer that nobody but the browser has asked for, on our behalf:
// of what was there already. mu is held.
func (p *Page) rereads(s *cdp.Session, r *network.Response) bool {
	return s == p.session && p.requests.reread == p.commits+1 && slices.ContainsFunc(p.requests.entries, func(e *entry) bool {
		return e.URL == r.URL && e.Done
	})
}

// learnKind asks for the kind of a request that was only answered before our eyes:
// the browser does not tell what script has asked for. mu is held.
func (p *Page) learnKind(r *entry) {
	if r.Past && r.Type == "other" {
		p.untold(r.session)
	}
}

// maxFailed bounds how many failures wait for the log entry that gives the address.
const maxFailed = 100

// failedLate notes why a request failed of which nothing else was told.
func (l *requestLog) failedLate(key requestKey, reason string) {
	if len(l.failed) >= maxFailed {
		clear(l.failed)
	}
	l.failed[key] = reason
}

// failedAt adds a request that has failed, once the browser's log gives its
// address.
func (l *requestLog) failedAt(s *cdp.Session, id network.RequestID, url string, at time.Time) {
	key := keyOf(s, id)
	reason, noted := l.failed[key]
	if !noted {
		return
	}
	delete(l.failed, key)
	for _, e := range slices.Backward(l.entries) {
		if e.URL == url && e.Past && e.Status == 0 && e.Failed == "" {
			e.Done, e.Failed = true, reason
			return
		}
	}
	l.add(&entry{Request: Request{URL: url, Type: "other", Failed: reason, Done: true, Past: true, Started: at}, id: id, session: s})
}

// pastBody reads the body of a request that began before the page was attached to,
// if the document still has it.
func (p *Page) pastBody(ctx context.Context, d RequestDetails) (RequestDetails, error) {
	content, err := p.resourceContent(ctx, d.URL)
	switch {
	case cdp.Refused(err):
		d.BodyError = "the request was made before this session looked at the page: its body was not kept"
	case err != nil:
		return d, p.explain(err, "reading a request")
	}
	d.ResponseBody = content
	return d, nil
}
