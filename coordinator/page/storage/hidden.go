package storage

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"

	"browser-coordinator/coordinator/cdp"
	"browser-coordinator/coordinator/page/remote"
)

// hiddenPage is an empty page for any origin. It gets its responses from this process, so
// that it sends no request to a server and runs no script of the site.
type hiddenPage struct {
	conn    *cdp.Conn
	log     *slog.Logger
	id      target.ID
	session *cdp.Session
	paused  *cdp.Subscription
}

// openHidden opens a page that is in no tab strip and closes with the connection. If the
// browser cannot hide it, it opens in the background.
func (s *Storage) openHidden(ctx context.Context, in protocol.BrowserContextID) (*hiddenPage, error) {
	params := target.CreateTargetParams{URL: "about:blank", Hidden: new(true), BrowserContextID: in}
	r, err := protocol.Call(ctx, s.opts.Conn, target.CreateTarget, params)
	if cdp.Refused(err) {
		params.Hidden, params.Background = nil, new(true)
		r, err = protocol.Call(ctx, s.opts.Conn, target.CreateTarget, params)
	}
	if err != nil {
		return nil, err
	}
	h := &hiddenPage{conn: s.opts.Conn, log: s.opts.Logger, id: r.TargetID}
	if h.session, err = s.opts.Conn.Attach(ctx, r.TargetID); err != nil {
		h.close()
		return nil, err
	}
	h.paused = h.session.Listen(fetch.RequestPaused.Method)
	for _, command := range []struct {
		method string
		params any
	}{
		{"Network.enable", nil},
		// A service worker would respond instead.
		{network.CommandSetBypassServiceWorker, network.SetBypassServiceWorkerParams{Bypass: true}},
		{fetch.CommandEnable, fetch.EnableParams{}},
	} {
		if err := h.session.Call(ctx, command.method, command.params, nil); err != nil {
			h.close()
			return nil, err
		}
	}
	return h, nil
}

// visit shows an empty document of the origin.
func (h *hiddenPage) visit(ctx context.Context, origin string) error {
	address := origin + "/"
	pending, err := h.session.Start(ctx, cdppage.CommandNavigate, cdppage.NavigateParams{URL: address})
	if err != nil {
		return err
	}
	for {
		var e cdp.Event
		var open bool
		select {
		case e, open = <-h.paused.C():
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if !open {
			return h.paused.Err()
		}
		var request fetch.EventRequestPaused
		if err := e.Decode(&request); err != nil {
			return err
		}
		if request.Request == nil || request.Request.URL != address {
			_, _ = h.session.Start(ctx, fetch.CommandFailRequest, fetch.FailRequestParams{
				RequestID: request.RequestID, ErrorReason: network.ErrorReasonAborted,
			})
			continue
		}
		if err := h.session.Call(ctx, fetch.CommandFulfillRequest, fetch.FulfillRequestParams{
			RequestID: request.RequestID, ResponseCode: 200,
			ResponseHeaders: []*fetch.HeaderEntry{
				{Name: "Content-Type", Value: "text/html"},
			}, Body: []byte("<!doctype html>"),
		}, nil); err != nil {
			return err
		}
		var r cdppage.NavigateResult
		if err := pending.Wait(ctx, &r); err != nil {
			return err
		}
		if r.ErrorText != "" {
			return fmt.Errorf("cannot open %s: %s", address, r.ErrorText)
		}
		return nil
	}
}

// callFunction calls a function in the document.
func (h *hiddenPage) callFunction(ctx context.Context, function string, argument, result any) error {
	encoded, err := json.Marshal(argument)
	if err != nil {
		return err
	}
	r, err := protocol.Call(ctx, h.session, runtime.Evaluate, runtime.EvaluateParams{
		Expression: "(" + function + ")(" + string(encoded) + ")", ReturnByValue: new(true),
	})
	if err != nil {
		return err
	}
	return remote.Decode(runtime.CallFunctionOnResult(r), result)
}

// close closes the page, even after the caller's deadline.
func (h *hiddenPage) close() {
	if h.paused != nil {
		h.paused.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if _, err := protocol.Call(ctx, h.conn, target.CloseTarget, target.CloseTargetParams{TargetID: h.id}); err != nil {
		h.log.Debug("storage: close a hidden page", "err", err)
	}
}
