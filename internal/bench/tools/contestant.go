package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strings"
	"time"

	"browser-coordinator/coordinator/chrome"
	"browser-coordinator/internal/bench/peer"
)

// contestant is a contender with its Chromium.
type contestant struct {
	kind    contender
	browser *chrome.Browser
	server  *peer.Server // nil means raw
	raw     *raw
}

func enter(ctx context.Context, k contender, profile string) (*contestant, error) {
	browser, err := launch(ctx, profile)
	if err != nil {
		return nil, err
	}
	c := &contestant{kind: k, browser: browser}
	if k.command == nil {
		c.raw, err = dialRaw(ctx, browser.URL())
	} else {
		c.server, err = peer.Start(ctx, k.command(httpAddress(browser.URL()), profile))
	}
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// httpAddress is the address for servers that request a browser's version.
func httpAddress(ws string) string {
	u, err := url.Parse(ws)
	if err != nil {
		return ws
	}
	return "http://" + u.Host
}

func (c *contestant) close() error {
	var errs []error
	if c.server != nil {
		errs = append(errs, c.server.Close())
	}
	if c.raw != nil {
		c.raw.conn.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return errors.Join(append(errs, c.browser.Close(ctx))...)
}

func (c *contestant) memory() float64 {
	if c.server == nil {
		return 0
	}
	return c.server.Memory(peer.Resident)
}

// An agent that acts fast meets the page while it is still being drawn, and its calls
// include that time. An agent that waits after each action has already spent that time.
const (
	screenshotAtOnce = "screenshot right after an act"
	screenshotAtRest = "screenshot"
)

// thinking is how long an agent waits before a screenshot of a page at rest.
const thinking = 300 * time.Millisecond

// round runs each action once.
func (c *contestant) round(ctx context.Context, address string, t *table, counted bool) error {
	timed := func(act string, do func() (string, error)) (string, error) {
		start := time.Now()
		text, err := do()
		if err == nil && counted {
			t.add(act+", ms", c.kind.name, milliseconds(time.Since(start)))
			if c.server != nil && t.mark != ownMark && !strings.HasPrefix(act, "screenshot") { // they are as in the other run
				t.add("characters of the answer to "+act, c.kind.name, float64(len([]rune(text))))
			}
		}
		return text, err
	}
	if c.raw != nil {
		return c.raw.round(ctx, address, timed)
	}
	names := c.kind.tools
	call := func(act, tool string, args map[string]any) (string, error) {
		maps.Copy(args, names.always)
		return timed(act, func() (string, error) {
			answer, err := c.server.Call(ctx, tool, args)
			if err == nil && answer.Refused {
				err = fmt.Errorf("%s: %s", tool, answer.Text)
			}
			return answer.Text, err
		})
	}
	args := map[string]any{"url": address}
	maps.Copy(args, names.navigateArgs)
	if _, err := call("navigate", names.navigate, args); err != nil {
		return err
	}
	text, err := call("snapshot", names.snapshot, map[string]any{})
	if err != nil {
		return err
	}
	found := c.kind.button.FindStringSubmatch(text)
	if found == nil {
		return fmt.Errorf("the button is not in the snapshot: %.300s", text)
	}
	if _, err := call("click", names.click, map[string]any{names.clickArg: strings.Join(found[1:], "")}); err != nil {
		return err
	}
	added, err := call("evaluate", names.evaluate, map[string]any{"function": "() => 'added ' + added"})
	if err != nil {
		return err
	}
	if !strings.Contains(added, "added 1") {
		return fmt.Errorf("the click did not arrive: %s", added)
	}
	if _, err := call(screenshotAtOnce, names.screenshot, map[string]any{}); err != nil {
		return err
	}
	time.Sleep(thinking)
	_, err = call(screenshotAtRest, names.screenshot, map[string]any{})
	return err
}
