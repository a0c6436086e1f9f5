package cdpproxy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"browser-coordinator/internal/backoff"
)

const (
	bodyTimeout   = 10 * time.Second // for a request's body, which is then ignored
	answerTimeout = 10 * time.Second // for a client to take its answer
)

// bound ends the connection of a client that does not take the answer that comes
// now. What it waited for before took its own time.
func bound(w http.ResponseWriter) {
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerTimeout))
}

// handle answers one HTTP request: who asks, then what for.
func (p *Proxy) handle(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTimeout))
	}
	if no := p.checkPage(r); no != nil {
		p.refuse(w, r, no)
		return
	}
	if h := p.handler(r.URL.Path); h != nil {
		h.ServeHTTP(w, r)
		return
	}
	mount, path, no := p.admit(r)
	if no != nil {
		p.refuse(w, r, no)
		return
	}
	switch {
	case isUpgrade(r):
		p.serveWebSocket(w, r, path)
	case path == "/json" || strings.HasPrefix(path, "/json/"):
		p.serveJSON(w, r, mount, path)
	case path == "" || path == "/":
		p.serveStatus(w, r, mount)
	case strings.HasPrefix(path, "/devtools/"):
		p.refuse(w, r, &refusal{http.StatusUpgradeRequired, "this is a WebSocket address: connect with ws://, or give your client http://" + ownHost(r) + mount + "/"})
	default:
		p.refuse(w, r, &refusal{http.StatusNotFound, "no such path. This is a CDP endpoint: /json/version, /json/list, /json/protocol, /json/new, /json/activate/ID, /json/close/ID, /devtools/browser/ID and /devtools/page/ID."})
	}
}

func (p *Proxy) handler(path string) http.Handler {
	for prefix, h := range p.opts.Handlers {
		if path == prefix || strings.HasSuffix(prefix, "/") && strings.HasPrefix(path, prefix) {
			return h
		}
	}
	return nil
}

func (p *Proxy) refuse(w http.ResponseWriter, r *http.Request, no *refusal) {
	p.refusals.Add(1)
	p.log.Debug("request refused", "client", r.RemoteAddr, "status", no.status, "why", no.text)
	bound(w)
	if no.status == http.StatusForbidden {
		// Who may not come in is not kept: each request would renew its time.
		w.Header().Set("Connection", "close")
	}
	http.Error(w, no.text, no.status)
}

// errChanged: the browser was replaced while it was being asked.
var errChanged = errors.New("the browser was replaced meanwhile")

// withBrowser calls try with the current browser, for r. When there is none, or try
// fails, it waits for the source to change its answer and tries again, until
// the hold is over, or it is clear that none comes. A failed try means a browser
// that is dead already, or that is not the one that was named, of which the source
// will say so soon; or one that was stopped or busy for a while, of which nobody
// tells that it goes on. So the same browser is asked again now and then, unless
// once is all that try may be called with it. A web browser's request is not held,
// and no browser is launched for it: any page could cause it.
func (p *Proxy) withBrowser(r *http.Request, once bool, try func(context.Context, *Browser) error) *refusal {
	ctx, wait := r.Context(), max(p.opts.HoldTimeout, 0)
	told := p.opts.Wanted == nil
	if byWebBrowser(r) && !isUpgrade(r) {
		wait, told = 0, true
	}
	hold, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	var failed <-chan struct{}
	var last *Browser // that did not answer
	var err error     // of last
	pauses := backoff.Backoff{First: 250 * time.Millisecond, Max: 2 * time.Second}
	for {
		b, changed := p.source.Browser()
		if b == nil && !told {
			told = true
			failed = p.opts.Wanted()
		}
		switch {
		case b == nil:
			last, err = nil, nil
		case !once && last != nil && b.Generation == last.Generation:
			// Another try takes no longer than the hold, and if that ends it, it
			// says nothing new.
			tried := p.tryBrowser(hold, b, try)
			if tried == nil {
				return nil
			}
			if hold.Err() == nil {
				err = tried
			}
		default:
			if err = p.tryBrowser(ctx, b, try); err == nil {
				return nil
			}
			last = b
			pauses.Reset()
			p.log.Debug("browser did not answer", "browser", b.Name, "error", err)
		}
		select {
		case <-changed:
			continue
		default:
		}
		var again <-chan time.Time
		if b != nil && !once {
			again = time.After(pauses.Next())
		}
		inVain := failed
		if b != nil {
			inVain = nil // another than was launched, about to answer
		}
		select {
		case <-changed:
		case <-again:
		case <-inVain:
			if now, _ := p.source.Browser(); now == nil {
				return p.noBrowser(nil, nil, 0)
			}
		case <-hold.Done():
			return p.noBrowser(b, err, wait)
		case <-p.done:
			return &refusal{http.StatusServiceUnavailable, "the coordinator that serves this endpoint is shutting down; connect again"}
		}
	}
}

// tryBrowser calls try under a context that ends when b is replaced or the
// proxy ends.
func (p *Proxy) tryBrowser(ctx context.Context, b *Browser, try func(context.Context, *Browser) error) error {
	ctx, cancel := context.WithCancel(ctx)
	watched := make(chan struct{})
	go p.watch(ctx, cancel, b, watched)
	err := try(ctx, b)
	cancel()
	<-watched
	return err
}

// acquire waits for the browser to have time for one more exchange.
func (p *Proxy) acquire(ctx context.Context) error {
	select {
	case p.slots <- struct{}{}:
		return nil
	default:
	}
	timer := time.NewTimer(exchangeTimeout)
	defer timer.Stop()
	select {
	case p.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return errChanged
	case <-timer.C:
		return errors.New("it is busy with other clients")
	}
}

func (p *Proxy) release() { <-p.slots }

// watch cancels when b is no longer the current browser. A source may change
// its answer and still mean the same one.
func (p *Proxy) watch(ctx context.Context, cancel context.CancelFunc, b *Browser, watched chan<- struct{}) {
	defer close(watched)
	defer cancel()
	for {
		now, changed := p.source.Browser()
		if now == nil || now.Generation != b.Generation {
			return
		}
		select {
		case <-changed:
		case <-p.done:
			return
		case <-ctx.Done():
			return
		}
	}
}

// noBrowser is the answer when there is nothing to wait for any more.
func (p *Proxy) noBrowser(b *Browser, err error, hold time.Duration) *refusal {
	waited := ""
	if hold > 0 {
		waited = fmt.Sprintf(" (waited %v for one)", hold)
	}
	text := "this window has no browser that can be driven" + waited + "."
	status := http.StatusServiceUnavailable
	if b != nil {
		text = fmt.Sprintf("%s of this window does not answer: %v%s.", b.label(), err, waited)
		status = http.StatusBadGateway
	}
	if help := p.noBrowserHelp(); help != "" {
		text += " " + help
	}
	return &refusal{status, text}
}

func (p *Proxy) noBrowserHelp() string {
	return strings.TrimSpace(p.noBrowserWhy() + " " + p.opts.NoBrowserHelp)
}

func (p *Proxy) noBrowserWhy() string {
	if p.opts.NoBrowserWhy == nil {
		return ""
	}
	return p.opts.NoBrowserWhy()
}

// stillCurrent reports whether the source names b now.
func (p *Proxy) stillCurrent(b *Browser) bool {
	now, _ := p.source.Browser()
	return now != nil && now.Generation == b.Generation
}
