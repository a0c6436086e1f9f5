package cdpproxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"browser-coordinator/internal/backoff"
)

// limitWrite ends the connection of a client that does not read the response that
// follows. The wait before the response does not count.
func (p *Proxy) limitWrite(w http.ResponseWriter) {
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(p.limits.responseTimeout))
}

// handle answers one HTTP request. It admits the client before it reads the path.
func (p *Proxy) handle(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		http.NewResponseController(w).SetReadDeadline(time.Now().Add(p.limits.bodyTimeout))
	}
	if no := p.checkPage(r); no != nil {
		p.refuse(w, r, no)
		return
	}
	mount, path, no := p.admit(r)
	if no != nil {
		p.refuse(w, r, no)
		return
	}
	relayed := false
	defer func() {
		if !relayed {
			p.served.Add(-1)
		}
	}()
	if p.served.Add(1) > maxClients {
		p.refuse(w, r, &refusal{http.StatusServiceUnavailable, fmt.Sprintf("%d clients use this endpoint, and it "+
			"accepts no more. "+
			"`coordinator status` lists them: end some, and connect again.", maxClients)})
		return
	}
	switch {
	case isUpgrade(r):
		relayed = p.serveWebSocket(w, r, path)
	case path == "/json" || strings.HasPrefix(path, "/json/"):
		p.serveJSON(w, r, mount, path)
	case path == "" || path == "/":
		p.serveStatus(w, r, mount)
	case strings.HasPrefix(path, "/devtools/"):
		p.refuse(w, r, &refusal{http.StatusUpgradeRequired, "this is a WebSocket address: connect with ws://, " +
			"or give your client http://" + ownHost(r) + mount + "/"})
	default:
		p.refuse(w, r, &refusal{http.StatusNotFound, "no such path. This is a CDP endpoint: /json/version, " +
			"/json/list, /json/protocol, " +
			"/json/new, /json/activate/ID, /json/close/ID, /devtools/browser/ID and /devtools/page/ID."})
	}
}

func (p *Proxy) refuse(w http.ResponseWriter, r *http.Request, no *refusal) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, no.text, no.status)
		return
	}
	p.turnAway(conn, r, no)
}

// turnAway refuses a request whose connection was taken from the HTTP server. The
// connection is closed: each request would extend its timeout.
func (p *Proxy) turnAway(conn net.Conn, r *http.Request, no *refusal) {
	defer conn.Close()
	p.opts.Logger.Debug("request refused", "client", r.RemoteAddr, "status", no.status, "why", no.text)
	_ = conn.SetDeadline(time.Now().Add(exchangeTimeout))
	// An error: the client may have gone.
	_, _ = fmt.Fprintf(conn, "HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\nX-Content-Type-Options: "+
		"nosniff\r\n"+
		"Connection: close\r\nContent-Length: "+
		"%d\r\n\r\n%s\n", no.status, reasonPhrase(no.text), len(no.text)+1, no.text)
}

// reasonPhrase is a text in a status line (RFC 9112 section 4). Puppeteer and fetch show
// it, but not the body.
func reasonPhrase(text string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' {
			return ' '
		}
		return c
	}, text)
}

// errChanged: the browser was replaced during the request.
var errChanged = errors.New("the browser was replaced meanwhile")

// withBrowser calls try with the current browser, for r. When there is none, or try
// fails, it waits for another browser and retries, until the hold is over or a
// launch has failed. A [refusal] of try is the result.
//
// A failed try means one of two things. The browser is dead or is not the named
// one, which the source reports soon. Or the browser was stopped or busy, and
// nothing reports when it continues. So the same browser is retried now and then,
// unless once is set. A web browser's request is not held, and no browser is
// launched for it, since any page could cause it.
func (p *Proxy) withBrowser(r *http.Request, once bool, try func(context.Context, *Browser) error) *refusal {
	wait, wanted := max(p.opts.HoldTimeout, 0), p.opts.Demand
	if byWebBrowser(r) && !isUpgrade(r) {
		wait, wanted = 0, nil
	}
	hold, cancel := context.WithTimeout(r.Context(), wait)
	defer cancel()
	var failed failure
	for {
		b, no := p.await(hold, wait, failed, wanted)
		if no != nil {
			return no
		}
		ctx := r.Context()
		if failed.matches(b) {
			ctx = hold // whose end gives no information on the browser
		}
		err := p.tryBrowser(ctx, b, try)
		if err == nil || errors.As(err, &no) {
			return no
		}
		p.opts.Logger.Debug("browser did not answer", "browser", b.Name, "error", err)
		failed.add(b, err, once, hold)
	}
}

// failure is a browser that did not respond.
type failure struct {
	browser *Browser // nil: there was none
	err     error
	pauses  backoff.Backoff
	retry   <-chan time.Time // when it is worth another try; nil: never
}

func (f *failure) matches(b *Browser) bool {
	return b != nil && f.browser != nil && b.Generation == f.browser.Generation
}

func (f *failure) add(b *Browser, err error, once bool, hold context.Context) {
	switch {
	case !f.matches(b):
		*f = failure{browser: b, err: err, pauses: backoff.Backoff{First: 250 * time.Millisecond, Max: 2 * time.Second}}
	case hold.Err() == nil:
		f.err = err
	}
	if !once {
		f.retry = time.After(f.pauses.Next())
	}
}

// await waits for a browser to try: another one than has failed, or that one again when
// it is worth it. The wait ends with hold, which lasts that long, or when no browser will
// come. Nil for demand: none is launched for this request.
func (p *Proxy) await(hold context.Context, lasting time.Duration, failed failure,
	demand func() <-chan struct{}) (*Browser, *refusal) {
	var launchFailed <-chan struct{}
	waiting := false
	for {
		b, changed := p.source.Browser()
		if b != nil && !failed.matches(b) {
			return b, nil
		}
		if b == nil && !waiting {
			waiting, failed = true, failure{}
			p.waiting.Add(1)
			defer p.waiting.Add(-1)
			if demand != nil {
				launchFailed = demand()
			}
		}
		select {
		case <-changed:
		case <-failed.retry:
			return b, nil
		case <-launchFailed:
			if now, _ := p.source.Browser(); now == nil {
				return nil, p.noBrowser(failure{}, 0)
			}
			launchFailed = nil
		case <-hold.Done():
			return nil, p.noBrowser(failed, lasting)
		case <-p.ctx.Done():
			return nil, shuttingDown
		}
	}
}

var shuttingDown = &refusal{http.StatusServiceUnavailable, "the coordinator that serves this endpoint is shutting " +
	"down; connect again"}

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

// acquire waits until the browser can take another exchange.
func (p *Proxy) acquire(ctx context.Context) error {
	select {
	case p.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return errChanged
	case <-time.After(exchangeTimeout):
		return errors.New("it is busy with other clients")
	}
}

func (p *Proxy) release() { <-p.slots }

// watch cancels when b is no longer the current browser. A source may close its
// channel and still name the same one.
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
		case <-p.ctx.Done():
			return
		case <-ctx.Done():
			return
		}
	}
}

// noBrowser is the response when there is nothing left to wait for.
func (p *Proxy) noBrowser(failed failure, hold time.Duration) *refusal {
	elapsed := ""
	if hold > 0 {
		elapsed = fmt.Sprintf(" (waited %v for one)", hold)
	}
	text := "this window has no browser that can be driven" + elapsed + "."
	status := http.StatusServiceUnavailable
	if failed.browser != nil {
		text = fmt.Sprintf("%s of this window does not answer: %v%s.", failed.browser.label(), failed.err, elapsed)
		status = http.StatusBadGateway
	}
	if help := p.opts.NoBrowserHelp(); help != "" {
		text += " " + help
	}
	return &refusal{status, text}
}

// stillCurrent reports whether the source names b now.
func (p *Proxy) stillCurrent(b *Browser) bool {
	now, _ := p.source.Browser()
	return now != nil && now.Generation == b.Generation
}
