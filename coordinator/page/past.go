package page

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"

	"browser-coordinator/coordinator/cdp"
)

// past is what a document tells of itself when it is attached to after it was
// loaded: the browser replays a console, but not the network.
type past struct {
	State   string // document.readyState
	Origin  float64
	Entries []pastEntry
}

// pastEntry is a Resource Timing entry.
type pastEntry struct {
	Name      string
	Initiator string
	Status    int
	Type      string
	Size      int64
	Start     float64 // milliseconds after past.Origin
	Duration  float64 // milliseconds
}

// pastScript runs in the page's own world, whose prototypes may be patched: the
// state of the document is told in any case.
const pastScript = `(() => {
	const past = { state: document.readyState };
	try {
		past.origin = performance.timeOrigin;
		past.entries = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")].map((e) => ({
			name: e.name, initiator: e.initiatorType, status: e.responseStatus, type: e.contentType,
			size: Math.round(e.transferSize), start: e.startTime, duration: e.duration,
		}));
		return JSON.stringify(past);
	} catch {
		return '{"state":"' + past.state + '"}';
	}
})()`

func (p *Page) readPast(ctx context.Context) (past, error) {
	var reply struct {
		Result struct {
			Value string `json:"value"`
		} `json:"result"`
	}
	var told past
	err := p.session.Call(ctx, "Runtime.evaluate", map[string]any{"expression": pastScript, "returnByValue": true}, &reply)
	if err != nil || reply.Result.Value == "" {
		return told, err
	}
	return told, json.Unmarshal([]byte(reply.Result.Value), &told)
}

// pastTypes are the initiator types of Resource Timing that Chromium's own types
// call otherwise.
var pastTypes = map[string]string{
	"navigation": "document", "img": "image", "link": "stylesheet", "css": "stylesheet", "xmlhttprequest": "xhr",
	"iframe": "document", "frame": "document", "video": "media", "audio": "media", "beacon": "ping",
}

func (t past) requests(session *cdp.Session) []*entry {
	var entries []*entry
	for _, e := range t.Entries {
		if !strings.HasPrefix(e.Name, "http") {
			continue
		}
		r := Request{
			Method: "GET", URL: e.Name, Type: e.Initiator, Status: e.Status, MIMEType: e.Type, Done: e.Duration > 0 || e.Status > 0, Size: e.Size,
			Started:  time.UnixMicro(int64((t.Origin + e.Start) * 1000)),
			Duration: time.Duration(e.Duration * float64(time.Millisecond)),
			Past:     true,
		}
		if kind := pastTypes[r.Type]; kind != "" {
			r.Type = kind
		}
		entries = append(entries, &entry{Request: r, session: session})
	}
	return entries
}

// samePast is how far the two clocks of one request may differ.
const samePast = 500 * time.Millisecond

// prepend puts what was before in front, but for what events have told of too.
// The log is new: nobody has seen its numbers yet.
func (l *requestLog) prepend(before []*entry) {
	before = slices.DeleteFunc(before, func(b *entry) bool {
		return slices.ContainsFunc(l.entries, func(e *entry) bool {
			return e.URL == b.URL && e.Started.Sub(b.Started).Abs() < samePast
		})
	})
	l.entries = append(before, l.entries...)
	if more := len(l.entries) - l.size; more > 0 {
		l.entries = slices.Delete(l.entries, 0, more)
	}
	for i, e := range l.entries {
		e.Seq = int64(i + 1)
	}
	l.seq = int64(len(l.entries))
}

// pastBody reads the body of a request of which there were no events, if the
// document still has it.
func (p *Page) pastBody(ctx context.Context, d RequestDetails) (RequestDetails, error) {
	r, err := protocol.Call(ctx, p.session, cdppage.GetResourceContent, cdppage.GetResourceContentParams{FrameID: p.mainID(), URL: d.URL})
	switch {
	case refused(err):
		d.BodyError = "it was made before this session looked at the page: its headers and body were not seen"
	case err != nil:
		return d, p.explain(err, "reading a request")
	}
	d.ResponseBody = r.Content
	return d, nil
}
