package history

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"

	"browser-coordinator/coordinator/cdp"
)

// Reread opens another session with the target of one, and runs load in it: commands for which the
// browser requests the document's style sheets and manifest again, CSS.enable and
// Page.getResourceContent. The server gets none of these requests. They get the response that the
// page has had, if the browser still has that, and otherwise the style sheet as the browser writes it:
// the browser loads them once for each document, also for the user's DevTools. The caller detaches the
// session.
func (n *Network) Reread(
	ctx context.Context, of *cdp.Session, load func(*cdp.Session) error,
) (s *cdp.Session, detach func(), err error) {
	n.history.mu.Lock()
	n.log.reread = n.history.document + 1
	n.history.mu.Unlock()
	is, err := protocol.Call(ctx, of, target.GetTargetInfo, target.GetTargetInfoParams{})
	if err != nil {
		return nil, nil, err
	}
	if s, err = n.opts.Conn.Attach(ctx, is.TargetInfo.TargetID); err != nil {
		return nil, nil, err
	}
	written, err := writtenSheets(ctx, s, protocol.FrameID(is.TargetInfo.TargetID))
	if err != nil {
		return nil, nil, err
	}
	detach = func() {
		_, _ = n.opts.Conn.Start(context.WithoutCancel(ctx), target.CommandDetachFromTarget,
			target.DetachFromTargetParams{SessionID: s.ID()})
	}
	paused := s.Listen(fetch.RequestPaused.Method)
	var answering sync.WaitGroup
	answering.Go(func() {
		for e := range paused.C() {
			if err := n.answerReread(ctx, s, e, written); err != nil {
				n.opts.Logger.Debug("history: a request of the browser itself is not answered", "err", err)
			}
		}
	})
	if err = s.Call(ctx, fetch.CommandEnable, fetch.EnableParams{}, nil); err == nil {
		err = load(s)
	}
	if err == nil {
		err = s.Call(ctx, fetch.CommandDisable, nil, nil) // what is paused goes on
	} else {
		detach()
	}
	paused.Close()
	answering.Wait()
	return s, detach, err
}

// answerReread decides about a request. Those of the page have an id in the Network domain.
func (n *Network) answerReread(
	ctx context.Context, s *cdp.Session, event cdp.Event, written map[string]string,
) error {
	var e fetch.EventRequestPaused
	if err := event.Decode(&e); err != nil {
		return err
	}
	method, params := fetch.CommandContinueRequest, any(fetch.ContinueRequestParams{RequestID: e.RequestID})
	page, _, _ := strings.Cut(n.opts.Frames.PageURL(), "#")
	if e.NetworkID == "" && e.Request.URL != page { // which comes from the cache alone
		text, isSheet := written[e.Request.URL]
		had, err := n.Load(ctx, e.Request.URL)
		if had.Kept && err == nil {
			method, params = fetch.CommandFulfillRequest, fetch.FulfillRequestParams{
				RequestID: e.RequestID, ResponseCode: http.StatusOK, ResponseHeaders: decoded(had.Headers), Body: had.Body,
			}
		} else if isSheet {
			method, params = fetch.CommandFulfillRequest, fetch.FulfillRequestParams{
				RequestID: e.RequestID, ResponseCode: http.StatusOK, Body: []byte(WrittenMark + text),
				ResponseHeaders: []*fetch.HeaderEntry{{Name: "Content-Type", Value: "text/css; charset=utf-8"}},
			}
		} else {
			method, params = fetch.CommandFailRequest, fetch.FailRequestParams{
				RequestID: e.RequestID, ErrorReason: network.ErrorReasonAborted,
			}
		}
	}
	_, err := s.Start(ctx, method, params)
	return err
}

// writtenSheets are the style sheets of the documents of a target as the browser writes them, by their
// addresses. Those of another site cannot be read.
func writtenSheets(ctx context.Context, s *cdp.Session, frame protocol.FrameID) (map[string]string, error) {
	world, err := protocol.Call(ctx, s, cdppage.CreateIsolatedWorld, cdppage.CreateIsolatedWorldParams{
		FrameID: frame, WorldName: "browser-coordinator-sheets",
	})
	if err != nil {
		return nil, err
	}
	r, err := protocol.Call(ctx, s, runtime.Evaluate, runtime.EvaluateParams{
		Expression: sheetsScript, ContextID: world.ExecutionContextID, ReturnByValue: new(true),
	})
	if err != nil {
		return nil, err
	}
	var written map[string]string
	return written, json.Unmarshal(r.Result.Value, &written)
}

// sheetsScript reads the documents by their prototype: images shadow properties of a document by their names.
const sheetsScript = `(() => {
	const written = {}, { get: sheets } = Object.getOwnPropertyDescriptor(Document.prototype, "styleSheets");
	const find = Document.prototype.querySelectorAll;
	const read = sheet => {
		try {
			const rules = [...sheet.cssRules];
			if (sheet.href) written[sheet.href.split("#")[0]] = rules.map(rule => rule.cssText).join("\n");
			for (const rule of rules) if (rule.styleSheet) read(rule.styleSheet);
		} catch {} // of another site
	};
	const walk = of => {
		for (const sheet of sheets.call(of)) read(sheet);
		for (const frame of find.call(of, "iframe, frame")) if (frame.contentDocument) walk(frame.contentDocument);
	};
	walk(document);
	return written;
})()`

// WrittenMark begins a style sheet that the browser has only as it writes it: places in it are not
// those of its file.
const WrittenMark = "/* as the browser writes it */\n"

// decoded are the headers of a response without those of how its body was sent.
func decoded(headers map[string]string) (entries []*fetch.HeaderEntry) {
	for name, value := range headers {
		if !slices.Contains(ofTransfer, strings.ToLower(name)) {
			entries = append(entries, &fetch.HeaderEntry{Name: name, Value: value})
		}
	}
	return entries
}

var ofTransfer = []string{"content-encoding", "content-length", "transfer-encoding"}

// ResourceContent reads the page's content of a resource.
func (n *Network) ResourceContent(ctx context.Context, address string) (content []byte, err error) {
	_, detach, err := n.Reread(ctx, n.opts.Session, func(s *cdp.Session) error {
		if err := s.Call(ctx, cdppage.CommandEnable, nil, nil); err != nil {
			return err
		}
		r, err := protocol.Call(ctx, s, cdppage.GetResourceContent, cdppage.GetResourceContentParams{
			FrameID: n.opts.Frames.Main(), URL: address,
		})
		content = r.Content
		return err
	})
	if err == nil {
		detach()
	}
	return content, err
}
