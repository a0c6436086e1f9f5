package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	protocol "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"

	"browser-coordinator/coordinator/cdp"
)

// raw runs the actions with the CDP commands alone, without checks, waits or
// explanations.
type raw struct {
	conn    *cdp.Conn
	session *cdp.Session
}

func dialRaw(ctx context.Context, url string) (*raw, error) {
	conn, err := cdp.Dial(ctx, url, nil)
	if err != nil {
		return nil, err
	}
	targets, err := protocol.Call(ctx, conn, target.GetTargets, target.GetTargetsParams{})
	if err != nil {
		return nil, err
	}
	for _, t := range targets.TargetInfos {
		if t.Type != "page" {
			continue
		}
		session, err := conn.Attach(ctx, t.TargetID)
		if err != nil {
			return nil, err
		}
		return &raw{conn, session}, session.Call(ctx, "Page.enable", nil, nil)
	}
	return nil, fmt.Errorf("the browser has no page")
}

func (r *raw) round(ctx context.Context, url string, timed func(string, func() (string, error)) (string, error)) error {
	if _, err := timed("navigate", func() (string, error) { return "", r.navigate(ctx, url) }); err != nil {
		return err
	}
	place, err := r.evaluate(ctx, `(() => {
		const b = document.querySelectorAll("button")[200];
		b.scrollIntoView({ block: "center" });
		const r = b.getBoundingClientRect();
		return [r.x + r.width / 2, r.y + r.height / 2].join(" ");
	})()`)
	if err != nil {
		return err
	}
	var x, y float64
	if _, err := fmt.Sscan(place, &x, &y); err != nil {
		return err
	}
	if _, err := timed("click", func() (string, error) { return "", r.click(ctx, x, y) }); err != nil {
		return err
	}
	added, err := timed("evaluate", func() (string, error) { return r.evaluate(ctx, "'added ' + added") })
	if err != nil {
		return err
	}
	if !strings.Contains(added, "added 1") {
		return fmt.Errorf("the click did not arrive: %s", added)
	}
	screenshot := func() (string, error) {
		_, err := protocol.Call(ctx, r.session, page.CaptureScreenshot, page.CaptureScreenshotParams{
			Format: page.CaptureScreenshotFormatPng, OptimizeForSpeed: new(true),
		})
		return "", err
	}
	if _, err := timed(screenshotAtOnce, screenshot); err != nil {
		return err
	}
	time.Sleep(thinking)
	_, err = timed(screenshotAtRest, screenshot)
	return err
}

func (r *raw) navigate(ctx context.Context, url string) error {
	loaded := r.session.Listen("Page.loadEventFired")
	defer loaded.Close()
	if err := r.session.Call(ctx, page.CommandNavigate, page.NavigateParams{URL: url}, nil); err != nil {
		return err
	}
	select {
	case <-loaded.C():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *raw) click(ctx context.Context, x, y float64) error {
	for _, e := range []input.DispatchMouseEventParams{
		{Type: input.DispatchMouseEventTypeMouseMoved},
		{Type: input.DispatchMouseEventTypeMousePressed, Button: input.MouseButtonLeft, Buttons: 1, ClickCount: 1},
		{Type: input.DispatchMouseEventTypeMouseReleased, Button: input.MouseButtonLeft, ClickCount: 1},
	} {
		e.X, e.Y = x, y
		if err := r.session.Call(ctx, input.CommandDispatchMouseEvent, e, nil); err != nil {
			return err
		}
	}
	return nil
}

func (r *raw) evaluate(ctx context.Context, expression string) (string, error) {
	var reply struct {
		Result struct {
			Value string `json:"value"`
		} `json:"result"`
	}
	err := r.session.Call(ctx, "Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &reply)
	return reply.Result.Value, err
}
